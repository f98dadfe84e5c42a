import SwitchyardServices

/// When bytes of an attempt with a large body last moved.
///
/// Such a body takes as long as the network needs for it, which says nothing about its server, and a second copy of it
/// beside the first would take the first one's share of the network: the attempt is slow only when nothing moves.
final class BodyActivity: Sendable {
    /// How long the first byte may take, and any pause between two, before another server is asked as well.
    static let patience = (first: Duration.seconds(1), next: Duration.seconds(10))

    private struct State {
        var busyUntil: MonotonicTime
        var sent: MonotonicTime?
    }

    private let time: TimeReader
    private let state: Locked<State>

    /// Begins with an attempt; `nil` for a body that is sent as quickly as none at all.
    init?(of body: HTTPBody, startedAt now: MonotonicTime, on time: TimeReader) {
        guard body.isLarge else { return nil }
        self.time = time
        state = Locked(State(busyUntil: now.advanced(by: Self.patience.first)))
    }

    /// Until when the attempt is not slow, by what has moved so far.
    var busyUntil: MonotonicTime { state.withLock { $0.busyUntil } }

    /// When a byte of the body was last sent; `nil` before the first.
    var lastSent: MonotonicTime? { state.withLock { $0.sent } }

    /// Takes note of what a transport reports, and passes it on.
    func watching(_ handler: TransferProgressHandler?) -> TransferProgressHandler {
        { [self] report in
            if report.completed > 0 { note(report.direction, at: time.now) }
            handler?(report)
        }
    }

    private func note(_ direction: TransferProgress.Direction, at now: MonotonicTime) {
        state.withLock { state in
            state.busyUntil = now.advanced(by: Self.patience.next)
            if direction == .upload { state.sent = now }
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
