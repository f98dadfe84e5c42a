import Switchyard
import SwitchyardStreams
import SwitchyardTesting

/// A table of the servers.
///
/// For each demo server, it shows the state as the client sees it and the real condition of the server.
struct ServerTable {
    let snapshots: [ServerSnapshot]
    let forum: Forum
    let events: ServerEvents
    let tally: SteadyTraffic.Tally
    let callers: Int
    /// A function that returns the text in a style if the output supports styles.
    let styled: (String, Style) -> String

    private static let columns: KeyValuePairs<String, TextTable.Alignment> = [
        "": .left(1), "server": .left(9), "machine": .left(7), "client state": .left(18), "errors": .right(6),
        "requests": .right(8), "response p50": .right(7), "p99": .right(7),
    ]

    /// The lines of the table, and a last line with the totals of the ``SteadyTraffic``: its callers, calls, failures
    /// and the slowest call.
    var lines: [String] {
        var table = TextTable(Self.columns)
        for snapshot in snapshots { table.add(row(snapshot)) }
        let failures = styled("\(tally.failures) failed", tally.failures == 0 ? .green : .red)
        let callers = "   \(callers) callers: \(tally.calls.figure) calls, \(failures), slowest \(tally.slowest.figure)"
        return table.lines.enumerated().map { $0.offset == 0 ? styled($0.element, .dim) : $0.element } + [callers]
    }

    private func row(_ snapshot: ServerSnapshot) -> [String] {
        let machine = forum.machine(named: snapshot.id)
        let condition = machine.map(Condition.init) ?? .works
        // After an ejection, the client's counts for the server start at 0, so the table shows the statistics that led
        // to the ejection.
        let statistics = snapshot.state == .healthy ? nil : events.ejection(of: snapshot.id)
        return [
            snapshot.isCurrent ? styled("▶", .cyan) : "",
            snapshot.isCurrent ? styled(snapshot.id, .bold) : snapshot.id,
            styled(condition.rawValue, condition.style),
            styled("\(snapshot.state)", snapshot.state.style) + (statistics?.lastFailure.map { ": \($0)" } ?? ""),
            errors(snapshot, statistics),
            machine?.requestCount.figure ?? "-",
            snapshot.p50?.figure ?? "-",
            snapshot.p99?.figure ?? "-",
        ]
    }

    /// The share of recent requests that failed.
    ///
    /// For a server that is out of service, this is the share that led to its ejection, or a dash if the server was
    /// ejected for another reason, such as late responses.
    private func errors(_ snapshot: ServerSnapshot, _ ejection: HealthStatistics?) -> String {
        let figures = ejection ?? snapshot.statistics
        if snapshot.state != .healthy, figures.failures == 0 { return "-" }
        return "\(Int((figures.errorRatio * 100).rounded(.up))) %"
    }
}

/// The real condition of a demo server.
private enum Condition: String {
    case works
    case dead
    case hangs

    init(_ machine: ForumServer) {
        self =
            switch machine.server.fault {
            case nil: .works
            case .refuse: .dead
            default: .hangs
            }
    }

    var style: Style { self == .works ? .green : .red }
}

extension HealthState {
    fileprivate var style: Style {
        switch self {
        case .healthy: .green
        case .ejected: .red
        case .trial: .yellow
        }
    }
}
