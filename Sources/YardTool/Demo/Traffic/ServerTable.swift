import Switchyard
import SwitchyardTesting

/// The servers as the client sees them, beside what was done to them.
struct ServerTable {
    let snapshots: [ServerSnapshot]
    let forum: Forum
    let tally: SteadyTraffic.Tally
    let callers: Int
    /// The text in a style, where there are any.
    let styled: (String, Style) -> String

    /// The table, and a line about the callers below it.
    var lines: [String] {
        var table = TextTable([
            "": .left, "server": .left, "machine": .left, "client says": .left, "errors": .right, "requests": .right,
            "p50": .right, "p99": .right,
        ])
        for snapshot in snapshots { table.add(row(snapshot)) }
        let failures = styled("\(tally.failures) failed", tally.failures == 0 ? .green : .red)
        let callers = "\(callers) callers: \(tally.calls.figure) calls, \(failures), slowest \(tally.slowest.figure)"
        return table.lines.enumerated().map { $0.offset == 0 ? styled($0.element, .dim) : $0.element } + [callers]
    }

    private func row(_ snapshot: ServerSnapshot) -> [String] {
        let machine = forum.machine(named: snapshot.id)
        let condition = machine.map(Condition.init) ?? .works
        return [
            snapshot.isCurrent ? styled("▶", .cyan) : "",
            snapshot.isCurrent ? styled(snapshot.id, .bold) : snapshot.id,
            styled(condition.rawValue, condition.style),
            styled("\(snapshot.state)", snapshot.state.style),
            "\(Int((snapshot.statistics.errorRatio * 100).rounded())) %",
            machine?.requestCount.figure ?? "-",
            snapshot.p50?.figure ?? "-",
            snapshot.p99?.figure ?? "-",
        ]
    }
}

/// What was done to a machine.
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
