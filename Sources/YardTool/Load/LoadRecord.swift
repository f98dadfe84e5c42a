import Foundation
import Switchyard

/// The result of a request, as a line of the output.
struct LoadRecord: Encodable, Sendable {
    private enum CodingKeys: CodingKey {
        case load, due, done, ok, status, server, attempts, error
    }

    /// The kind of loop: `open` or `closed`.
    var load: String
    /// The time at which the request was due, in seconds since 1970.
    ///
    /// In a closed loop, this is the time at which it was sent.
    var due: Double
    /// The time at which the request ended, in seconds since 1970.
    var done: Double
    /// Whether the response was complete and had a status below 400.
    var ok: Bool
    var status: Int?
    var server: String?
    var attempts: Int
    /// The kind of failure, such as `refused`, `timeout`, `truncated` or `http500`, or `nil` if the request did not
    /// fail.
    var error: String?
    /// Whether one server received the request, or the call was hedged (sent to a second server because the first was
    /// slow) or failed over.
    ///
    /// Used only for a report.
    var way: CallWay
    /// The servers that received the request.
    ///
    /// Used only for a report.
    var sent: [RecordedAttempt]
    /// The reason why a failed request was not sent to another server, or `nil` if there is no such reason.
    ///
    /// Used only for a report.
    var obstacle: String?

    init(load: String, due: Double, done: Double, result: Result<ServiceResponse, RequestFailure>) {
        self.load = load
        self.due = due
        self.done = done
        switch result {
        case .success(let response):
            ok = response.status < 400
            status = response.status
            server = response.context.server
            attempts = response.context.attempts
            way = CallWay(response.context)
            sent = RecordedAttempt.all(response.attempts)
            error = ok ? nil : "http\(response.status)"
        case .failure(let failure):
            ok = false
            server = failure.context.server
            attempts = failure.context.attempts
            way = CallWay(failure.context)
            sent = RecordedAttempt.all(failure.attempts)
            error = failure.reason.word
            obstacle = failure.attempts.obstacle
        }
    }

    /// The time in seconds from the moment at which the request was due until it ended.
    var waited: Double { done - due }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(load, forKey: .load)
        try container.encode(due, forKey: .due)
        try container.encode(done, forKey: .done)
        try container.encode(ok, forKey: .ok)
        try container.encode(status, forKey: .status)
        try container.encode(server, forKey: .server)
        try container.encode(attempts, forKey: .attempts)
        try container.encode(error, forKey: .error)
    }
}

/// A change of the preferred server, as a line of the output.
struct SwitchRecord: Codable, Sendable {
    var event = "switch"
    /// The time of the change in seconds since 1970.
    var at: Double
    var from: String
    var to: String
    var cause: String
}

extension RequestFailure.Reason {
    /// One word for the kind of failure.
    var word: String {
        switch self {
        case .cancelled: "cancelled"
        case .deadlineExceeded: "timeout"
        case .invalidRequest: "invalidRequest"
        case .unknownServer: "unknownServer"
        case .unserved: "unserved"
        case .overloaded: "overloaded"
        case .duplicateID: "duplicateID"
        case .closed: "closed"
        case .redirect: "redirect"
        case .credentials: "credentials"
        case .rateLimited: "limited"
        case .vetoed: "vetoed"
        case .queueFull: "queueFull"
        case .superseded: "superseded"
        case .transport(let error): error.kind.word
        }
    }
}

extension TransportError.Kind {
    /// One word for the kind of failure, the same as in the switching core's events.
    var word: String {
        switch self {
        case .connectionRefused: "refused"
        case .connectionReset: "reset"
        case .dnsFailure: "dns"
        case .protocolViolation: "protocol"
        case .tlsFailure: "tls"
        case .certificateRejected: "certificate"
        default: rawValue
        }
    }
}
