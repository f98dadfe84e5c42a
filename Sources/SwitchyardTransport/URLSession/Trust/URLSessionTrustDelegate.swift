#if canImport(Darwin)
    package import Foundation
    import Security
    package import SwitchyardHTTP
    import SwitchyardServices

    /// Answers the challenges of a session that does nothing else by a delegate, and follows no redirect.
    package final class URLSessionTrustDelegate: NSObject, URLSessionTaskDelegate {
        private let trust: URLSessionTrust
        private let why = Locked<TransportError?>(nil)

        package init(_ trust: URLSessionTrust) {
            self.trust = trust
        }

        /// Why this object has ended the task, of which `URLSession` tells something else; `nil` when it has not.
        package var refusal: TransportError? { why.withLock { $0 } }

        package func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            trust.answer(challenge) { disposition, credential in
                if disposition == .cancelAuthenticationChallenge { self.why.withLock { $0 = .untrustedServer } }
                completionHandler(disposition, credential)
            }
        }

        /// Only the URL that was asked for has been looked at, and the next one may be unencrypted.
        package func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            let message = "the server redirects with \(response.statusCode), which is not followed here"
            why.withLock { $0 = TransportError(.protocolViolation, message: message) }
            completionHandler(nil)
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
