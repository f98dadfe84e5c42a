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
        private let pings: Task<Void, Never>?

        init(_ request: HTTPRequest, _ options: WebSocket.Options) throws(TransportError) {
            try options.tls.check(request.url)
            trust = URLSessionTrustDelegate(try URLSessionTrust(options.tls))
            var head = try URLSessionRequest(request).head
            guard let url = head.url, var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) else {
                throw TransportError(.invalidRequest, message: "the URL is malformed", mayHaveBeenSent: false)
            }
            parts.scheme = parts.scheme == "https" ? "wss" : "ws"
            head.url = parts.url
            let settings = URLSessionConfiguration.ephemeral
            settings.keep(to: options.tls)
            session = URLSession(configuration: settings, delegate: trust, delegateQueue: nil)
            let task = session.webSocketTask(with: head)
            self.task = task
            task.maximumMessageSize = options.maximumMessageSize
            task.resume()
            pings = options.pingPause.map { interval in Task { await Self.ping(task, every: interval) } }
        }

        deinit {
            close()
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
                throw failure(error)
            }
        }

        /// What ended a call; a server that is not trusted shows as a cancel otherwise.
        private func failure(_ error: any Error) -> TransportError {
            trust.hasRefused ? .untrustedServer : URLSessionFailure(error, hasHead: true).error
        }

        func receive() async throws(TransportError) -> WebSocket.Message {
            let message: URLSessionWebSocketTask.Message
            do { message = try await task.receive() } catch { throw failure(error) }
            switch message {
            case .string(let text): return .text(text)
            case .data(let data): return .data(data)
            @unknown default: throw TransportError(.protocolViolation, message: "a message of an unknown kind")
            }
        }

        func close() {
            pings?.cancel()
            task.cancel(with: .normalClosure, reason: nil)
            session.finishTasksAndInvalidate()
        }
    }
#endif
