import Switchyard

/// A period without a successful call, or a period of failed calls during which no failed server was ejected.
///
/// An ejection takes a failed server out of use for a time.
struct FailingPeriod: Sendable, Equatable {
    /// The time at which the first failed call was due.
    var from: Double
    /// The end of the period.
    ///
    /// If no call succeeded in the period, this is the time at which the next successful call was due, or `nil` if no
    /// later call succeeded. Otherwise it is the time at which the last failed call was due.
    var until: Double?
    /// The servers at which the calls failed.
    var servers: [Int]
    /// A description of the failure, such as `refused connections`.
    var what: String
    /// Whether no call succeeded in the period.
    var isComplete: Bool

    /// The minimum number of failed calls in a period.
    private static let leastCalls = 3
    /// The minimum length in seconds of a period without a successful call.
    ///
    /// If all calls of the run failed, there is no minimum.
    private static let leastSeconds = 0.5
    /// The maximum time in seconds between two failed calls of one period.
    private static let longestGap = 2.0

    /// Returns the periods without any successful call, and the other periods of failed calls.
    ///
    /// Failed calls during the outages in `ejections` are ignored, and so are failures that are not the fault of a
    /// server, such as a response with status 404.
    static func all(in story: TrafficStory, apartFrom ejections: [Outage]) -> [FailingPeriod] {
        let complete = complete(in: story)
        let failed = calls(of: story).filter { call in
            guard call.failure?.blamesServer == true else { return false }
            let start = story.second(call.start)
            return !ejections.contains { $0.from <= start && start < $0.until ?? .infinity }
                && !complete.contains { $0.from <= start && start < $0.until ?? .infinity }
        }
        let groups = failed.reduce(into: [[RecordedCall]]()) { groups, call in
            if let last = groups.last?.last, story.second(call.start) - story.second(last.start) <= longestGap {
                groups[groups.count - 1].append(call)
            } else {
                groups.append([call])
            }
        }
        let partial = groups.filter { $0.count >= leastCalls }.map { group in
            let end = group.last.map { story.second($0.start) }
            return FailingPeriod(group, until: end, isComplete: false, in: story)
        }
        return (complete + partial).filter { !$0.servers.isEmpty }.sorted { $0.from < $1.from }
    }

    /// Returns the time at which the failures of a server started.
    ///
    /// If calls failed over from the server immediately before the period, this is the due time of the first of these
    /// calls.
    func start(of server: Int, in story: TrafficStory) -> Double {
        guard isComplete else { return from }
        let before = Self.calls(of: story).filter { story.second($0.start) < from }
        let moved = before.reversed().prefix { Self.hasFailedOver($0, from: server, in: story) }
        return moved.last.map { story.second($0.start) } ?? from
    }

    /// Returns the time at which the failures of a server ended, or `nil` if they did not end.
    ///
    /// If calls failed over from the server after the period, this is the due time of the first call after these calls.
    func end(of server: Int, in story: TrafficStory) -> Double? {
        guard isComplete, var end = until else { return until }
        for call in Self.calls(of: story) {
            let start = story.second(call.start)
            guard start >= end else { continue }
            end = start
            guard Self.hasFailedOver(call, from: server, in: story) else { break }
        }
        return end
    }

    /// Returns whether a call failed over from a server to another server.
    private static func hasFailedOver(_ call: RecordedCall, from server: Int, in story: TrafficStory) -> Bool {
        call.way == .failedOver && story.place(call.server) != server
            && call.sent.contains { story.place($0.server) == server }
    }

    /// Returns the periods in which no call succeeded and every server failed.
    static func withoutServer(in story: TrafficStory) -> [FailingPeriod] {
        complete(in: story).filter { $0.servers.count == story.servers.count }
    }

    /// Returns the periods in which no call succeeded.
    private static func complete(in story: TrafficStory) -> [FailingPeriod] {
        let calls = calls(of: story)
        var (periods, run): ([FailingPeriod], [RecordedCall]) = ([], [])
        func close(until end: Double?) {
            defer { run = [] }
            guard run.count >= leastCalls, let first = run.first, let last = run.last else { return }
            let length = (first.start.duration(to: last.start)) / .seconds(1)
            guard length >= leastSeconds || run.count == calls.count else { return }
            periods.append(FailingPeriod(run, until: end, isComplete: true, in: story))
        }
        for call in calls {
            switch call.failure {
            case nil: close(until: story.second(call.start))
            case let kind? where kind.blamesServer: run.append(call)
            default: break
            }
        }
        close(until: nil)
        return periods
    }

    private static func calls(of story: TrafficStory) -> [RecordedCall] {
        story.notes.calls.sorted { $0.start < $1.start }
    }

    private init(_ calls: [RecordedCall], until end: Double?, isComplete: Bool, in story: TrafficStory) {
        from = calls.first.map { story.second($0.start) } ?? 0
        until = end
        self.isComplete = isComplete
        // If the attempts of a call are unknown, only its last server is known. If it had as many attempts as there are
        // servers, it failed at every server.
        let last = calls.compactMap { story.place($0.server) }
        let earlier = isComplete ? calls.flatMap(\.sent).compactMap { story.place($0.server) } : []
        let met = Set(last + earlier)
        let metAll = isComplete && calls.contains { $0.attempts >= story.servers.count }
        servers = metAll ? Array(story.servers.indices) : met.sorted()
        let kinds = Dictionary(grouping: calls.compactMap(\.failure)) { $0 }.mapValues(\.count)
        let main = kinds.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key ?? ""
        what = main.deed
    }
}

extension String {
    /// A kind of failure as a part of a sentence whose subject is the server.
    fileprivate var deed: String {
        switch self {
        case "refused": "refused connections"
        case "dns": "was not found by DNS"
        case "tls": "failed the TLS handshake"
        case "certificate": "presented an untrusted certificate"
        case "connectTimeout": "did not accept connections in time"
        case "timeout": "did not respond in time"
        case "reset": "reset connections"
        case "truncated": "truncated its responses"
        case "protocol": "sent invalid HTTP"
        case let kind where kind.hasPrefix("http"): "responded with \(kind.dropFirst(4))"
        default: "failed"
        }
    }
}

extension ReportState {
    /// Returns the state split into parts.
    ///
    /// A part in which the server failed but was in service is ``Kind/failing``.
    func showing(_ outages: [Outage]) -> [ReportState] {
        guard state == .inUse || state == .standby else { return [self] }
        let failing = outages.filter { !$0.isSlow && $0.server == server }
        var (parts, start): ([ReportState], Double) = ([], from)
        for outage in failing {
            let (begin, end) = (max(start, outage.from), min(until, outage.until ?? .infinity))
            guard begin < end else { continue }
            if start < begin { parts.append(ReportState(server: server, from: start, until: begin, state: state)) }
            parts.append(ReportState(server: server, from: begin, until: end, state: .failing))
            start = end
        }
        if start < until { parts.append(ReportState(server: server, from: start, until: until, state: state)) }
        return parts
    }
}
