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

/// One reason to mark a client's figures.
struct HarmMark: Encodable, Sendable, Equatable {
    /// What is worse than it may be.
    enum Subject: String, Encodable, Sendable {
        case unsent
        case wellFailures
        case oddFailures
        case anyFailure
        case wellWait
        case oddWait
        case wellLimit
        case oddLimit
        case requests
        case switches

        /// Whether the noise of a machine can do it.
        var mayBeChance: Bool { [.wellWait, .oddWait, .wellLimit, .oddLimit].contains(self) }
    }

    var subject: Subject
    var text: String

    init(_ subject: Subject, _ text: String) {
        self.subject = subject
        self.text = text
    }
}

extension [HarmMark] {
    /// Whether there are marks, and chance can have made all of them.
    var mayBeChance: Bool { !isEmpty && allSatisfy(\.subject.mayBeChance) }

    /// What is left when the world has been played again: what chance can do has to happen each time, all else once.
    func confirmed(by others: [HarmMark]) -> [HarmMark] {
        filter { mark in !mark.subject.mayBeChance || others.contains { $0.subject == mark.subject } }
            + others.filter { other in
                !other.subject.mayBeChance && !contains { $0.subject == other.subject }
            }
    }
}

/// Says where a client with switching fared worse than one without, in the same world and the same seconds.
struct HarmJudgement: Sendable {
    var limits: HarmLimits
    /// The client without switching.
    var off: HarmFigures

    /// Requests that a client may spend in any world to learn what it is in.
    static let learning = 10

    /// The reasons to mark a client's figures; none when it did no harm and reached what was asked.
    func marks(of figures: HarmFigures) -> [HarmMark] {
        failures(of: figures) + wellWaits(of: figures.well) + oddWaits(of: figures.odd)
            + (limits.areAlike ? costs(of: figures) : [])
    }

    private func failures(of figures: HarmFigures) -> [HarmMark] {
        var marks: [HarmMark] = []
        if figures.unsent > 0 { marks.append(HarmMark(.unsent, "\(figures.unsent) calls failed unsent")) }
        if exceeds(figures.well, off.well) {
            marks.append(HarmMark(.wellFailures, comparison(figures.well, off.well, "well")))
        }
        if exceeds(figures.odd, off.odd) {
            marks.append(HarmMark(.oddFailures, comparison(figures.odd, off.odd, "odd")))
        }
        if limits.failsNone, figures.all.failed > 0 {
            marks.append(HarmMark(.anyFailure, "\(figures.all.failed) calls failed, none should"))
        }
        return marks
    }

    /// Whether calls fail more often than without switching, by more than chance.
    ///
    /// Chance is three standard deviations of the difference, and a twentieth of the rate since calls fail in bouts: nothing
    /// where no call fails without switching.
    private func exceeds(_ calls: HarmFigures.Calls, _ others: HarmFigures.Calls) -> Bool {
        guard calls.count > 0, others.count > 0 else { return false }
        let rate = others.failureRate
        let deviation = (rate * (1 - rate) * (1 / Double(calls.count) + 1 / Double(others.count))).squareRoot()
        return calls.failureRate > 1.05 * rate + 3 * deviation
    }

    private func comparison(_ calls: HarmFigures.Calls, _ others: HarmFigures.Calls, _ name: String) -> String {
        let rates = String(format: "%.2f %% of %@ calls failed, ", calls.failureRate * 100, name)
        return rates + String(format: "%.2f %% without switching", others.failureRate * 100)
    }

    private func wellWaits(of calls: HarmFigures.Calls) -> [HarmMark] {
        [
            wait(of: calls, over: off.well, "well").map { HarmMark(.wellWait, $0) },
            wait(of: calls, limit: limits.wellP99, "well").map { HarmMark(.wellLimit, $0) },
        ].compactMap(\.self)
    }

    private func oddWaits(of calls: HarmFigures.Calls) -> [HarmMark] {
        [
            wait(of: calls, over: off.odd, "odd").map { HarmMark(.oddWait, $0) },
            wait(of: calls, limit: limits.oddP99, "odd").map { HarmMark(.oddLimit, $0) },
        ].compactMap(\.self)
    }

    private func wait(of calls: HarmFigures.Calls, over others: HarmFigures.Calls, _ name: String) -> String? {
        guard calls.count > 0, calls.p99 > 1.1 * others.p99 + 2 else { return nil }
        return String(format: "p99 of %@ calls %.1f ms > 1.1 x %.1f + 2 ms", name, calls.p99, others.p99)
    }

    private func wait(of calls: HarmFigures.Calls, limit: Double?, _ name: String) -> String? {
        guard calls.count > 0, let limit, calls.p99 > limit else { return nil }
        return String(format: "p99 of %@ calls %.1f ms > %.0f ms", name, calls.p99, limit)
    }

    /// What it took to be no worse, where nothing was to be gained.
    ///
    /// A call that fails without switching and is answered with it may cost one request more.
    private func costs(of figures: HarmFigures) -> [HarmMark] {
        let calls = Double(figures.all.count)
        let gained = max(0, off.all.failureRate - figures.all.failureRate) * calls
        let allowed = limits.perCall * off.requestsPerCall * calls + gained + Double(Self.learning)
        var marks: [HarmMark] = []
        if Double(figures.requests) > allowed {
            let factors = String(format: "> %.2f x %.3f", limits.perCall, off.requestsPerCall)
            let text = String(format: "%.3f requests per call ", figures.requestsPerCall) + factors
            marks.append(HarmMark(.requests, text))
        }
        if figures.switches > 0 { marks.append(HarmMark(.switches, "\(figures.switches) switches among equals")) }
        return marks
    }
}
