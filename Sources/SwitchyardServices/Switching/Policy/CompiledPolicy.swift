#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A policy's numbers in the form that the core calculates with: seconds and logarithms.
///
/// All copies of a core share one object, so that many simulated clients do not each store the policy.
final class CompiledPolicy: Sendable {
    let policy: SwitchPolicy
    private let score: ScoreRule
    /// The negative amount that a success adds to the score.
    let successStep: Double
    let scoreThreshold: Double
    let unwitnessedFactor: Double
    let halfLife: Double
    let pathProof: Double
    let window: Double
    let leastShare: Double
    let forgetting: Double
    let doubling: Double
    let clean: Double
    let longestRetryAfter: Double
    let forgiveness: Double
    let minimumInterval: Double
    /// The time, in seconds, until the first token returns to a budget without a success.
    let refill: Double
    /// The time in seconds between two warm-up requests, or `nil` if there are none.
    let warmUp: Double?
    /// The time in seconds after which 1/e of the hedge tokens is left, or `nil` if they do not expire.
    let hedgeTokenLife: Double?
    let shortestHedge: Double
    let earliestHedge: Double
    let unknownHedge: Double
    /// The time in seconds for which a failure of an endpoint is remembered.
    let endpointWindow: Double
    /// The maximum difference in seconds between the mean latency of a server that
    /// ``SelectionStrategy/lowestLatency`` may choose and that of the fastest server (``SwitchPolicy/latencyWindow``).
    let latencyWindow: Float
    private let lateness: LatenessRule
    /// The negative amount that a timely response (``Lateness``) adds to the lateness of a server.
    let timelyStep: Double

    /// Whether clients withhold extra attempts from overloaded servers (``AdmissionRules/sparesOverloaded``).
    let sparesOverloaded: Bool

    init(_ policy: SwitchPolicy) {
        self.policy = policy
        let score = policy.detection.score ?? ScoreRule()
        self.score = score
        successStep = log((1 - score.detected) / (1 - score.tolerated))
        scoreThreshold = score.threshold
        unwitnessedFactor = score.unwitnessedFactor
        halfLife = score.halfLife.inSeconds
        pathProof = policy.detection.pathProof.inSeconds
        window = policy.detection.window.duration?.inSeconds ?? .infinity
        let admission = policy.admission ?? AdmissionRules()
        leastShare = admission.floor
        forgetting = admission.forgetting.inSeconds
        doubling = admission.doubling?.inSeconds ?? .infinity
        clean = admission.clean.inSeconds
        sparesOverloaded = policy.admission?.sparesOverloaded == true
        hedgeTokenLife = sparesOverloaded ? BudgetRules.hedgeTokenLife.inSeconds : nil
        longestRetryAfter = admission.longestRetryAfter.inSeconds
        minimumInterval = policy.minimumInterval.inSeconds
        forgiveness = policy.recovery.forgiveness.inSeconds
        refill = policy.budgets.refill.inSeconds
        warmUp = policy.warmUp?.inSeconds
        shortestHedge = policy.hedging?.shortest.inSeconds ?? .infinity
        earliestHedge = policy.hedging?.earliest.inSeconds ?? .infinity
        unknownHedge = policy.hedging?.unknown.inSeconds ?? .infinity
        endpointWindow = policy.detection.window.duration?.inSeconds ?? 60
        latencyWindow = Float(policy.latencyWindow.inSeconds)
        let lateness = policy.detection.lateness ?? LatenessRule()
        self.lateness = lateness
        timelyStep = log((1 - lateness.detected) / (1 - lateness.tolerated))
    }

    /// Returns the amount that a late response adds to a server's lateness.
    ///
    /// - Parameter others: The share of late responses of the other servers.
    /// - Returns: The amount, or `nil` if that share is so high that a late response is no evidence.
    func lateStep(others: Double) -> Double? {
        let tolerated = max(lateness.tolerated, 1.5 * others)
        return 2 * tolerated <= lateness.detected ? log(lateness.detected / tolerated) : nil
    }

    /// Returns the amount that a confirmed failure of weight 1 adds to the score of a server after `calm` successes at
    /// a score of 0.
    func failureStep(calm: UInt16) -> Double {
        guard let span = score.calmSpan else { return log(score.detected / score.tolerated) }
        let tolerated = max(score.leastTolerated, score.tolerated / (1 + Double(calm) / span))
        return log(score.detected / tolerated)
    }
}
