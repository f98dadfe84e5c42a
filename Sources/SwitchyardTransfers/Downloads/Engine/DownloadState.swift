import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The progress and the history of a download, as a value without side effects.
struct DownloadState: Sendable {
    /// The record that describes the content of the received bytes, or `nil` if the bytes cannot be resumed.
    var record: ResumeRecord?
    /// The number of bytes in the partial file.
    var offset: Int64 = 0
    /// The digest of the first bytes of the file, or `nil` if no digest is required.
    ///
    /// The digest may not yet cover all bytes in the file.
    var digest: RunningDigest?
    /// The length of the whole content, or `nil` while it is unknown.
    var total: Int64?
    /// The number of bytes adopted from an earlier download.
    var resumed: Int64 = 0
    /// The number of bytes received in this call.
    var received: Int64 = 0
    /// The offset of the last byte in the current response, or `nil` if the response contains the whole content.
    var lastOfRange: Int64?
    /// The number of requests sent, including failovers and hedges (second requests while the first is slow).
    var attempts = 0
    /// The number of times that all bytes were discarded.
    var restarts = 0
    /// The number of times that a body was interrupted.
    var interruptions = 0
    /// The servers that interrupted a body.
    var breaks = DownloadBreaks()
    /// Whether the bytes came from several responses.
    ///
    /// If the digest of such content is wrong, it is unknown which server sent the wrong bytes.
    var isMixed = false
    /// The number of times that content from several responses had an unexpected digest.
    var mixtures = 0
    /// The servers whose content had an unexpected digest.
    var strangers: [Server.ID] = []
    /// The number of bytes in the partial file when the record was last updated.
    var checkpoint: Int64 = 0

    /// Returns the properties of the next request that decide what its response means.
    func question(hasOwnRange: Bool) -> DownloadResponse.Question {
        guard let record, offset > 0 else { return DownloadResponse.Question(hasOwnRange: hasOwnRange) }
        return DownloadResponse.Question(offset: offset, validator: record.validator, total: total)
    }

    /// The state of the content after a body has ended: complete, to be continued with another range, or shorter than
    /// the server announced.
    enum Completion: Equatable {
        case complete
        case goesOn
        case short
    }

    /// The state of the content if the current body ends now.
    var completion: Completion {
        if let lastOfRange {
            if offset <= lastOfRange { return .short }
            // A server may send less than the requested range (RFC 9110 section 15.3.7). The rest is then requested.
            return offset < total ?? offset ? .goesOn : .complete
        }
        return offset < total ?? offset ? .short : .complete
    }

    /// The length that the partial file must not exceed while the body of the current response is written.
    var limit: Int64 { lastOfRange.map { $0 + 1 } ?? total ?? .max }

    /// Resets everything that describes the received bytes.
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

/// The servers that interrupted a body.
///
/// The next requests avoid these servers. Each interruption counts as a failure of its server.
struct DownloadBreaks: Sendable {
    /// The servers that interrupted a body.
    private(set) var servers: [Server.ID] = []
    private var uncharged: [Transfer.Break] = []

    /// Records the server and the attempt of a response whose body was interrupted.
    mutating func add(_ context: RequestContext, _ outcome: AttemptOutcome) {
        if let server = context.server { servers.append(server) }
        if let attempt = context.attempt { uncharged.append(Transfer.Break(attempt: attempt, outcome: outcome)) }
    }

    /// Returns the servers that interrupted a body.
    ///
    /// A request is sent to one of these servers only if no other server is available. The list is empty if every
    /// server has interrupted a body.
    func avoided(in transfer: Transfer) -> [Server.ID] { transfer.pool.avoidable(servers) }

    /// Reports the interruptions to the server pool as failures of their servers, once a server has responded or the
    /// download will not try again.
    ///
    /// A response with a status below 500 proves that the network works.
    mutating func charge(in transfer: Transfer, confirmedBy response: ServiceResponse? = nil) {
        let confirmation = response.flatMap { $0.status < 500 ? $0.context.attempt : nil }
        for one in uncharged { transfer.charge(one, confirmedBy: confirmation) }
        uncharged = []
    }
}

/// A temporary outage: no server can continue the interrupted body, for example because the only server restarts.
struct ServerOutage: Sendable {
    /// The error that represents the outage in the events of a download.
    let error: TransportError
    /// The minimum pause that the server requests with `Retry-After`; at most one minute.
    let pause: Duration

    /// Creates an outage from a failed request, or returns `nil` if the failure is permanent.
    init?(_ failure: RequestFailure) {
        switch failure.reason {
        case .transport(let cause) where Transience(cause.kind) != .permanent: error = cause
        case .deadlineExceeded: error = TransportError(.timeout, message: "the server did not respond in time")
        default: return nil
        }
        pause = .zero
    }

    /// Creates an outage from a response, or returns `nil` if the status of the response is not transient.
    init?(_ response: ServiceResponse) {
        guard Transience(status: response.status) == .transient else { return nil }
        error = TransportError(.other, message: "the server responded with status \(response.status)")
        pause = min(RetryAfter.duration(in: response.headers, now: Date()) ?? .zero, .seconds(60))
    }
}
