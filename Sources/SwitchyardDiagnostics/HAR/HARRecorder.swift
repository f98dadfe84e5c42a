import Foundation
public import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// Records what a client sends and gets, attempt by attempt, for an archive that other tools read.
///
///     let recorder = HARRecorder()
///     options.interceptors = [recorder.interceptor]
///     ...
///     try recorder.archive.data().write(to: file)
///
/// Credentials are hidden unless asked for. Bodies that are streams are not recorded.
public final class HARRecorder: Sendable {
    private struct State {
        var entries: [HARArchive.Entry] = []
    }

    private let redaction: Redaction
    private let limit: Int
    private let state = Locked(State())

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - redaction: What is hidden; ``/SwitchyardHTTP/Redaction/standard`` unless given.
    ///   - limit: How many exchanges are kept, the newest; 10,000 unless given.
    public init(redaction: Redaction = .standard, limit: Int = 10_000) {
        self.redaction = redaction
        self.limit = max(1, limit)
    }

    /// What has to be among a client's interceptors.
    public var interceptor: RequestInterceptor {
        .observing("har") { [self] event in
            guard case .attemptEnded(let attempt, let result) = event.kind else { return }
            let elapsed = attempt.startedAt.duration(to: event.time)
            let server = "\(event.service)/\(event.environment.rawValue)/\(attempt.server ?? "-")"
            add(
                HARArchive.Entry(
                    attempt.request,
                    result,
                    date: Date(timeIntervalSinceNow: -elapsed.inSeconds),
                    elapsed: elapsed,
                    comment: "\(event.id) \(server), round \(event.round), attempt \(attempt.number)",
                    redaction: redaction
                )
            )
        }
    }

    /// What was recorded.
    public var archive: HARArchive { HARArchive(entries: state.withLock { $0.entries.suffix(limit) }) }

    /// Forgets what was recorded.
    public func clear() {
        state.withLock { $0.entries = [] }
    }

    private func add(_ entry: HARArchive.Entry) {
        state.withLock { state in
            state.entries.append(entry)
            if state.entries.count - limit > limit { state.entries.removeFirst(state.entries.count - limit) }
        }
    }
}
