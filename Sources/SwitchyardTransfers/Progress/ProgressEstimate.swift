import Foundation
public import SwitchyardTransport

/// Estimates how much of a request is done: pure, the time is handed in.
///
/// | part | weight with a body to send | without | share done |
/// |---|---|---|---|
/// | sending | 0.6 | 0 | bytes of their total; 1 - 2^(-bytes/1 MiB) while the total is unknown |
/// | waiting | 0.1 | 0.2 | 1 - 2^(-seconds) from the end of sending; 1 with the first byte received |
/// | receiving | 0.3 | 0.8 | as sending |
///
/// What is shown goes a third of the way to the estimate with each step, and never back; at most 0.99.
public struct ProgressEstimate: Sendable, Hashable {
    private var sent: TransferProgress?
    private var received: TransferProgress?
    private var waitsSince = Duration.zero
    /// The share that is shown, 0 to 1.
    public private(set) var shown = 0.0

    /// Creates an estimate of a request that has just begun.
    public init() {}

    /// Takes a report in.
    ///
    /// - Parameters:
    ///   - report: The report.
    ///   - elapsed: The time since the beginning.
    public mutating func take(_ report: TransferProgress, at elapsed: Duration) {
        switch report.direction {
        case .upload:
            sent = report
            waitsSince = elapsed
        case .download: received = report
        }
    }

    /// The share that is estimated, 0 to 1.
    ///
    /// - Parameter elapsed: The time since the beginning.
    /// - Returns: The share.
    public func estimate(at elapsed: Duration) -> Double {
        let (sending, waiting, receiving) = sent == nil ? (0, 0.2, 0.8) : (0.6, 0.1, 0.3)
        let waited = received == nil ? 1 - pow(2, -max(0, (elapsed - waitsSince) / .seconds(1))) : 1
        return sending * Self.share(sent) + waiting * waited + receiving * Self.share(received)
    }

    /// Moves what is shown towards the estimate.
    ///
    /// - Parameter elapsed: The time since the beginning.
    /// - Returns: The share to show.
    public mutating func step(at elapsed: Duration) -> Double {
        let distance = min(0.99, estimate(at: elapsed)) - shown
        if distance > 0 { shown += distance / 3 }
        return shown
    }

    private static func share(_ progress: TransferProgress?) -> Double {
        guard let progress else { return 0 }
        return progress.fraction ?? 1 - pow(2, -Double(progress.completed) / 1_048_576)
    }
}
