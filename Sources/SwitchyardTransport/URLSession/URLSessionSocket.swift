#if canImport(Darwin)
    package import Foundation
    package import SwitchyardHTTP
    import SwitchyardServices

    /// The opening request of a WebSocket, converted for `URLSession`.
    struct URLSessionSocketForm: Sendable {
        let head: URLRequest
        /// The timeout of the opening handshake, or `nil` for no limit.
        let limit: Duration?

        private static let ownFields = [
            "Connection", "Upgrade", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Extensions",
        ]

        /// - Throws: ``TransportError`` if the request cannot be sent.
        init(_ request: HTTPRequest) throws(TransportError) {
            var head = try URLSessionRequest(request).head
            guard let url = head.url, var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) else {
                throw TransportError(.invalidRequest, message: "the URL is malformed", mayHaveBeenSent: false)
            }
            parts.scheme = parts.scheme == "https" ? "wss" : "ws"
            head.url = parts.url
            // The system sets these fields itself.
            for name in Self.ownFields { head.setValue(nil, forHTTPHeaderField: name) }
            self.head = head
            let timeouts = request.timeouts
            limit = [timeouts.connect, timeouts.idle, timeouts.total].compactMap(\.self).min()
        }
    }

    /// A WebSocket connection over `URLSession`, with a session of its own.
    ///
    /// Its body stream has no bytes and ends when the connection ends. Messages go through ``task``.
    package final class URLSessionSocket: NSObject, OpenedConnection, TransportTask {
        private typealias End = Result<Data?, TransportError>

        private struct State {
            var completion: (@Sendable (Result<HTTPResponse, TransportError>) -> Void)?
            var forget: (@Sendable (ObjectIdentifier) -> Void)?
            var timer: (any ScheduledTimer)?
            /// The reason why this object has ended the task.
            ///
            /// `URLSession` reports another error.
            var refusal: TransportError?
            var end: End?
            var reader: CheckedContinuation<End, Never>?
        }

        private let state = Locked(State())
        private let session: Locked<URLSession?>
        private let trust: URLSessionTrust
        private let limit: Duration?
        private let slot = Locked<URLSessionWebSocketTask?>(nil)

        /// The task, or `nil` before ``start(forgetting:)``.
        package var task: URLSessionWebSocketTask? { slot.withLock { $0 } }

        init(
            _ form: URLSessionSocketForm,
            settings: URLSessionConfiguration,
            _ trust: URLSessionTrust,
            _ completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
        ) {
            self.trust = trust
            limit = form.limit
            session = Locked(nil)
            super.init()
            state.withLock { $0.completion = completion }
            let session = URLSession(configuration: settings, delegate: self, delegateQueue: nil)
            self.session.withLock { $0 = session }
            let task = session.webSocketTask(with: form.head)
            slot.withLock { $0 = task }
        }

        /// Starts the opening handshake.
        ///
        /// - Parameter forget: A closure that is called with the identity of this object when the connection has ended.
        func start(forgetting forget: @escaping @Sendable (ObjectIdentifier) -> Void) {
            let time = SystemTime.shared
            let timer = limit.map { limit in
                time.schedule(at: time.now.advanced(by: limit)) { [weak self] in self?.refuse(.openingTimedOut) }
            }
            state.withLock { state in
                state.forget = forget
                state.timer = timer
            }
            task?.resume()
        }

        package func cancel() {
            refuse(.openingCancelled)
        }

        /// Ends the connection with an error that Switchyard has detected.
        private func refuse(_ error: TransportError) {
            state.withLock { if $0.refusal == nil { $0.refusal = error } }
            task?.cancel()
        }

        /// Calls the completion with the response.
        ///
        /// Only the first call has an effect.
        private func complete(_ result: Result<HTTPResponse, TransportError>) {
            let (completion, timer) = state.withLock { state in
                defer {
                    state.completion = nil
                    state.timer = nil
                }
                return (state.completion, state.timer)
            }
            timer?.cancel()
            completion?(result)
        }

        /// Returns the error that ended the connection.
        package func failure(_ error: any Error) -> TransportError {
            state.withLock { $0.refusal } ?? URLSessionFailure(error, hasHead: true).error
        }

        private func finish(_ end: End) {
            let (reader, forget) = state.withLock { state in
                if state.end == nil { state.end = end }
                defer {
                    state.reader = nil
                    state.forget = nil
                }
                return (state.reader, state.forget)
            }
            reader?.resume(returning: end)
            forget?(ObjectIdentifier(self))
            session.withLock { session in
                defer { session = nil }
                return session
            }?.finishTasksAndInvalidate()
        }

        /// The body of the response, which has no bytes and ends with the connection.
        private var stream: HTTPBodyStream {
            HTTPBodyStream(connection: self, cancel: { [self] in cancel() }) { () async throws(TransportError) in
                try await self.waitForEnd()
            }
        }

        private func waitForEnd() async throws(TransportError) -> Data? {
            let end = await withTaskCancellationHandler {
                await withCheckedContinuation { (reader: CheckedContinuation<End, Never>) in
                    let end: End? = state.withLock { state in
                        if state.end == nil { state.reader = reader }
                        return state.end
                    }
                    if let end { reader.resume(returning: end) }
                }
            } onCancel: {
                cancel()
            }
            return try end.get()
        }
    }

    extension URLSessionSocket: URLSessionWebSocketDelegate {
        package func urlSession(
            _ session: URLSession,
            webSocketTask: URLSessionWebSocketTask,
            didOpenWithProtocol protocol: String?
        ) {
            var response = HTTPResponse(status: 101)
            if let head = webSocketTask.response as? HTTPURLResponse { response = HTTPResponse(head) }
            if let name = `protocol`, response.headers["Sec-WebSocket-Protocol"] == nil {
                response.headers.set("Sec-WebSocket-Protocol", name)
            }
            response.status = 101
            response.body = .stream(stream)
            complete(.success(response))
        }

        package func urlSession(
            _ session: URLSession,
            webSocketTask: URLSessionWebSocketTask,
            didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
            reason: Data?
        ) {
            finish(.success(nil))
        }

        package func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            complete(.success(HTTPResponse(response)))
            completionHandler(nil)
        }

        package func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            trust.answer(challenge) { disposition, credential in
                if disposition == .cancelAuthenticationChallenge {
                    self.state.withLock { $0.refusal = .untrustedServer }
                }
                completionHandler(disposition, credential)
            }
        }

        package func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didCompleteWithError error: (any Error)?
        ) {
            let refusal = state.withLock { $0.refusal }
            if let response = task.response as? HTTPURLResponse, response.statusCode != 101, refusal == nil {
                complete(.success(HTTPResponse(response)))
            }
            let failure = refusal ?? error.map { URLSessionFailure($0, hasHead: false).error }
            complete(.failure(failure ?? .endedWhileOpening))
            finish(failure.map { .failure($0) } ?? .success(nil))
        }
    }

    extension TransportError {
        fileprivate static let openingTimedOut = TransportError(
            .timeout,
            message: "the opening handshake took longer than its timeout"
        )
        fileprivate static let openingCancelled = TransportError(.cancelled, message: "cancelled")
        fileprivate static let endedWhileOpening = TransportError(
            .connectionReset,
            message: "the connection ended during the opening handshake"
        )
    }
#endif
