import Testing

/// What became of one case.
enum CaseOutcome: Equatable {
    /// The core did what the case expects.
    case passed
    /// There is no such notion here; the sentence says which.
    case notApplicable(String)
    /// The core does something else on purpose; the sentence says what.
    case differs(String)
    /// The core did something else.
    case failed(String)

    /// Passed when two values are equal; with nothing expected, everything is right.
    static func compare<Value: Equatable>(_ actual: Value?, _ expected: Value?) -> CaseOutcome {
        guard let expected, actual != expected else { return .passed }
        return .failed("got \(actual.map { "\($0)" } ?? "nothing"), expected \(expected)")
    }

    /// The first of several that did not pass.
    static func all(_ outcomes: [CaseOutcome]) -> CaseOutcome {
        outcomes.first { $0 != .passed } ?? .passed
    }

    /// The outcome, where a failure is a difference on purpose.
    func or(_ reason: String, if isDeliberate: Bool = true) -> CaseOutcome {
        guard isDeliberate, case .failed = self else { return self }
        return .differs(reason)
    }
}
