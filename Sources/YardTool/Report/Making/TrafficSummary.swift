import Switchyard
import SwitchyardInspector

/// A one-sentence summary of a run: the failed servers, the cause of the switch and the recovery in order of time, and
/// the effect on the calls.
struct TrafficSummary {
    let report: Report
    let outages: [Outage]

    /// The maximum number of faults that the summary describes one by one.
    private static let mostTold = 3
    /// The maximum time in seconds between an ejection and a switch that counts as immediate.
    private static let longestSwitch = 0.01

    var text: String {
        guard !outages.isEmpty else { return "\(calm), and no server was taken out of service." }
        let told = groups.prefix(Self.mostTold)
        let rest = groups.count - told.count
        let events =
            told.map { ($0.outage.from, beginning($0.outage, $0.name)) }
            + told.map { ($0.outage.until ?? .infinity, ending($0.outage, $0.name)) }
        let more = rest > 0 ? ["\(rest.figure("more fault", "more faults")) followed"] : []
        let sorted = events.enumerated().sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }
        return (sorted.map(\.element.1) + more + [callers]).joined(separator: "; ") + "."
    }

    /// The outages with the names of their servers.
    ///
    /// Servers that failed at the same time without an ejection are named together.
    private var groups: [(name: String, outage: Outage)] {
        let groups = outages.reduce(into: [[Outage]]()) { groups, outage in
            if let last = groups.last?.last, outage.ejectedAt == nil, last.ejectedAt == nil, last.from == outage.from,
                last.until == outage.until, last.what == outage.what
            {
                groups[groups.count - 1].append(outage)
            } else {
                groups.append([outage])
            }
        }
        return groups.compactMap { group in group.first.map { (report.names(of: group.map(\.server)), $0) } }
    }

    private var calm: String {
        let all = phase(.all)
        let slowest = all.max.map { ", the slowest after \($0.wait)" } ?? ""
        return all.failures == 0
            ? "All \(all.calls.figure) calls succeeded\(slowest)"
            : "Of \(all.calls.figure) calls, \(all.failureWords)\(slowest)"
    }

    private func beginning(_ outage: Outage, _ name: String) -> String {
        let when = outage.isKnown ? "at \(outage.from.moment)" : "from \(outage.from.moment) on"
        let start = "\(name) \(outage.what) \(when)"
        let hasHeir = report.impact(of: outage).map { !report.leavesNoServer($0) } ?? true
        guard let ejectedAt = outage.ejectedAt, let cause = outage.cause, hasHeir else {
            return "\(start)\(report.faults.ending(ofServers: report.servers.count, at: outage.from))"
        }
        guard let move = outage.move else {
            let why = outage.isSlow ? "" : ", because \(cause.why(from: name, to: name))"
            return "\(start), and was taken out of service at \(ejectedAt.moment)\(why)"
        }
        // Usually the client switches immediately. The delay is then measured until the ejection, because the table of
        // faults also shows the time of the ejection.
        let isPrompt = abs(move.at - ejectedAt) < Self.longestSwitch
        let delay = Duration.seconds(max(0, (isPrompt ? ejectedAt : move.at) - outage.from)).figure
        let heir = report.servers[move.to]
        let why = outage.isSlow ? "" : ", because \(cause.why(from: name, to: heir))"
        return "\(start), and \(delay) later calls went to \(heir)\(why)"
    }

    private var callers: String {
        let during = phase(.during)
        guard let max = during.max else { return "there were no calls during the \(report.faultWord)" }
        let start = "of \(during.calls.figure) calls during the \(report.faultWord), \(during.failureWords), and"
        guard let p99 = during.percentiles[2] else { return "\(start) the slowest took \(max.wait)" }
        let usual = phase(.before).percentiles[2].map { " (before: \($0.wait))" } ?? ""
        return "\(start) 99 in 100 ended within \(p99.wait)\(usual), the slowest after \(max.wait)"
    }

    private func ending(_ outage: Outage, _ name: String) -> String {
        guard let until = outage.until else {
            return outage.isSlow
                ? "\(name) was still out of service at the end" : "\(name) had not recovered by the end"
        }
        if outage.isUntried { return "\(name) was not tried again after \(until.moment)" }
        if outage.ejectedAt == nil { return "the failures at \(name) ended at \(until.moment)" }
        let well = "\(name) \(outage.isKnown ? "recovered" : "had visibly recovered") at \(until.moment)"
        return outage.backAt.map { "\(well) and received its calls again at \($0.moment)" } ?? well
    }

    private func phase(_ name: ReportPhase.Name) -> ReportPhase {
        report.phases.first { $0.name == name } ?? ReportPhase(name: name, calls: 0, failures: 0)
    }
}

extension Report {
    /// Returns the effect of an outage on the calls.
    fileprivate func impact(of outage: Outage) -> ReportImpact? {
        impacts.first { $0.server == outage.server && $0.from == outage.from }
    }
}

extension Double {
    /// The time in seconds since the start: `5.0 s`.
    var moment: String { "\(rounded(places: 1)) s" }

    /// The number as a wait in milliseconds: `0.42 ms`, `38 ms`, `1.5 s`.
    var wait: String { Duration.milliseconds(self).figure }
}
