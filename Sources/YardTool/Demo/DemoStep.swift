/// One step of the demo's story: shows something, and proves it.
protocol DemoStep: Sendable {
    /// What the step shows, as a heading.
    var title: String { get }
    /// Whether callers keep asking while it runs; default is no.
    var needsTraffic: Bool { get }

    /// Shows it.
    ///
    /// - Throws: ``BrokenClaim`` when it did not come true, or whatever went wrong.
    func run(on stage: DemoStage) async throws
}

extension DemoStep {
    var needsTraffic: Bool { false }
}

/// Something that the demo says about the library did not come true.
struct BrokenClaim: Error, CustomStringConvertible {
    let description: String
}
