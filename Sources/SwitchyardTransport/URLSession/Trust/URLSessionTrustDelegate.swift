#if canImport(Darwin)
    package import Foundation
    import Security
    package import SwitchyardHTTP
    import SwitchyardServices

    /// Answers the challenges of a session that does nothing else by a delegate.
    package final class URLSessionTrustDelegate: NSObject, URLSessionTaskDelegate {
        private let trust: URLSessionTrust
        private let refusal = Locked(false)

        package init(_ trust: URLSessionTrust) {
            self.trust = trust
        }

        /// Whether a certificate was refused; the end of the task says only that it was cancelled.
        package var hasRefused: Bool { refusal.withLock { $0 } }

        package func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let (disposition, credential) = trust.answer(challenge)
            if disposition == .cancelAuthenticationChallenge { refusal.withLock { $0 = true } }
            completionHandler(disposition, credential)
        }
    }

    extension TransportError {
        /// What has become of a task whose server is not trusted.
        package static let untrustedServer = TransportError(
            .certificateRejected,
            message: "the certificate was refused",
            mayHaveBeenSent: false
        )
    }

    extension URLSessionConfiguration {
        /// Keeps to the versions of TLS that a configuration names.
        package func keep(to tls: TLSConfiguration) {
            tlsMinimumSupportedProtocolVersion = tls.minimumVersion == .tls13 ? .TLSv13 : .TLSv12
            if tls.maximumVersion == .tls12 { tlsMaximumSupportedProtocolVersion = .TLSv12 }
        }
    }
#endif
