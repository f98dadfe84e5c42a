/// A step of the demo.
///
/// It shows a feature of the library and checks a statement about it.
protocol DemoStep: Sendable {
    /// The heading of the step.
    var title: String { get }
    /// Whether ``SteadyTraffic`` runs during the step; the default is `false`.
    var needsTraffic: Bool { get }

    /// Runs the step.
    ///
    /// - Throws: ``BrokenClaim`` if the statement of the step is false, or any other error of the step.
    func run(on stage: DemoStage) async throws
}

extension DemoStep {
    var needsTraffic: Bool { false }
}

/// An error for a statement of a demo step that turned out to be false.
struct BrokenClaim: Error, CustomStringConvertible {
    private let statement: String

    init(_ statement: String) { self.statement = statement }

    var description: String { "not true: \(statement)" }
}
