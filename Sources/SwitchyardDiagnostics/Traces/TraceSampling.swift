/// The rule that decides which traces are recorded.
///
/// A call of a trace that is not recorded still passes the trace on, with the sampled flag unset.
public struct TraceSampling: Sendable, Hashable {
    private var ratio: Double
    private var followsParent = false

    /// Every trace is recorded.
    public static let always = TraceSampling(ratio: 1)
    /// No trace is recorded.
    public static let never = TraceSampling(ratio: 0)

    /// Returns a rule that records a fraction of the traces.
    ///
    /// The identifier of the trace decides, so all programs with the same fraction record the same traces.
    ///
    /// - Parameter ratio: The fraction, from 0 to 1. A value out of range is clamped, and NaN counts as 0.
    /// - Returns: The rule.
    public static func ratio(_ ratio: Double) -> TraceSampling {
        TraceSampling(ratio: ratio.isNaN ? 0 : min(max(ratio, 0), 1))
    }

    /// Returns a rule that follows the sampled flag of the parent, and applies `root` to a trace that starts here.
    public static func parentBased(_ root: TraceSampling = .always) -> TraceSampling {
        TraceSampling(ratio: root.ratio, followsParent: true)
    }

    /// Returns whether a trace is recorded.
    ///
    /// The last 56 bits of the trace identifier are random (W3C Trace Context Level 2 section 3.2.2.5). As a fraction
    /// from 0 to 1, they are compared with `ratio`.
    func isSampled(_ trace: TraceNumber, parent: TraceContext?) -> Bool {
        if followsParent, let parent { return parent.isSampled }
        let place = Double(trace.low & 0xFF_FFFF_FFFF_FFFF) * 0x1p-56
        return ratio >= 1 || place >= 1 - ratio
    }
}
