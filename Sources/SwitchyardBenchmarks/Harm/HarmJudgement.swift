import Foundation

/// What is asked of a client with switching in a world, beside being no worse than one without.
struct HarmLimits: Sendable, Equatable {
    /// Whether the servers are alike, or the first is well, so that callers gain nothing from another one.
    var areAlike = false
    /// The requests per call that are allowed among equals, as a factor of those without switching.
    var perCall = 1.05
    /// The most that the 99th percentile of calls to well endpoints may be, in milliseconds.
    var wellP99: Double?
    /// The same of calls to the odd endpoint.
    var oddP99: Double?
    /// Whether no call may fail.
    var failsNone = false

    static let alike = HarmLimits(areAlike: true)
    /// Callers notice nothing of what is wrong.
    static let masked = HarmLimits(failsNone: true)
}

/// Says where a client with switching fared worse than one without, in the same world and the same seconds.
struct HarmJudgement: Sendable {
    var limits: HarmLimits
    /// The client without switching.
    var off: HarmFigures

    /// Requests that a client may spend in any world to learn what it is in.
    static let learning = 10

    /// The reasons to mark a client's figures; none when it did no harm and reached what was asked.
    func marks(of figures: HarmFigures) -> [String] {
        failures(of: figures)
            + waits(of: figures.well, over: off.well, limit: limits.wellP99, "well")
            + waits(of: figures.odd, over: off.odd, limit: limits.oddP99, "odd")
            + (limits.areAlike ? costs(of: figures) : [])
    }

    private func failures(of figures: HarmFigures) -> [String] {
        var marks: [String] = []
        if figures.unsent > 0 { marks.append("\(figures.unsent) calls failed unsent") }
        if exceeds(figures.well, off.well) { marks.append(comparison(figures.well, off.well, "well")) }
        if exceeds(figures.odd, off.odd) { marks.append(comparison(figures.odd, off.odd, "odd")) }
        if limits.failsNone, figures.all.failed > 0 { marks.append("\(figures.all.failed) calls failed, none should") }
        return marks
    }

    /// Whether calls fail more often than without switching, by more than chance.
    ///
    /// Chance is three standard deviations of the difference, which is nothing where no call fails without switching, or
    /// each does.
    private func exceeds(_ calls: HarmFigures.Calls, _ others: HarmFigures.Calls) -> Bool {
        guard calls.count > 0, others.count > 0 else { return false }
        let rate = others.failureRate
        let deviation = (rate * (1 - rate) * (1 / Double(calls.count) + 1 / Double(others.count))).squareRoot()
        return calls.failureRate > rate + 3 * deviation
    }

    private func comparison(_ calls: HarmFigures.Calls, _ others: HarmFigures.Calls, _ name: String) -> String {
        let rates = String(format: "%.2f %% of %@ calls failed, ", calls.failureRate * 100, name)
        return rates + String(format: "%.2f %% without switching", others.failureRate * 100)
    }

    private func waits(
        of calls: HarmFigures.Calls,
        over others: HarmFigures.Calls,
        limit: Double?,
        _ name: String
    ) -> [String] {
        guard calls.count > 0 else { return [] }
        var marks: [String] = []
        if calls.p99 > 1.1 * others.p99 + 2 {
            marks.append(String(format: "p99 of %@ calls %.1f ms > 1.1 x %.1f + 2 ms", name, calls.p99, others.p99))
        }
        if let limit, calls.p99 > limit {
            marks.append(String(format: "p99 of %@ calls %.1f ms > %.0f ms", name, calls.p99, limit))
        }
        return marks
    }

    /// What it took to be no worse, where nothing was to be gained.
    ///
    /// A call that fails without switching and is answered with it may cost one request more.
    private func costs(of figures: HarmFigures) -> [String] {
        let calls = Double(figures.all.count)
        let gained = max(0, off.all.failureRate - figures.all.failureRate) * calls
        let allowed = limits.perCall * off.requestsPerCall * calls + gained + Double(Self.learning)
        var marks: [String] = []
        if Double(figures.requests) > allowed {
            let factors = String(format: "> %.2f x %.3f", limits.perCall, off.requestsPerCall)
            marks.append(String(format: "%.3f requests per call ", figures.requestsPerCall) + factors)
        }
        if figures.switches > 0 { marks.append("\(figures.switches) switches among equals") }
        return marks
    }
}
