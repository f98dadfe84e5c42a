/// A step of the demo.
///
/// It shows a feature of the library and verifies a claim about it.
protocol DemoStep: Sendable {
    /// The heading of the step.
    var title: String { get }
    /// Whether ``SteadyTraffic`` runs during the step; the default is `false`.
    var needsTraffic: Bool { get }

    /// Runs the step.
    ///
    /// - Throws: ``BrokenClaim`` if the claim is not true, or any other error of the step.
    func run(on stage: DemoStage) async throws
}

extension DemoStep {
    var needsTraffic: Bool { false }
}

/// An error that reports a false claim of the demo.
struct BrokenClaim: Error, CustomStringConvertible {
    let description: String
}
