import Foundation

/// The limits that a client with switching must keep in a scenario.
///
/// In addition, such a client must not be worse than a client without switching.
struct HarmLimits: Sendable, Equatable {
    /// Whether another server would not help callers, because the servers behave alike or the first server is healthy.
    var areAlike = false
    /// The maximum of the requests per call if ``areAlike`` is `true`, as a multiple of those of the client without
    /// switching.
    var perCall = 1.05
    /// The maximum 99th percentile of the wait for calls to healthy endpoints in milliseconds, or `nil` for no limit.
    var wellP99: Double?
    /// The maximum 99th percentile of the wait for calls to the odd endpoint, which is the one that misbehaves
    /// (``Oddity``).
    ///
    /// The value is in milliseconds, or `nil` for no limit.
    var oddP99: Double?
    /// Whether all calls must succeed.
    var failsNone = false

    static let alike = HarmLimits(areAlike: true)
    /// The limits for a scenario in which callers must not notice the fault: no call may fail.
    static let masked = HarmLimits(failsNone: true)
}

/// A mark: one reason why a client is marked in the output as worse than allowed.
struct HarmMark: Encodable, Sendable, Equatable {
    /// The criterion that the client does not meet.
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

        /// Whether the noise of the machine can cause a mark with this criterion.
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
    /// Whether there are marks and the noise of the machine can cause all of them.
    var mayBeChance: Bool { !isEmpty && allSatisfy(\.subject.mayBeChance) }

    /// Returns the marks that remain after the scenario was run a second time.
    ///
    /// A mark that noise can cause remains only if both runs have it. Any other mark remains if one of the runs has it.
    func confirmed(by others: [HarmMark]) -> [HarmMark] {
        filter { mark in !mark.subject.mayBeChance || others.contains { $0.subject == mark.subject } }
            + others.filter { other in
                !other.subject.mayBeChance && !contains { $0.subject == other.subject }
            }
    }
}

/// The criteria that decide whether a client with switching was worse than a client without switching in the same
/// scenario at the same time.
struct HarmJudgement: Sendable {
    var limits: HarmLimits
    /// The statistics of the client without switching.
    var off: HarmFigures

    /// The number of additional requests that a client may send in any scenario to find out how the servers behave.
    static let learning = 10

    /// Returns the marks of a client, or an empty array if the client was not worse and kept the limits.
    func marks(of figures: HarmFigures) -> [HarmMark] {
        failures(of: figures) + wellWaits(of: figures.well) + oddWaits(of: figures.odd)
            + (limits.areAlike ? costs(of: figures) : [])
    }

    private func failures(of figures: HarmFigures) -> [HarmMark] {
        var marks: [HarmMark] = []
        if figures.unsent > 0 { marks.append(HarmMark(.unsent, "\(figures.unsent) calls failed without being sent")) }
        if exceeds(figures.well, off.well) {
            marks.append(HarmMark(.wellFailures, comparison(figures.well, off.well, "other")))
        }
        if exceeds(figures.odd, off.odd) {
            marks.append(HarmMark(.oddFailures, comparison(figures.odd, off.odd, "odd")))
        }
        if limits.failsNone, figures.all.failed > 0 {
            marks.append(HarmMark(.anyFailure, "\(figures.all.failed) calls failed, expected none"))
        }
        return marks
    }

    /// Returns whether calls fail significantly more often than the calls of the client without switching.
    ///
    /// The tolerance is three standard deviations of the difference plus 5 % of the rate, because failures occur in
    /// clusters. If no call of the client without switching fails, there is no tolerance.
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
            wait(of: calls, over: off.well, "other").map { HarmMark(.wellWait, $0) },
            wait(of: calls, limit: limits.wellP99, "other").map { HarmMark(.wellLimit, $0) },
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

    /// Returns the marks for additional requests and switches in a scenario in which another server would not help.
    ///
    /// For each call that fails without switching and succeeds with switching, one additional request is allowed.
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
        if figures.switches > 0 {
            marks.append(HarmMark(.switches, "\(figures.switches) switches between equal servers"))
        }
        return marks
    }
}
