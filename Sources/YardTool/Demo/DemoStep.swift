/// A step of the demo, which shows and verifies a claim.
protocol DemoStep: Sendable {
    /// The heading of the step.
    var title: String { get }
    /// Whether callers send steady traffic during the step; the default is `false`.
    var needsTraffic: Bool { get }

    /// Runs the step.
    ///
    /// - Throws: ``BrokenClaim`` if the claim is not true, or any other error of the step.
    func run(on stage: DemoStage) async throws
}

extension DemoStep {
    var needsTraffic: Bool { false }
}

/// An error for a claim of the demo that is not true.
struct BrokenClaim: Error, CustomStringConvertible {
    let description: String
}
