/// A record of whether one server has failed because of overload for some time, without a response in between.
///
/// A single timeout, or a second in which everything is slow, is not enough.
struct LastingOverload: Sendable {
    /// The minimum number of failures since the last response for the overload to count as lasting.
    private static let leastFailures: UInt8 = 2
    /// The minimum time in seconds without a response for the overload to count as lasting.
    private static let leastSilence = 10.0
    /// The seconds after which a failure no longer counts, because the server may have recovered without being used.
    private static let validity = 60.0

    private var failures: UInt8 = 0
    private var failedAt = -1e9
    private var respondedAt = -1e9

    /// Records a timeout, or a rejection such as status 503.
    mutating func recordFailure(at time: Double) {
        if failures < .max { failures += 1 }
        failedAt = time
    }

    /// Records a response.
    mutating func recordResponse(at time: Double) {
        failures = 0
        respondedAt = time
    }

    /// Whether the server is overloaded at the given time.
    func holds(at time: Double) -> Bool {
        failures >= Self.leastFailures && time - respondedAt >= Self.leastSilence && time - failedAt < Self.validity
    }
}
