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
        "": .left(1), "server": .left(9), "machine": .left(7), "client state": .left(14), "was out": .right(7),
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
        return [
            snapshot.isCurrent ? styled("▶", .cyan) : "",
            snapshot.isCurrent ? styled(snapshot.id, .bold) : snapshot.id,
            styled(condition.rawValue, condition.style),
            styled(snapshot.state.text, snapshot.state.style),
            events.outage(of: snapshot.id)?.figure ?? "-",
            machine?.requestCount.figure ?? "-",
            snapshot.p50?.figure ?? "-",
            snapshot.p99?.figure ?? "-",
        ]
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

extension ServerSnapshot.State {
    fileprivate var text: String {
        switch self {
        case .healthy: "in service"
        case .ejected: "out of service"
        case .trial: "on trial"
        }
    }

    fileprivate var style: Style {
        switch self {
        case .healthy: .green
        case .ejected: .red
        case .trial: .yellow
        }
    }
}
