import Switchyard

/// The limits within which a run of `yard load` counts as good.
struct LoadThresholds: Sendable {
    static let options: [Arguments.Option] = [
        .value("fail-above", "P", "Exit code 1 if more than this share of the calls fails, such as 1% (default: 0%)."),
        .value(
            "p99-below",
            "T",
            "Exit code 1 unless 99 % of the callers waited for less than this time, such as 200ms or 1.5s."
        ),
    ]

    /// The maximum share of failed calls, from 0 to 1; above it, the exit code is 1.
    let failureShare: Double
    /// The limit in milliseconds for the 99th percentile of the waits, or `nil` for no limit.
    ///
    /// If the percentile is not below the limit, the exit code is 1.
    let p99: Double?

    /// Creates the default limits: no call may fail.
    init() {
        failureShare = 0
        p99 = nil
    }

    init(_ arguments: Arguments) throws(UsageError) {
        failureShare = try arguments.text("fail-above").map(Self.share) ?? 0
        p99 = try arguments.text("p99-below").map(Self.milliseconds)
    }

    /// Returns a sentence for each limit that the calls exceed.
    func problems(of phase: ReportPhase) -> [String] {
        var problems: [String] = []
        let share = Double(phase.failures) / Double(max(1, phase.calls))
        if share > failureShare {
            problems.append("\(share.percent) of the calls failed, but at most \(failureShare.percent) may fail.")
        }
        if let limit = p99, let found = phase.p99, found >= limit {
            problems.append("99 % of the callers waited up to \(found.wait), but must wait less than \(limit.wait).")
        }
        return problems
    }

    private static func share(_ text: String) throws(UsageError) -> Double {
        let digits = text.hasSuffix("%") ? text.dropLast() : ""
        guard let percent = Double(digits), (0...100).contains(percent) else {
            throw UsageError("--fail-above requires a percentage from 0% to 100%, found \"\(text)\"")
        }
        return percent / 100
    }

    private static func milliseconds(_ text: String) throws(UsageError) -> Double {
        let (digits, scale) = text.hasSuffix("ms") ? (text.dropLast(2), 1.0) : (text.dropLast(), 1_000.0)
        guard text.hasSuffix("s"), let number = Double(digits), number > 0, number <= 86_400_000 else {
            throw UsageError("--p99-below requires a time such as 200ms or 1.5s, found \"\(text)\"")
        }
        return number * scale
    }
}
