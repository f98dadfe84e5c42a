#if canImport(Darwin)
    import Foundation
    import Security
    import SwitchyardHTTP

    /// The client's certificate and private key as `URLSession` needs them.
    enum URLSessionIdentity {
        /// Returns the credential with which a session responds to a request for a client certificate.
        ///
        /// - Throws: ``TransportError`` with `unsupported` for an identity in PEM, and with `closed` if the identity
        ///   cannot be read.
        static func credential(
            of identity: TLSConfiguration.ClientIdentity
        ) throws(TransportError) -> URLCredential {
            switch identity.form {
            case .pem:
                let message = "not supported: a client certificate from PEM (must be PKCS 12 data or in the keychain)"
                throw TransportError(.unsupported, message: message, mayHaveBeenSent: false)
            case .pkcs12(let data): return try credential(ofPKCS12: data, password: identity.password ?? "")
            case .keychain(let label): return try credential(labelled: label)
            }
        }

        private static func credential(ofPKCS12 data: Data, password: String) throws(TransportError) -> URLCredential {
            var options: [String: Any] = [kSecImportExportPassphrase as String: password]
            // Without this option, macOS adds the identity to the user's default keychain.
            if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
                options[kSecImportToMemoryOnly as String] = true
            }
            var items: CFArray?
            let status = SecPKCS12Import(data as CFData, options as CFDictionary, &items)
            guard status == errSecSuccess else { throw unreadable("the PKCS 12 data", status) }
            let first = (items as? [[String: Any]])?.first ?? [:]
            guard let identity = first[kSecImportItemIdentity as String] else {
                throw unreadable("the PKCS 12 data", errSecItemNotFound)
            }
            // The first certificate of the chain is the identity's own certificate.
            let chain = first[kSecImportItemCertChain as String] as? [SecCertificate] ?? []
            return try credential(identity, Array(chain.dropFirst()))
        }

        private static func credential(labelled label: String) throws(TransportError) -> URLCredential {
            let query: [String: Any] = [
                kSecClass as String: kSecClassIdentity,
                kSecAttrLabel as String: label,
                kSecReturnRef as String: true,
            ]
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            guard status == errSecSuccess, let found else { throw unreadable("\(label) in the keychain", status) }
            return try credential(found, [])
        }

        private static func credential(
            _ item: Any,
            _ chain: [SecCertificate]
        ) throws(TransportError) -> URLCredential {
            // An identity is a Core Foundation type, to which Swift has no conditional cast.
            guard CFGetTypeID(item as CFTypeRef) == SecIdentityGetTypeID(),
                let identity = ([item] as? [SecIdentity])?.first
            else { throw unreadable("the item", errSecItemNotFound) }
            return URLCredential(identity: identity, certificates: chain, persistence: .forSession)
        }

        private static func unreadable(_ what: String, _ status: OSStatus) -> TransportError {
            let reason = SecCopyErrorMessageString(status, nil) as String? ?? "status \(status)"
            let message = "\(what) cannot be used as the client's identity: \(reason)"
            return TransportError(.closed, message: message, code: Int(status), mayHaveBeenSent: false)
        }
    }
#endif
