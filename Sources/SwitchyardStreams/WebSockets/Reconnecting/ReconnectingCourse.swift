import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The history of the connections of a ``ReconnectingWebSocket``, and the decision whether to open another connection.
struct ReconnectingCourse {
    /// The maximum pause that a response can request with `Retry-After`.
    private static let longestRetryAfter = Duration.seconds(3600)

    private let options: ReconnectingWebSocket.Options
    /// The number of consecutive failed connections.
    var failures = 0
    /// The number of connections that were opened.
    var connections = 0
    /// The servers that get a request only if no other server is available.
    var avoided: [Server.ID] = []
    private var retryAfter = Duration.zero

    init(_ options: ReconnectingWebSocket.Options) {
        self.options = options
    }

    /// The pause before the next connection.
    var pause: Duration {
        let factor = Double(1 << min(max(0, failures - 1), 16))
        let longer = min(max(options.reconnectionTime, .milliseconds(1)) * factor, options.longestWait)
        return max(retryAfter, longer * Double.random(in: 0.5...1))
    }

    /// Records a failed connection, and returns `false` if there were too many consecutive failures.
    mutating func mayFailAgain() -> Bool {
        failures += 1
        retryAfter = .zero
        return failures <= options.maximumFailures ?? .max
    }

    /// Records a connection that could not be opened, and returns `false` if no further connection should be tried.
    mutating func mayGoOn(after failure: WebSocketFailure) -> Bool {
        guard Self.isTransient(failure), mayFailAgain() else { return false }
        if case .refused(let response) = failure {
            let asked = RetryAfter.duration(in: response.headers, now: Date()) ?? .zero
            retryAfter = min(asked, Self.longestRetryAfter)
        }
        return true
    }

    /// Returns whether the failure is transient.
    ///
    /// A failure that was caused by this client is not transient.
    private static func isTransient(_ failure: WebSocketFailure) -> Bool {
        switch failure {
        case .refused(let response): Transience(status: response.status) == .transient
        case .handshake: true
        case .closed: false
        case .request(let failure): isTransient(failure.reason)
        }
    }

    private static func isTransient(_ reason: RequestFailure.Reason) -> Bool {
        switch reason {
        case .transport(let cause): Transience(cause.kind) != .permanent
        case .deadlineExceeded, .overloaded, .credentials(.unavailable), .credentials(.refreshFailed),
            .credentials(.refreshTimedOut):
            true
        default: false
        }
    }
}
