#if canImport(Darwin)
    package import Foundation
    import Security
    package import SwitchyardHTTP
    import SwitchyardServices

    /// A delegate for sessions that need no other delegate methods.
    ///
    /// The delegate responds to challenges and refuses redirects.
    package final class URLSessionTrustDelegate: NSObject, URLSessionTaskDelegate {
        private let trust: URLSessionTrust
        private let why = Locked<TransportError?>(nil)

        package init(_ trust: URLSessionTrust) {
            self.trust = trust
        }

        /// The reason why this delegate has ended the task, or `nil` if it has not ended the task.
        ///
        /// `URLSession` reports another error.
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

        /// Refuses every redirect.
        ///
        /// Only the original URL has been checked, and the target may be unencrypted.
        package func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            let message = "the server responded with the redirect \(response.statusCode), which is not followed"
            why.withLock { $0 = TransportError(.protocolViolation, message: message) }
            completionHandler(nil)
        }
    }

    extension TransportError {
        /// The error of a task whose server is not trusted.
        package static let untrustedServer = TransportError(
            .certificateRejected,
            message: "the certificate was refused",
            mayHaveBeenSent: false
        )
    }

    extension URLSessionConfiguration {
        /// Limits the TLS versions to the versions of a configuration.
        package func keep(to tls: TLSConfiguration) {
            tlsMinimumSupportedProtocolVersion = tls.minimumVersion == .tls13 ? .TLSv13 : .TLSv12
            if tls.maximumVersion == .tls12 { tlsMaximumSupportedProtocolVersion = .TLSv12 }
        }
    }
#endif
