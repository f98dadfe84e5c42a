import Foundation

extension World: CustomStringConvertible {
    /// A description of the world (the random scenario) with a line for each part.
    var description: String {
        let parts = [
            "\(servers) server\(servers == 1 ? "" : "s"), responses take \(latency.median.inWords) (spread \(latency.spread.rounded(to: 2)))",
            "\(traffic)",
        ]
        let calls = endpoints.enumerated().map { index, endpoint in
            "e\(index): \(endpoint.kind.rawValue), \(endpoint.shape), weight \(endpoint.weight.rounded(to: 2))"
        }
        let roles = arrangement.map { ["\($0)"] } ?? []
        return (parts + calls + roles + troubles.map(\.description)).joined(separator: "\n")
    }
}

extension Traffic: CustomStringConvertible {
    /// A description of the traffic.
    var description: String {
        let how =
            switch arrival {
            case .open(let rate, let burst): "\(rate.rounded(to: 2)) per second, \(burst) at the same time"
            case .closed(let callers, let pause):
                "by \(callers) callers, each with a pause of \(pause.inWords) between two calls"
            }
        let deadline =
            deadlines.lowerBound == deadlines.upperBound
            ? deadlines.lowerBound.inWords : "\(deadlines.lowerBound.inWords) to \(deadlines.upperBound.inWords)"
        let shares = [("low", lowShare), ("high", highShare)].filter { $0.1 > 0 }
            .map { ", \(($0.1 * 100).rounded(to: 0)) % with \($0.0) priority" }
        return "\(calls) calls, \(how), deadline \(deadline)" + shares.joined()
    }
}

extension Trouble: CustomStringConvertible {
    /// A description of the fault with its place, time and frequency.
    var description: String {
        let place = [server.map { "s\($0)" } ?? "every server", endpoint.map { "e\($0)" }].compactMap(\.self)
        let part = share < 1 ? ", \((share * 100).rounded(to: 1)) % of the \(isOfCall ? "calls" : "requests")" : ""
        return place.joined(separator: " ") + ": \(fault)" + part + (window.map { ", \($0)" } ?? "")
    }
}

extension Trouble.Fault: CustomStringConvertible {
    /// A description of the kind of fault.
    var description: String {
        switch self {
        case .status(let status, let pause): "responds with \(status)" + (pause.map { " with Retry-After \($0)" } ?? "")
        case .slow(let time): "slower by \(time.inWords)"
        case .hang: "hangs"
        case .blackHole: "loses all packets"
        case .refused: "refuses connections"
        case .reset: "resets connections"
        case .truncated: "truncates responses"
        case .garbage: "responds with garbage"
        case .quota(let most, let period, let isPerServer):
            "responds with 429 after \(most) calls in \(period.inWords)" + (isPerServer ? " per server" : "")
        }
    }
}

extension Trouble.Window: CustomStringConvertible {
    /// A description of the time window.
    var description: String {
        let span = end == .infinity ? "from \(begin.inWords)" : "from \(begin.inWords) to \(end.inWords)"
        return span + (cycle.map { ", \($0.bad.inWords) of every \($0.period.inWords)" } ?? "")
    }
}

extension Double {
    /// The number of seconds as text.
    var inWords: String {
        abs(self) < 1 ? "\((self * 1000).rounded(to: self < 0.01 ? 2 : 0)) ms" : "\(rounded(to: 3)) s"
    }

    /// Returns the number with up to this number of decimal places.
    func rounded(to digits: Int) -> String {
        let text = String(format: "%.\(digits)f", self)
        guard text.contains(".") else { return text }
        let cut = text.reversed().drop { $0 == "0" }
        return String((cut.first == "." ? cut.dropFirst() : cut).reversed())
    }
}
