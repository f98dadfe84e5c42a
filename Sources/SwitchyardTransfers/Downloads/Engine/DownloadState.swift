import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// How far a download has come, and what it has gone through: pure bookkeeping.
struct DownloadState: Sendable {
    /// What the bytes are part of; `nil` when they cannot be gone on from.
    var record: ResumeRecord?
    /// The bytes in the file.
    var offset: Int64 = 0
    /// The digest of the bytes from the first on, which may lag behind those in the file; `nil` when none is wanted.
    var digest: RunningDigest?
    /// The length of the whole content; `nil` while unknown.
    var total: Int64?
    /// Bytes taken over from an earlier download.
    var resumed: Int64 = 0
    /// Bytes received in this call.
    var received: Int64 = 0
    /// The last byte that the present answer brings; `nil` when it brings the whole content.
    var lastOfRange: Int64?
    /// Requests sent, hedges and failovers included.
    var attempts = 0
    /// How often everything was thrown away.
    var restarts = 0
    /// How often a body broke off.
    var interruptions = 0
    /// Servers that broke a body off.
    var breaks = DownloadBreaks()
    /// Whether the bytes came with several answers, so that none of their servers answers for all of them.
    var isMixed = false
    /// How often a content of several answers turned out to be another than the one expected.
    var mixtures = 0
    /// Servers whose content had another digest than the one expected.
    var strangers: [Server.ID] = []
    /// The bytes at which the record was last brought up to date.
    var checkpoint: Int64 = 0

    /// What the next request asks for.
    func question(hasOwnRange: Bool) -> DownloadAnswer.Question {
        guard let record, offset > 0 else { return DownloadAnswer.Question(hasOwnRange: hasOwnRange) }
        return DownloadAnswer.Question(offset: offset, validator: record.validator, total: total)
    }

    /// Whether the body that has just ended completes the content.
    enum Completion: Equatable {
        case complete
        case goesOn
        case short
    }

    /// What the end of the present body means.
    var completion: Completion {
        if let lastOfRange {
            if offset <= lastOfRange { return .short }
            // A server may send less than the range asked for (RFC 9110 section 15.3.7).
            return offset < total ?? offset ? .goesOn : .complete
        }
        return offset < total ?? offset ? .short : .complete
    }

    /// The most bytes that the present answer may bring the file to.
    var limit: Int64 { lastOfRange.map { $0 + 1 } ?? total ?? .max }

    /// Forgets everything that has come.
    mutating func startOver() {
        record = nil
        offset = 0
        digest = digest.map { RunningDigest($0.algorithm) }
        total = nil
        resumed = 0
        isMixed = false
        lastOfRange = nil
        checkpoint = 0
    }
}

/// The servers that broke the body of a content, or of a part, off: who is not asked next, and who has been charged.
struct DownloadBreaks: Sendable {
    /// The servers.
    private(set) var servers: [Server.ID] = []
    private var uncharged: [Transfer.Break] = []

    /// Takes note of an answer whose body broke off.
    mutating func add(_ context: RequestContext, _ outcome: AttemptOutcome) {
        if let server = context.server { servers.append(server) }
        if let attempt = context.attempt { uncharged.append(Transfer.Break(attempt: attempt, outcome: outcome)) }
    }

    /// Servers that are not asked again as long as there is another.
    func avoided(in transfer: Transfer) -> [Server.ID] { transfer.pool.avoidable(servers) }

    /// Charges the servers, once another has answered or nothing more will be tried.
    mutating func charge(in transfer: Transfer, witness response: ServiceResponse? = nil) {
        let witness = response.flatMap { $0.status < 500 ? $0.context.attempt : nil }
        for one in uncharged { transfer.charge(one, witness: witness) }
        uncharged = []
    }
}

/// What shows that no server is there yet to go on with what was broken off: the only one is being restarted, for
/// instance.
struct ServerOutage: Sendable {
    /// What stands for it among the events of a download.
    let error: TransportError
    /// How long the server asks for; a minute at most.
    let pause: Duration

    /// `nil` for a failure that no waiting helps against.
    init?(_ failure: RequestFailure) {
        switch failure.reason {
        case .transport(let cause) where Transience(cause.kind) != .permanent: error = cause
        case .deadlineExceeded: error = TransportError(.timeout, message: "the server did not answer in time")
        default: return nil
        }
        pause = .zero
    }

    /// `nil` for a response whose status is not transient.
    init?(_ response: ServiceResponse) {
        guard Transience(status: response.status) == .transient else { return nil }
        error = TransportError(.other, message: "the server answered with \(response.status)")
        pause = min(RetryAfter.duration(in: response.headers, now: Date()) ?? .zero, .seconds(60))
    }
}
