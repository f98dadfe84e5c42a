import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The progress and the history of a download, without side effects.
struct DownloadState: Sendable {
    /// The record of the content that the bytes belong to; `nil` if they cannot be resumed.
    var record: ResumeRecord?
    /// The number of bytes in the file.
    var offset: Int64 = 0
    /// The digest of the bytes from the start of the file, which may lag behind the bytes in the file; `nil` if no
    /// digest is required.
    var digest: RunningDigest?
    /// The length of the whole content; `nil` while unknown.
    var total: Int64?
    /// The number of bytes adopted from an earlier download.
    var resumed: Int64 = 0
    /// The number of bytes received in this call.
    var received: Int64 = 0
    /// The last byte of the current response; `nil` if the response has the whole content.
    var lastOfRange: Int64?
    /// The number of requests sent, including hedges and failovers.
    var attempts = 0
    /// The number of times that all bytes were discarded.
    var restarts = 0
    /// The number of times that a body was interrupted.
    var interruptions = 0
    /// The servers that interrupted a body.
    var breaks = DownloadBreaks()
    /// Whether the bytes came with several responses, so that no single server is responsible for all of them.
    var isMixed = false
    /// The number of times that a content from several responses had an unexpected digest.
    var mixtures = 0
    /// The servers whose content had an unexpected digest.
    var strangers: [Server.ID] = []
    /// The number of bytes at the last update of the record.
    var checkpoint: Int64 = 0

    /// Returns the description of the next request.
    func question(hasOwnRange: Bool) -> DownloadResponse.Question {
        guard let record, offset > 0 else { return DownloadResponse.Question(hasOwnRange: hasOwnRange) }
        return DownloadResponse.Question(offset: offset, validator: record.validator, total: total)
    }

    /// The states of the content after the current body has ended.
    enum Completion: Equatable {
        case complete
        case goesOn
        case short
    }

    /// The state of the content if the current body ends now.
    var completion: Completion {
        if let lastOfRange {
            if offset <= lastOfRange { return .short }
            // A server may send less than the requested range (RFC 9110 section 15.3.7).
            return offset < total ?? offset ? .goesOn : .complete
        }
        return offset < total ?? offset ? .short : .complete
    }

    /// The maximum length of the file after the current response.
    var limit: Int64 { lastOfRange.map { $0 + 1 } ?? total ?? .max }

    /// Discards the state of all received bytes.
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

/// The servers that interrupted a body, which are avoided next and charged with a failure.
struct DownloadBreaks: Sendable {
    /// The servers that interrupted a body.
    private(set) var servers: [Server.ID] = []
    private var uncharged: [Transfer.Break] = []

    /// Records a response whose body was interrupted.
    mutating func add(_ context: RequestContext, _ outcome: AttemptOutcome) {
        if let server = context.server { servers.append(server) }
        if let attempt = context.attempt { uncharged.append(Transfer.Break(attempt: attempt, outcome: outcome)) }
    }

    /// Returns the servers that are not asked again as long as there is another server.
    func avoided(in transfer: Transfer) -> [Server.ID] { transfer.pool.avoidable(servers) }

    /// Charges the servers with their failures once another server has responded or nothing more will be tried.
    mutating func charge(in transfer: Transfer, witness response: ServiceResponse? = nil) {
        let witness = response.flatMap { $0.status < 500 ? $0.context.attempt : nil }
        for one in uncharged { transfer.charge(one, witness: witness) }
        uncharged = []
    }
}

/// An outage during which no server can continue the interrupted body, for example because the only server restarts.
struct ServerOutage: Sendable {
    /// The error that represents the outage in the events of a download.
    let error: TransportError
    /// The time that the server asks the client to wait; at most one minute.
    let pause: Duration

    /// Creates an outage from a failure; fails if waiting would not help.
    init?(_ failure: RequestFailure) {
        switch failure.reason {
        case .transport(let cause) where Transience(cause.kind) != .permanent: error = cause
        case .deadlineExceeded: error = TransportError(.timeout, message: "the server did not respond in time")
        default: return nil
        }
        pause = .zero
    }

    /// Creates an outage from a response; fails if its status is not transient.
    init?(_ response: ServiceResponse) {
        guard Transience(status: response.status) == .transient else { return nil }
        error = TransportError(.other, message: "the server responded with \(response.status)")
        pause = min(RetryAfter.duration(in: response.headers, now: Date()) ?? .zero, .seconds(60))
    }
}
