import Foundation
public import SwitchyardTransport

/// An estimate of the completed fraction of a request.
///
/// The estimate has no clock. Its user passes the elapsed time.
///
/// | part of the request | weight with a request body | weight without a request body | completed fraction |
/// |---|---|---|---|
/// | sending | 0.6 | 0 | bytes divided by the total; 1 - 2^(-bytes/1 MiB) while the total is unknown |
/// | waiting | 0.1 | 0.2 | 1 - 2^(-seconds since the end of sending); 1 once the first byte is received |
/// | receiving | 0.3 | 0.8 | as sending |
///
/// With each step, the displayed fraction moves a third of the way to the estimate. It never decreases and is at most
/// 0.99.
public struct ProgressEstimate: Sendable, Hashable {
    private var sent: TransferProgress?
    private var received: TransferProgress?
    private var waitsSince = Duration.zero
    /// The fraction to display, 0 to 1, as of the last ``step(at:)``.
    public private(set) var shown = 0.0

    /// Creates an estimate for a request that has just started.
    public init() {}

    /// Adds a progress report.
    ///
    /// - Parameters:
    ///   - report: The report.
    ///   - elapsed: The time since the start of the request.
    public mutating func take(_ report: TransferProgress, at elapsed: Duration) {
        switch report.direction {
        case .upload:
            sent = report
            waitsSince = elapsed
        case .download: received = report
        }
    }

    /// Returns the estimated fraction, before smoothing.
    ///
    /// - Parameter elapsed: The time since the start of the request.
    /// - Returns: The completed fraction of the request, 0 to 1.
    public func estimate(at elapsed: Duration) -> Double {
        let (sending, waiting, receiving) = sent == nil ? (0, 0.2, 0.8) : (0.6, 0.1, 0.3)
        let waited = received == nil ? 1 - pow(2, -max(0, (elapsed - waitsSince) / .seconds(1))) : 1
        return sending * Self.share(sent) + waiting * waited + receiving * Self.share(received)
    }

    /// Moves the displayed fraction towards the estimate.
    ///
    /// - Parameter elapsed: The time since the start of the request.
    /// - Returns: The fraction to display.
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
