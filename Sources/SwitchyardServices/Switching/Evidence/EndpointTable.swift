#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The records of recently used endpoints: their durations, the servers that fail them, and whether extra attempts were
/// useful.
///
/// Because of these records, an endpoint that fails on every server neither worsens the health of a server nor uses up
/// the extra attempts of other endpoints. An endpoint is a number (`RequestTraits.endpoint`); each record takes a few
/// hundred bytes, and there are at most ``capacity``.
struct EndpointTable: Sendable {
    /// The maximum number of endpoints.
    ///
    /// If another endpoint is used, the least recently used one is forgotten.
    static let capacity = 32
    /// The time in seconds, after a success of another server with the same endpoint, during which a failure counts as
    /// the fault of the server that failed.
    static let confirmationAge = 10.0
    /// The minimum ratio of two servers' failure rates for an endpoint at which the rates count as different.
    private static let clearly: Float = 3

    private var keys: [UInt32] = []
    private var records: [EndpointRecord] = []

    /// Returns the percentiles of an endpoint's latency in seconds (``LatencyDigest``), which are `nil` while unknown.
    func latency(of endpoint: UInt32) -> (bulk: Double?, tail: Double?) {
        guard let index = index(of: endpoint) else { return (nil, nil) }
        return (records[index].latency.bulk, records[index].latency.tail)
    }

    /// Records a complete response from a server, and its latency if the latency is typical of the endpoint.
    mutating func recordResponse(
        _ endpoint: UInt32,
        from server: Int,
        latency: Double?,
        isLate: Bool,
        at time: Double
    ) {
        let index = place(of: endpoint, at: time)
        if let latency { records[index].latency.record(latency) }
        records[index].failovers.relax()
        records[index].hedges.relax()
        records[index].sight(server) { sighting in
            sighting.count(failed: false)
            sighting.wellAt = time
            if !isLate { sighting.latesInRow = 0 }
        }
    }

    /// Records that a server was late with an endpoint.
    ///
    /// - Returns: The number of late responses in a row whose attempts did not overlap.
    mutating func recordLate(_ endpoint: UInt32, on server: Int, began: Double, at time: Double) -> UInt8 {
        let index = place(of: endpoint, at: time)
        var count: UInt8 = 0
        records[index].sight(server) { sighting in
            if sighting.latesInRow == 0 || began >= sighting.lateAt {
                sighting.latesInRow = min(sighting.latesInRow + 1, 100)
                sighting.lateAt = time
            }
            count = sighting.latesInRow
        }
        return count
    }

    /// Records that a server failed an endpoint.
    mutating func recordFailure(_ endpoint: UInt32, on server: Int, at time: Double) {
        let index = place(of: endpoint, at: time)
        records[index].sight(server) { sighting in
            sighting.count(failed: true)
            sighting.badAt = time
        }
    }

    /// Forgets the failures; the durations of endpoints are kept.
    mutating func forgetFailures() {
        for index in records.indices { records[index].forgetFailures() }
    }

    private func index(of endpoint: UInt32) -> Int? { keys.firstIndex(of: endpoint) }

    /// Returns the index of an endpoint's record, which is created if there is none.
    private mutating func place(of endpoint: UInt32, at time: Double) -> Int {
        if let index = index(of: endpoint) {
            records[index].usedAt = time
            return index
        }
        let record = EndpointRecord(usedAt: time)
        guard keys.count == Self.capacity,
            let oldest = records.indices.min(by: { records[$0].usedAt < records[$1].usedAt })
        else {
            keys.append(endpoint)
            records.append(record)
            return keys.count - 1
        }
        keys[oldest] = endpoint
        records[oldest] = record
        return oldest
    }
}

// MARK: - Confirmation

extension EndpointTable {
    /// Whether another server has recently succeeded with the endpoint and has not failed it since.
    func isAnswered(_ endpoint: UInt32, _ peers: ServerPeers) -> Bool {
        samples(of: endpoint, peers).contains { other in
            other.wellAt > other.badAt && peers.time - other.wellAt <= Self.confirmationAge
        }
    }

    /// Whether another server fails the endpoint about as often as this server.
    ///
    /// This server is compared with the other server that has the most requests of the endpoint within the window.
    ///
    /// The result is `false` if no other server has received a request of the endpoint within the window, because
    /// nothing is known then.
    func isFailedAlike(_ endpoint: UInt32, _ peers: ServerPeers) -> Bool {
        guard let index = index(of: endpoint) else { return false }
        let own = records[index].endpointSamples.first { Int($0.server) == peers.server }?.rate ?? 1
        let others = samples(of: endpoint, peers).filter { $0.isRecent(peers.window, at: peers.time) }
        return others.max { $0.isLessDecisive(than: $1) }.map { own < Self.clearly * $0.rate } ?? false
    }

    /// The number of endpoints that recently failed on a server and on no other server: several endpoints (`several`),
    /// one endpoint while the server has responded to no other endpoint (`all`), or fewer (`little`).
    enum Breadth { case little, all, several }

    /// Returns how many endpoints recently failed on a server and on no other server.
    func breadth(_ peers: ServerPeers) -> Breadth {
        var (failed, answered) = (0, 0)
        for record in records {
            switch record.state(on: peers.server, window: peers.window, at: peers.time) {
            case .failedAlone: failed += 1
            case .answered: answered += 1
            case .failedAlike, .unknown: break
            }
        }
        return failed > 1 ? .several : failed == 1 && answered == 0 ? .all : .little
    }

    /// Returns how much more likely a failure is on a broken server than on a server as good as the best other server:
    /// the natural logarithm of that ratio, at least 0.
    ///
    /// A broken server fails with a probability of `detected`, or of 1 after two failures of the endpoint in a row. The
    /// failure rate of the best other server is known from its own requests: after n successes at most one in n + 2
    /// (Laplace's rule of succession).
    func evidence(_ endpoint: UInt32, _ peers: ServerPeers, detected: Double) -> Double {
        guard let index = index(of: endpoint) else { return 0 }
        let isInRow = records[index].endpointSamples.contains {
            Int($0.server) == peers.server && $0.failuresInRow > 1
        }
        let others = samples(of: endpoint, peers).filter { $0.isRecent(peers.window, at: peers.time) }.map(\.ceiling)
        return max(0, log((isInRow ? 1 : detected) / (others.min() ?? 0.5)))
    }

    /// Returns the results of the servers with which a server is compared.
    private func samples(of endpoint: UInt32, _ peers: ServerPeers) -> LazyFilterSequence<[EndpointSample]> {
        let samples = index(of: endpoint).map { records[$0].endpointSamples } ?? []
        return samples.lazy.filter { peers.contains(Int($0.server)) }
    }

    /// Returns a second number for an endpoint, under which the results of its suspicion probes are recorded.
    ///
    /// The results are separate because a suspicion probe (``SuspicionProbe``) only resembles the endpoint's requests.
    static func twin(of endpoint: UInt32) -> UInt32 { ~endpoint }

    /// Whether failovers or hedges of an endpoint have been useless several times in a row, so that a copy of its
    /// requests says nothing about a server.
    ///
    /// A failover is useless if all servers fail the request. A hedge (a second attempt while the first is slow) is
    /// useless if it does not respond first.
    func isOdd(_ endpoint: UInt32) -> Bool {
        index(of: endpoint).map { records[$0].failovers.isSpent || records[$0].hedges.isSpent } ?? false
    }
}

// MARK: - Extra attempts

extension EndpointTable {
    /// Returns whether a failed request may be sent to another server.
    ///
    /// After three requests in a row whose failovers were useless, the result is `false` for a time. If `claims` is
    /// `true` and the result is `true` after that time, other requests of the endpoint have to wait for the result of
    /// this failover.
    mutating func allowsFailover(_ endpoint: UInt32, after kind: FailureKind, claims: Bool, at time: Double) -> Bool {
        guard let index = index(of: endpoint), records[index].failedAs == FailureClass(kind) else { return true }
        return records[index].failovers.allows(at: time, claims: claims)
    }

    /// Records that a failover succeeded.
    mutating func recordHelp(of endpoint: UInt32) {
        if let index = index(of: endpoint) { records[index].failovers.help() }
    }

    /// Records the useless failovers of one request, whose first failure was of this kind.
    mutating func recordUseless(_ failovers: Int, of endpoint: UInt32, after kind: FailureKind, at time: Double) {
        let index = place(of: endpoint, at: time)
        if records[index].failedAs != FailureClass(kind) { records[index].failovers.help() }
        records[index].failedAs = FailureClass(kind)
        records[index].failovers.waste(failovers, at: time, longestPause: 10)
    }

    /// Returns whether a slow request may be sent to a second server.
    ///
    /// After three requests in a row whose hedges were useless, the result is `false` for a time. If `claims` is `true`
    /// and the result is `true` after that time, other requests of the endpoint have to wait for the result of this
    /// hedge.
    mutating func allowsHedge(_ endpoint: UInt32, claims: Bool, at time: Double) -> Bool {
        guard let index = index(of: endpoint) else { return true }
        return records[index].hedges.allows(at: time, claims: claims)
    }

    /// Records whether a hedge responded first.
    mutating func recordHedge(_ endpoint: UInt32, helped: Bool, at time: Double) {
        let index = place(of: endpoint, at: time)
        if helped { records[index].hedges.help() } else { records[index].hedges.waste(1, at: time, longestPause: 2) }
    }
}

/// The servers with which a server is compared after a failed request: the other servers that serve this request.
///
/// Similar paths are one endpoint (`RequestTraits.endpoint`). A server that serves only some of these paths may respond
/// well even if every server fails another of the paths, as in the random scenario 40012 of
/// `yard simulate worlds --roles`.
struct ServerPeers {
    let server: Int
    private let unsuitable: ServerSet
    /// The seconds for which results are compared.
    let window: Double
    let time: Double

    init(_ server: Int, without unsuitable: ServerSet, within window: Double, at time: Double) {
        (self.server, self.unsuitable, self.window, self.time) = (server, unsuitable, window, time)
    }

    func contains(_ other: Int) -> Bool { other != server && !unsuitable.contains(other) }
}

/// The record of one endpoint.
private struct EndpointRecord: Sendable {
    /// The latencies of responses, whichever server sent them.
    var latency = LatencyDigest()
    /// The results of each server that got requests of the endpoint.
    private(set) var endpointSamples: [EndpointSample] = []
    var failovers = UselessAttempts()
    var hedges = UselessAttempts()
    /// The class of the first failure of requests whose failovers were useless.
    var failedAs: FailureClass?
    var usedAt: Double

    init(usedAt: Double) {
        self.usedAt = usedAt
    }

    mutating func sight(_ server: Int, _ change: (inout EndpointSample) -> Void) {
        if let index = endpointSamples.firstIndex(where: { Int($0.server) == server }) {
            return change(&endpointSamples[index])
        }
        var sighting = EndpointSample(server: UInt8(truncatingIfNeeded: server))
        change(&sighting)
        endpointSamples.append(sighting)
    }

    mutating func forgetFailures() {
        endpointSamples = []
        failovers.help()
        hedges.help()
        failedAs = nil
    }

    /// The recent result of a server for requests of the endpoint, in comparison with the other servers.
    enum State { case unknown, answered, failedAlone, failedAlike }

    /// Returns the last result of a server with the endpoint within the window, and whether other servers failed too.
    func state(on server: Int, window: Double, at time: Double) -> State {
        guard let own = endpointSamples.first(where: { Int($0.server) == server }), own.isRecent(window, at: time)
        else {
            return .unknown
        }
        guard own.failuresInRow > 0 else { return .answered }
        let isAlike = endpointSamples.contains { Int($0.server) != server && time - $0.badAt <= window }
        return isAlike ? .failedAlike : .failedAlone
    }
}

/// The results of one server with the requests of one endpoint.
private struct EndpointSample: Sendable {
    let server: UInt8
    private var failures = FadingShare()
    /// The share of recent requests that failed.
    var rate: Float { failures.value }
    /// The number of late responses in a row.
    var latesInRow: UInt8 = 0
    var lateAt = -1e9
    /// The times of the last success and of the last failure.
    var wellAt = -1e9
    var badAt = -1e9

    init(server: UInt8) {
        self.server = server
    }

    /// The number of consecutive failures until now.
    private(set) var failuresInRow: UInt8 = 0

    /// A pessimistic estimate of the failure rate.
    ///
    /// It is the share of failures if one more request failed and one more succeeded (Laplace's rule of succession).
    var ceiling: Double {
        let samples = Double(failures.samples)
        return (Double(rate) * samples + 1) / (samples + 2)
    }

    /// Whether this server has fewer samples than another server or, if the numbers are equal, the higher failure rate.
    func isLessDecisive(than other: EndpointSample) -> Bool {
        failures.samples == other.failures.samples ? rate > other.rate : failures.samples < other.failures.samples
    }

    mutating func count(failed: Bool) {
        failures.count(failed)
        failuresInRow = failed ? min(failuresInRow + 1, 100) : 0
    }

    func isRecent(_ window: Double, at time: Double) -> Bool {
        time - max(wellAt, badAt) <= window
    }
}

/// The way in which a request failed.
///
/// Two failures of the same class probably have the same cause.
private enum FailureClass: UInt8, Sendable {
    /// The attempt ended with a response.
    case answer
    /// The attempt ended without a response.
    case silence
    /// The attempt ended with an incomplete response.
    case broken

    init(_ kind: FailureKind) {
        switch kind {
        case .http: self = .answer
        case .wire(.timeout), .overtaken, .wire(.connectTimeout): self = .silence
        default: self = .broken
        }
    }
}

/// The number of requests of an endpoint whose extra attempts were useless, and the time until which further extra
/// attempts have to wait.
///
/// An extra attempt is a failover or a hedge.
private struct UselessAttempts: Sendable {
    /// The number of requests in a row with useless extra attempts after which further extra attempts have to wait.
    private static let most: Float = 3
    /// The amount by which a success reduces the count.
    ///
    /// If requests fail on every server only occasionally, the count therefore stays low and extra attempts continue.
    private static let relief: Float = 0.02

    private var count: Float = 0
    private var resumesAt = 0.0

    var isSpent: Bool { count >= Self.most }

    mutating func allows(at time: Double, claims: Bool) -> Bool {
        guard isSpent else { return true }
        guard time >= resumesAt else { return false }
        if claims { resumesAt = time + 1 }
        return true
    }

    mutating func help() {
        count = 0
    }

    mutating func relax() {
        if count > 0 { count = max(0, count - Self.relief) }
    }

    /// Counts a request whose extra attempts were useless.
    ///
    /// After the third such request in a row, the endpoint gets no extra attempt for one second per extra attempt of
    /// that request. Each further such request doubles this time, up to `longestPause`.
    mutating func waste(_ attempts: Int, at time: Double, longestPause: Double) {
        count = min(count + 1, 8)
        guard isSpent else { return }
        var pause = 1.0
        for _ in 0..<Int(count - Self.most) { pause *= 2 }
        resumesAt = time + Double(attempts) * min(longestPause, pause)
    }
}
