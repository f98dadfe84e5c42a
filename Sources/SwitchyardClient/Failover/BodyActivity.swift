import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// The time at which bytes of an attempt with a large body were last transferred.
///
/// The duration of such a transfer depends on the network, so it proves nothing about the server. A second copy of the
/// request would take bandwidth from the first. The attempt therefore counts as slow only if no bytes are transferred.
final class BodyActivity: Sendable {
    /// The minimum and maximum of the time without any transferred bytes after which another server gets the request
    /// too.
    ///
    /// Before the first byte, this time is the minimum. Between two bytes, it is the maximum. After the last byte, it
    /// is the time that sending the body took, within these bounds, because sending the body to another server would
    /// take about as long.
    static let silence = (least: Duration.seconds(1), most: Duration.seconds(10))

    private struct State {
        var busyUntil: MonotonicTime
        var sent: MonotonicTime?
    }

    private let time: TimeReader
    private let startedAt: MonotonicTime
    private let state: Locked<State>

    /// Starts to record the times at which bytes of an attempt with a large body are transferred.
    ///
    /// A body of at most 64 KiB is sent too quickly to matter.
    init(startedAt now: MonotonicTime, _ time: TimeReader) {
        self.time = time
        startedAt = now
        state = Locked(State(busyUntil: now.advanced(by: Self.silence.least)))
    }

    /// Returns the time at which to check again whether the attempt is slow, or `nil` if it is slow now.
    ///
    /// The next check is at most one second away, because the permitted time without bytes becomes shorter as soon as
    /// the whole body has been sent.
    func nextCheckTime(at now: MonotonicTime) -> MonotonicTime? {
        let busyUntil = state.withLock { $0.busyUntil }
        return now < busyUntil ? min(busyUntil, now.advanced(by: Self.silence.least)) : nil
    }

    /// The time when a byte of the body was last sent, or `nil` before the first byte.
    var lastSent: MonotonicTime? { state.withLock { $0.sent } }

    /// Returns a progress handler that records each report and passes it to another handler.
    func watching(_ handler: TransferProgressHandler?) -> TransferProgressHandler {
        { [self] report in
            if report.completed > 0 { note(report, at: time.now) }
            handler?(report)
        }
    }

    private func note(_ report: TransferProgress, at now: MonotonicTime) {
        let isSent = report.direction == .upload && report.completed == report.total
        let soFar = min(max(Self.silence.least, startedAt.duration(to: now)), Self.silence.most)
        state.withLock { state in
            state.busyUntil = now.advanced(by: isSent ? soFar : Self.silence.most)
            if report.direction == .upload { state.sent = now }
        }
    }
}

extension HTTPBody {
    /// Whether the body is larger than 64 KiB or of unknown size, so that sending it may take long.
    var isLarge: Bool {
        switch self {
        case .none: false
        case .data(let data): data.count > 65_536
        case .file, .stream: (length ?? .max) > 65_536
        }
    }
}
