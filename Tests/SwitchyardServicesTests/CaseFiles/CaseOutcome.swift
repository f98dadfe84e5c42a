import Testing

/// The outcome of a case.
enum CaseOutcome: Equatable {
    /// The core behaved as the case expects.
    case passed
    /// The core has no such feature; the sentence names it.
    case notApplicable(String)
    /// The core deliberately behaves differently; the sentence says how.
    case differs(String)
    /// The core behaved differently.
    case failed(String)

    /// Passes if the values are equal or if no value is expected.
    static func compare<Value: Equatable>(_ actual: Value?, _ expected: Value?) -> CaseOutcome {
        guard let expected, actual != expected else { return .passed }
        return .failed("got \(actual.map { "\($0)" } ?? "nothing"), expected \(expected)")
    }

    /// The first outcome that is not a pass.
    static func all(_ outcomes: [CaseOutcome]) -> CaseOutcome {
        outcomes.first { $0 != .passed } ?? .passed
    }

    /// This outcome, or a deliberate difference in place of a failure.
    func or(_ reason: String, if isDeliberate: Bool = true) -> CaseOutcome {
        guard isDeliberate, case .failed = self else { return self }
        return .differs(reason)
    }
}
