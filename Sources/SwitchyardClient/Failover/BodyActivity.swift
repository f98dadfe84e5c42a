import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// The time at which bytes of an attempt with a large body last moved.
///
/// The duration of such a transfer depends on the network and says nothing about its server, and a second copy would
/// take bandwidth from the first: the attempt is slow only if nothing moves.
final class BodyActivity: Sendable {
    /// The bounds of the time to the first byte, and of a pause between two bytes, before another server gets the
    /// request too.
    ///
    /// The response to a sent body may take as long as the body took, within the same bounds, so that waiting costs at
    /// most twice as much as sending it again.
    static let patience = (least: Duration.seconds(1), most: Duration.seconds(10))

    private struct State {
        var busyUntil: MonotonicTime
        var sent: MonotonicTime?
    }

    private let time: TimeReader
    private let startedAt: MonotonicTime
    private let state: Locked<State>

    /// Starts the measurement for an attempt, or returns `nil` if the body is so small that sending it takes no
    /// noticeable time.
    static func watch(
        on body: HTTPBody,
        startedAt now: MonotonicTime,
        _ time: @autoclosure () -> TimeReader
    ) -> BodyActivity? {
        body.isLarge ? BodyActivity(startedAt: now, time()) : nil
    }

    private init(startedAt now: MonotonicTime, _ time: TimeReader) {
        self.time = time
        startedAt = now
        state = Locked(State(busyUntil: now.advanced(by: Self.patience.least)))
    }

    /// Returns the time of the next check whether the attempt is slow; `nil` if it is slow.
    ///
    /// The check runs at least once a second, because the end of the body may come at any time and brings the limit
    /// closer.
    func nextCheckTime(at now: MonotonicTime) -> MonotonicTime? {
        let busyUntil = state.withLock { $0.busyUntil }
        return now < busyUntil ? min(busyUntil, now.advanced(by: Self.patience.least)) : nil
    }

    /// The time when a byte of the body was last sent, or `nil` before the first byte.
    var lastSent: MonotonicTime? { state.withLock { $0.sent } }

    /// Records the progress that a transport reports, and passes it on.
    func watching(_ handler: TransferProgressHandler?) -> TransferProgressHandler {
        { [self] report in
            if report.completed > 0 { note(report, at: time.now) }
            handler?(report)
        }
    }

    private func note(_ report: TransferProgress, at now: MonotonicTime) {
        let isSent = report.direction == .upload && report.completed == report.total
        let soFar = min(max(Self.patience.least, startedAt.duration(to: now)), Self.patience.most)
        state.withLock { state in
            state.busyUntil = now.advanced(by: isSent ? soFar : Self.patience.most)
            if report.direction == .upload { state.sent = now }
        }
    }
}

extension HTTPBody {
    /// Whether sending the body may take long: it is larger than 64 KiB or of unknown size.
    fileprivate var isLarge: Bool {
        switch self {
        case .none: false
        case .data(let data): data.count > 65_536
        case .file, .stream: (length ?? .max) > 65_536
        }
    }
}
