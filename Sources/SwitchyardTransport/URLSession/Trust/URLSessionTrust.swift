package import SwitchyardHTTP

#if canImport(Darwin)
    package import Foundation
    import Security
#else
    import Foundation
#endif

/// The trust settings of a session.
package struct URLSessionTrust: Sendable {
    #if canImport(Darwin)
        private let anchors: [Data]?
        private let pins: Set<TLSPin>
        /// The client's certificate and key, or `nil` if the client has no certificate.
        private let identity: URLCredential?

        /// - Throws: ``TransportError`` if `URLSession` does not support the configuration.
        package init(_ tls: TLSConfiguration) throws(TransportError) {
            guard tls.revocation == .system else {
                throw Self.unsupported("a revocation check other than that of the system")
            }
            guard tls.maximumVersion.map({ $0 >= tls.minimumVersion }) ?? true else {
                throw Self.unsupported("a maximum TLS version below the minimum TLS version")
            }
            pins = tls.pins
            if let own = tls.clientIdentity {
                identity = try URLSessionIdentity.credential(of: own)
            } else {
                identity = nil
            }
            switch tls.trustRoots {
            case .system: anchors = nil
            case .pem(let pem): anchors = PEM.certificates(in: pem)
            case .file(let url):
                guard let pem = try? Data(contentsOf: url) else {
                    throw TransportError(.closed, message: "\(url.path) cannot be read", mayHaveBeenSent: false)
                }
                anchors = PEM.certificates(in: pem)
            }
            guard anchors?.isEmpty != true else { throw Self.unsupported("trust roots without a certificate") }
            if let anchors, Self.certificates(anchors) == nil {
                throw Self.unsupported("a trust root that is not a certificate")
            }
        }

        /// The queue on which certificates are evaluated concurrently, because an evaluation may use the network.
        private static let queue = DispatchQueue(label: "switchyard.trust", attributes: .concurrent)

        /// Responds to a challenge.
        ///
        /// The server's certificate is evaluated with the trust settings. If the server requests a client certificate,
        /// the server gets the client's identity. All other challenges get default handling.
        ///
        /// An evaluation may load missing certificates of a chain from the network, and blocks its thread in the
        /// meantime (Apple, `SecTrustEvaluateWithError`). Therefore, an evaluation does not run on the delegate's
        /// queue, where it would block all exchanges of a session.
        ///
        /// - Parameters:
        ///   - challenge: The challenge.
        ///   - completion: A closure that is called once with the result, on the caller's thread or on the queue for
        ///     evaluations.
        package func answer(
            _ challenge: URLAuthenticationChallenge,
            _ completion: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let isOurs = anchors != nil || !pins.isEmpty
            let method = challenge.protectionSpace.authenticationMethod
            if method == NSURLAuthenticationMethodClientCertificate, challenge.previousFailureCount == 0, let identity {
                return completion(.useCredential, identity)
            }
            guard isOurs, method == NSURLAuthenticationMethodServerTrust else {
                return completion(.performDefaultHandling, nil)
            }
            Self.queue.async {
                guard let trust = challenge.protectionSpace.serverTrust, accepts(trust) else {
                    return completion(.cancelAuthenticationChallenge, nil)
                }
                completion(.useCredential, URLCredential(trust: trust))
            }
        }

        /// Creates certificates from DER data, or returns `nil` if a certificate is invalid.
        private static func certificates(_ anchors: [Data]) -> [SecCertificate]? {
            let certificates = anchors.compactMap { SecCertificateCreateWithData(nil, $0 as CFData) }
            return certificates.count == anchors.count ? certificates : nil
        }

        private func accepts(_ trust: SecTrust) -> Bool {
            if let anchors {
                // If setting the configured roots failed, the evaluation would use the system's roots, so it must not
                // run.
                let success: OSStatus = 0
                guard let certificates = Self.certificates(anchors),
                    SecTrustSetAnchorCertificates(trust, certificates as CFArray) == success,
                    SecTrustSetAnchorCertificatesOnly(trust, true) == success
                else { return false }
            }
            guard SecTrustEvaluateWithError(trust, nil) else { return false }
            guard !pins.isEmpty else { return true }
            // The verified chain may differ from the certificates that the server has sent.
            let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
            return chain.contains { pins.accept(certificate: SecCertificateCopyData($0) as Data) }
        }
    #else
        /// - Throws: ``TransportError`` for all settings except the defaults, because `URLSession` on Linux has no
        ///   trust settings.
        package init(_ tls: TLSConfiguration) throws(TransportError) {
            guard tls == TLSConfiguration() else {
                throw Self.unsupported("trust settings for URLSession on Linux: use CurlTransport")
            }
        }
    #endif

    private static func unsupported(_ what: String) -> TransportError {
        TransportError(.unsupported, message: "not supported: \(what)", mayHaveBeenSent: false)
    }
}
