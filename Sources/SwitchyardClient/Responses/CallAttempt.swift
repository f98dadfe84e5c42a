import Foundation
import SwitchyardHTTP
public import SwitchyardServices

/// One attempt of a call: the server, the times, the ending, and the reason for the next attempt.
///
/// The property `attempts` of a response or an error contains the attempts of the call. They contain no URL, header
/// field or body.
public struct CallAttempt: Sendable, Hashable {
    /// The reason for an attempt.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// The attempt is the first attempt of the call.
        case first
        /// The previous attempt failed or its server was ejected (taken out of use for a time), so the next server was
        /// tried, or the first server again if connecting to it had taken too long.
        case failover
        /// Another attempt was slow, so the request was also sent to a second server.
        case hedge
        /// The previous try at the request, with its failovers, had no acceptable result, so the call was retried.
        case retry
        /// The server rejected the credential of the previous attempt, so the call was sent with another credential.
        case refresh
    }

    /// The ending of an attempt.
    public enum Ending: Sendable, Hashable {
        /// A response with this status arrived.
        ///
        /// `retryAfter` is the value of `Retry-After` in a 429 or 503 response, or `nil` if it is missing.
        case response(status: Int, retryAfter: Duration? = nil)
        /// The attempt failed for this reason.
        case failure(RequestFailure.Reason)
        /// The attempt had no response when another attempt or the caller ended the request, or the deadline passed.
        case cancelled
    }

    /// The event that followed an attempt.
    public enum Next: Sendable, Hashable {
        /// An attempt of this kind was made.
        case attempt(Kind)
        /// The request went to no other server, because this guard stopped the failover.
        case stopped(FailoverGuard)
    }

    /// The server's name, or `nil` if the URL belongs to no server of the service.
    public var server: String?
    /// The reason for the attempt.
    public var kind: Kind
    /// The time from the dispatch of the call to the start of the attempt.
    public var start: Duration
    /// The time from the start of the attempt to its end.
    public var duration: Duration
    /// The ending of the attempt.
    public var ending: Ending
    /// The event that followed the attempt, or `nil` if the call ended with the attempt's result or for another reason.
    public var next: Next?

    package init(
        server: String?,
        kind: Kind = .first,
        start: Duration = .zero,
        duration: Duration,
        ending: Ending,
        next: Next? = nil
    ) {
        self.server = server
        self.kind = kind
        self.start = start
        self.duration = duration
        self.ending = ending
        self.next = next
    }
}

extension CallAttempt.Ending {
    /// Creates the ending of an attempt with this result.
    init(_ result: Result<HTTPResponse, RequestFailure.Reason>) {
        switch result {
        case .success(let response):
            let isRefusal = response.status == 429 || response.status == 503
            let pause = isRefusal ? RetryAfter.duration(in: response.headers, now: Date()) : nil
            self = .response(status: response.status, retryAfter: pause)
        case .failure(let reason): self = .failure(reason)
        }
    }
}

// MARK: - Text

extension CallAttempt: CustomStringConvertible {
    /// The attempt on one line, such as `0 ms primary: connection refused after 2 ms -> next server`.
    public var description: String {
        let following = next.map { " -> \($0)" } ?? ""
        return "\(start.inReport) \(server ?? "another host"): \(endingText)\(following)"
    }

    /// The ending with its duration, such as `503 after 8 ms, Retry-After 30 s`.
    package var endingText: String {
        switch ending {
        case .response(let status, let pause):
            "\(status) after \(duration.inReport)" + (pause.map { ", Retry-After \($0.components.seconds) s" } ?? "")
        case .failure(.transport(let error)): "\(error.kind.words) after \(duration.inReport)"
        case .failure(let reason): "\(reason.description.withoutQueries) after \(duration.inReport)"
        case .cancelled: "no response within \(duration.inReport)"
        }
    }
}

extension CallAttempt.Next: CustomStringConvertible {
    /// The event in words, such as `next server` or `no server left`.
    public var description: String {
        switch self {
        case .attempt(.first): "first attempt"
        case .attempt(.failover): "next server"
        case .attempt(.hedge): "hedge"
        case .attempt(.retry): "retry"
        case .attempt(.refresh): "sent again with another credential"
        case .stopped(let obstacle): "\(obstacle)"
        }
    }
}

extension TransportError.Kind {
    /// The kind in words: `connection refused` for ``connectionRefused``.
    package var words: String {
        rawValue.map { $0.isUppercase ? " \($0.lowercased())" : "\($0)" }.joined()
    }
}

extension String {
    /// The text without the queries of its URLs, so that a report contains no value of a parameter.
    package var withoutQueries: String {
        replacing(/\?[^\s"'<>)\]]*/, with: "?…")
    }
}

// MARK: - List

/// The attempts of a request, in order.
///
/// A single attempt with a response, the usual case, needs no memory of its own.
package enum AttemptHistory: Sendable {
    case none
    case single(Single)
    case many([CallAttempt])

    /// The only attempt of a request, which had a response without `Retry-After`.
    package struct Single: Sendable {
        var server: String?
        var kind: CallAttempt.Kind
        var start: Duration
        var duration: Duration
        var status: Int

        fileprivate var attempt: CallAttempt {
            CallAttempt(
                server: server,
                kind: kind,
                start: start,
                duration: duration,
                ending: .response(status: status)
            )
        }
    }

    /// The maximum number of attempts that are kept for a call.
    ///
    /// If there were more attempts, the first attempt and the latest attempts are kept.
    static let limit = 100

    /// The attempts as an array.
    package var attempts: [CallAttempt] {
        switch self {
        case .none: []
        case .single(let single): [single.attempt]
        case .many(let attempts): attempts
        }
    }

    /// Appends the attempts of the next retry.
    mutating func append(_ round: AttemptHistory) {
        guard case .none = self else {
            let new = round.attempts
            guard let first = new.first else { return }
            var all = attempts
            all[all.count - 1].next = .attempt(first.kind)
            all += new
            if all.count > Self.limit { all.removeSubrange(1...(all.count - Self.limit)) }
            return self = .many(all)
        }
        self = round
    }
}

extension ServiceResponse {
    /// The attempts of the call, in order.
    public var attempts: [CallAttempt] { context.history.attempts }
}

extension RequestFailure {
    /// The attempts of the call, in order, or an empty array if nothing was sent.
    public var attempts: [CallAttempt] { context.history.attempts }
}
