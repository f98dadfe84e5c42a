import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// What the connections of a ``ReconnectingWebSocket`` have come to so far, and whether there is to be another one.
struct ReconnectingCourse {
    /// The longest pause that a response can ask for by `Retry-After`.
    private static let longestRetryAfter = Duration.seconds(3600)

    private let options: ReconnectingWebSocket.Options
    /// Connections that failed one after the other.
    var failures = 0
    /// Connections that stood.
    var connections = 0
    /// Servers that are asked next only if there is no other.
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

    /// Takes note of a connection that has failed; `false` when it was one too many.
    mutating func mayFailAgain() -> Bool {
        failures += 1
        retryAfter = .zero
        return failures <= options.maximumFailures ?? .max
    }

    /// Takes note of a connection that was not made; `false` when no other is to be tried.
    mutating func mayGoOn(after failure: WebSocketFailure) -> Bool {
        guard Self.mayPass(failure), mayFailAgain() else { return false }
        if case .refused(let response) = failure {
            let asked = RetryAfter.duration(in: response.headers, now: Date()) ?? .zero
            retryAfter = min(asked, Self.longestRetryAfter)
        }
        return true
    }

    /// Whether another connection may fare better; what this side cannot or will not do stays as it is.
    private static func mayPass(_ failure: WebSocketFailure) -> Bool {
        switch failure {
        case .refused(let response): [408, 429, 500, 502, 503, 504].contains(response.status)
        case .handshake: true
        case .closed: false
        case .request(let failure): mayPass(failure.reason)
        }
    }

    private static func mayPass(_ reason: RequestFailure.Reason) -> Bool {
        switch reason {
        case .transport(let cause):
            switch cause.kind {
            case .cancelled, .requestBodyFailed, .invalidRequest, .unsupported, .closed, .bodyTooLarge: false
            default: true
            }
        case .deadlineExceeded, .overloaded, .credentials(.unavailable), .credentials(.renewalFailed),
            .credentials(.renewalTimedOut):
            true
        default: false
        }
    }
}
