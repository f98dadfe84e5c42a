#if canImport(Darwin)
    import Foundation
    import SwitchyardHTTP
    import SwitchyardServices
    import SwitchyardTransport

    /// A WebSocket over `URLSession`.
    final class SystemWebSocket: WebSocketEngine {
        private let task: URLSessionWebSocketTask
        private let socket: URLSessionSocket
        private let inbox: MessageInbox<WebSocket.Message>
        private let pings: Task<Void, Never>?
        private let own = Locked<WebSocket.Closure?>(nil)
        private let end: @Sendable (TransportError?) -> Void
        private let closeTimeout: Duration

        /// - Parameters:
        ///   - task: The task, after the opening handshake.
        ///   - socket: The connection that the task belongs to.
        ///   - options: The options of the connection.
        ///   - end: A closure that ends the connection immediately. Its parameter is the failure that counts against
        ///     the server, or `nil` if the server is not at fault.
        init(
            _ task: URLSessionWebSocketTask,
            of socket: URLSessionSocket,
            _ options: WebSocket.Options,
            end: @escaping @Sendable (TransportError?) -> Void
        ) {
            self.task = task
            self.socket = socket
            self.end = end
            closeTimeout = options.closeTimeout
            inbox = MessageInbox { inbox in
                // The `async` variant is avoided because before iOS 17 it continued to wait after its task was
                // cancelled (SwiftPhoenixClient, issue 281).
                task.receive { inbox.take(Self.outcome(of: $0, task, socket)) }
            }
            task.maximumMessageSize = options.maximumMessageSize
            pings = options.pingPause.map { interval in Task { await Self.ping(task, every: interval, end) } }
        }

        deinit {
            pings?.cancel()
        }

        var closure: WebSocket.Closure? {
            let code = WebSocket.CloseCode(rawValue: UInt16(clamping: task.closeCode.rawValue))
            let isOwn = own.withLock { $0 }
            guard code.rawValue != 0 else { return isOwn }
            let reason = String(decoding: task.closeReason ?? Data(), as: UTF8.self)
            return WebSocket.Closure(code: code, reason: reason, isByServer: isOwn == nil, isClean: code != .abnormal)
        }

        /// Sends pings until the task is cancelled.
        ///
        /// If a ping receives no pong before the next ping is due, the connection ends.
        ///
        /// No task awaits a pong, because `URLSession` may call the pong handler more than once, or never, when the
        /// connection breaks.
        private static func ping(
            _ task: URLSessionWebSocketTask,
            every interval: Duration,
            _ end: @Sendable (TransportError?) -> Void
        ) async {
            var isAlive = Locked(true)
            // The pauses between pings must be shorter than the timeouts of proxies. These timeouts run in real time,
            // so the pauses use real time too. The sleep throws only if the task was cancelled.
            while (try? await Task.sleep(for: interval.sleepable)) != nil {
                guard isAlive.withLock({ $0 }) else {
                    return end(TransportError(.timeout, message: "a ping got no pong before the next ping"))
                }
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
                throw Self.failure(error, task, socket)
            }
        }

        func receive() async throws(TransportError) -> WebSocket.Message {
            try await inbox.next()
        }

        private static func outcome(
            of result: Result<URLSessionWebSocketTask.Message, any Error>,
            _ task: URLSessionWebSocketTask,
            _ socket: URLSessionSocket
        ) -> Result<WebSocket.Message, TransportError> {
            switch result {
            case .failure(let error): return .failure(failure(error, task, socket))
            case .success(let message):
                switch message {
                case .string(let text): return .success(.text(text))
                case .data(let data): return .success(.data(data))
                @unknown default:
                    return .failure(
                        TransportError(.protocolViolation, message: "the system delivered a message of an unknown kind")
                    )
                }
            }
        }

        /// Returns the error that ended a call.
        ///
        /// If Switchyard itself has rejected the connection, `URLSession` reports only a cancellation or a bad
        /// response. The reason for the rejection is then returned instead.
        private static func failure(
            _ error: any Error,
            _ task: URLSessionWebSocketTask,
            _ socket: URLSessionSocket
        ) -> TransportError {
            let code = WebSocket.CloseCode(rawValue: UInt16(clamping: task.closeCode.rawValue))
            guard code.rawValue != 0 else { return socket.failure(error) }
            let reason = String(decoding: task.closeReason ?? Data(), as: UTF8.self)
            return WebSocket.Closure(code: code, reason: reason, isByServer: true, isClean: true).error
        }

        func close(_ code: WebSocket.CloseCode, reason: String) {
            let code = code.isSendable ? code : .normal
            own.withLock { closure in
                closure = closure ?? WebSocket.Closure(code: code, reason: reason, isByServer: false, isClean: false)
            }
            pings?.cancel()
            let systemCode = URLSessionWebSocketTask.CloseCode(rawValue: Int(code.rawValue)) ?? .normalClosure
            task.cancel(with: systemCode, reason: reason.isEmpty ? nil : Data(reason.utf8))
        }

        func abandon() {
            close(.goingAway, reason: "")
        }
    }
#endif
