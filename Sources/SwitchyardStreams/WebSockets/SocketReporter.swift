import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// Reports the messages and the first Close frame of a WebSocket to observers of the client.
final class SocketReporter: Sendable {
    private let reporter: MessageReporter
    private let hasClosed = Locked(false)

    init(_ reporter: MessageReporter) {
        self.reporter = reporter
    }

    /// The current time.
    var now: MonotonicTime { reporter.now }

    func report(_ message: WebSocket.Message, _ direction: StreamMessage.Direction, at time: MonotonicTime) {
        switch message {
        case .text(let text): reporter.report(StreamMessage(direction, type: "text", text: text), at: time)
        case .data(let data): reporter.report(StreamMessage(direction, type: "binary", size: data.count), at: time)
        }
    }

    /// Reports that this side or the server closes the connection, unless this has been reported.
    func reportClose(_ code: WebSocket.CloseCode, _ reason: String, _ direction: StreamMessage.Direction) {
        let isFirst = hasClosed.withLock { hasClosed in
            defer { hasClosed = true }
            return !hasClosed
        }
        guard isFirst else { return }
        let type = "close \(code.rawValue)"
        reporter.report(
            reason.isEmpty
                ? StreamMessage(direction, type: type, size: 0) : StreamMessage(direction, type: type, text: reason),
            at: now
        )
    }

    /// Reports that the connection has ended with an error, unless only the task that waited for a message was
    /// cancelled.
    func reportEnd(_ error: TransportError, _ closure: WebSocket.Closure?) {
        if let closure, closure.code != .abnormal {
            reportClose(closure.code, closure.reason, closure.isByServer ? .received : .sent)
        }
        if closure != nil || error.kind != .cancelled { reporter.end() }
    }
}
