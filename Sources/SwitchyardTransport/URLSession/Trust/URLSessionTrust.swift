package import SwitchyardHTTP

#if canImport(Darwin)
    package import Foundation
    import Security
#else
    import Foundation
#endif

/// Decides whom a session trusts.
package struct URLSessionTrust: Sendable {
    #if canImport(Darwin)
        private let anchors: [Data]?
        private let pins: Set<TLSPin>

        /// - Throws: ``TransportError`` for what `URLSession` cannot do.
        package init(_ tls: TLSConfiguration) throws(TransportError) {
            guard tls.revocation == .system else { throw Self.unsupported("revocation other than the system's") }
            guard tls.clientIdentity == nil else { throw Self.unsupported("a client certificate from PEM") }
            guard tls.maximumVersion.map({ $0 >= tls.minimumVersion }) ?? true else {
                throw Self.unsupported("a newest TLS version older than the oldest")
            }
            pins = tls.pins
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
        }

        /// Answers a challenge: the server's certificate by our rules, all else with nothing.
        package func answer(
            _ challenge: URLAuthenticationChallenge
        ) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust,
                let trust = challenge.protectionSpace.serverTrust
            else { return (.performDefaultHandling, nil) }
            guard anchors != nil || !pins.isEmpty else { return (.performDefaultHandling, nil) }
            return accepts(trust)
                ? (.useCredential, URLCredential(trust: trust)) : (.cancelAuthenticationChallenge, nil)
        }

        private func accepts(_ trust: SecTrust) -> Bool {
            if let anchors {
                let certificates = anchors.compactMap { SecCertificateCreateWithData(nil, $0 as CFData) }
                SecTrustSetAnchorCertificates(trust, certificates as CFArray)
                SecTrustSetAnchorCertificatesOnly(trust, true)
            }
            guard SecTrustEvaluateWithError(trust, nil) else { return false }
            guard !pins.isEmpty else { return true }
            // The chain that was found trusted, not what the server has sent.
            let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
            return chain.contains { pins.accept(certificate: SecCertificateCopyData($0) as Data) }
        }
    #else
        /// - Throws: ``TransportError`` for all but the defaults, since `URLSession` on Linux has no say in trust.
        package init(_ tls: TLSConfiguration) throws(TransportError) {
            guard tls == TLSConfiguration() else { throw Self.unsupported("trust settings for URLSession on Linux") }
        }
    #endif

    private static func unsupported(_ what: String) -> TransportError {
        TransportError(.unsupported, message: "not available: \(what)", mayHaveBeenSent: false)
    }
}
