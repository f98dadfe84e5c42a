import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// When bytes of an attempt with a large body last moved.
///
/// Such a body takes as long as the network needs for it, which says nothing about its server, and a second copy of it
/// beside the first would take the first one's share of the network: the attempt is slow only when nothing moves.
final class BodyActivity: Sendable {
    /// How long the first byte may take, and any pause between two, before another server is asked as well.
    ///
    /// The answer to a body that is sent may take as long as the body has, within the same bounds: whoever waits for what
    /// sending it again would cost pays twice at most.
    static let patience = (least: Duration.seconds(1), most: Duration.seconds(10))

    private struct State {
        var busyUntil: MonotonicTime
        var sent: MonotonicTime?
    }

    private let time: TimeReader
    private let startedAt: MonotonicTime
    private let state: Locked<State>

    /// Begins with an attempt; `nil` for a body that is sent as quickly as none at all.
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

    /// When to look again whether the attempt is slow; `nil` if it is.
    ///
    /// Once a second at least, since the end of the body may come at any time and brings the moment nearer.
    func nextLook(at now: MonotonicTime) -> MonotonicTime? {
        let busyUntil = state.withLock { $0.busyUntil }
        return now < busyUntil ? min(busyUntil, now.advanced(by: Self.patience.least)) : nil
    }

    /// When a byte of the body was last sent; `nil` before the first.
    var lastSent: MonotonicTime? { state.withLock { $0.sent } }

    /// Takes note of what a transport reports, and passes it on.
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
    /// Whether it may take a while to send: more than 64 KiB, or nobody knows how much.
    fileprivate var isLarge: Bool {
        switch self {
        case .none: false
        case .data(let data): data.count > 65_536
        case .file, .stream: (length ?? .max) > 65_536
        }
    }
}
