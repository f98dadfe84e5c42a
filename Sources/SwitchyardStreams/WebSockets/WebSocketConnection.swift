#if canImport(Darwin)
    import Foundation
    import SwitchyardHTTP
    import SwitchyardServices
    import SwitchyardTransport

    /// The connection of a ``WebSocket``.
    final class WebSocketConnection: Sendable {
        private let session: URLSession
        private let task: URLSessionWebSocketTask
        private let trust: URLSessionTrustDelegate
        private let inbox: MessageInbox<WebSocket.Message>
        private let pings: Task<Void, Never>?

        init(_ request: HTTPRequest, _ options: WebSocket.Options) throws(TransportError) {
            try options.tls.check(request.url)
            let trust = URLSessionTrustDelegate(try URLSessionTrust(options.tls))
            let settings = URLSessionConfiguration.ephemeral
            settings.keepNothing()
            settings.timeoutIntervalForRequest = URLSessionRequest.patience
            settings.keep(to: options.tls)
            let head = try Self.head(of: request)
            session = URLSession(configuration: settings, delegate: trust, delegateQueue: nil)
            let task = session.webSocketTask(with: head)
            self.trust = trust
            self.task = task
            inbox = MessageInbox { inbox in
                // Not the function that waits by itself: before iOS 17 it went on waiting when its task was cancelled
                // (SwiftPhoenixClient, issue 281).
                task.receive { inbox.take(Self.outcome(of: $0, trust)) }
            }
            task.maximumMessageSize = options.maximumMessageSize
            task.resume()
            pings = options.pingPause.map { interval in Task { await Self.ping(task, every: interval) } }
        }

        deinit {
            close()
        }

        private static func head(of request: HTTPRequest) throws(TransportError) -> URLRequest {
            var head = try URLSessionRequest(request).head
            guard let url = head.url, var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) else {
                throw TransportError(.invalidRequest, message: "the URL is malformed", mayHaveBeenSent: false)
            }
            parts.scheme = parts.scheme == "https" ? "wss" : "ws"
            head.url = parts.url
            return head
        }

        /// Pings until one is not answered before the next is due, which ends the connection, or the task is cancelled.
        ///
        /// Nobody waits for a pong: `URLSession` tells of one more than once, or never, when the connection breaks.
        private static func ping(_ task: URLSessionWebSocketTask, every interval: Duration) async {
            var isAlive = Locked(true)
            // Pings keep real time, which proxies go by; a sleep throws for one reason, that the task was cancelled.
            while (try? await Task.sleep(for: interval.sleepable)) != nil {
                guard isAlive.withLock({ $0 }) else { return task.cancel(with: .abnormalClosure, reason: nil) }
                let hasPong = Locked(false)
                task.sendPing { error in
                    if error == nil { hasPong.withLock { $0 = true } }
                }
                isAlive = hasPong
            }
        }

        func send(_ message: WebSocket.Message) async throws(TransportError) {
            do {
                switch message {
                case .text(let text): try await task.send(.string(text))
                case .data(let data): try await task.send(.data(data))
                }
            } catch {
                throw Self.failure(error, trust)
            }
        }

        func receive() async throws(TransportError) -> WebSocket.Message {
            try await inbox.next()
        }

        private static func outcome(
            of result: Result<URLSessionWebSocketTask.Message, any Error>,
            _ trust: URLSessionTrustDelegate
        ) -> Result<WebSocket.Message, TransportError> {
            switch result {
            case .failure(let error): return .failure(failure(error, trust))
            case .success(let message):
                switch message {
                case .string(let text): return .success(.text(text))
                case .data(let data): return .success(.data(data))
                @unknown default:
                    return .failure(TransportError(.protocolViolation, message: "a message of an unknown kind"))
                }
            }
        }

        /// What ended a call; what we refused shows as a cancel or a bad answer otherwise.
        private static func failure(_ error: any Error, _ trust: URLSessionTrustDelegate) -> TransportError {
            trust.refusal ?? URLSessionFailure(error, hasHead: true).error
        }

        func close() {
            pings?.cancel()
            task.cancel(with: .normalClosure, reason: nil)
            session.finishTasksAndInvalidate()
        }
    }
#endif
