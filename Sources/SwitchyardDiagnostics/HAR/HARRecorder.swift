import Foundation
public import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// Records the exchanges of a client, one per attempt, as an archive that other tools can read.
///
///     let recorder = HARRecorder()
///     options.interceptors = [recorder.interceptor]
///     ...
///     try recorder.archive.data().write(to: file)
///
/// Credentials are hidden by default. The bodies of streamed requests and responses are not recorded.
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
    ///   - redaction: The rules by which credentials are hidden. The default is ``/SwitchyardHTTP/Redaction/standard``.
    ///   - limit: The maximum number of exchanges that are kept. The oldest exchanges are dropped first. The default is
    ///     10,000.
    public init(redaction: Redaction = .standard, limit: Int = 10_000) {
        self.redaction = redaction
        self.limit = max(1, limit)
    }

    /// The interceptor to add to a client's interceptors.
    public var interceptor: RequestInterceptor {
        .observing(Observer(recorder: self))
    }

    private struct Observer: CallObserver {
        let recorder: HARRecorder

        func attemptEnded(
            _ attempt: AttemptRecord,
            with result: Result<HTTPResponse, TransportError>,
            in event: DispatchEvent
        ) {
            let elapsed = attempt.startedAt.duration(to: event.time)
            let server = "\(event.service)/\(event.environment.rawValue)/\(attempt.server ?? "-")"
            let place = "\(server), round \(event.round), attempt \(attempt.number), \(attempt.kind.rawValue)"
            recorder.add(
                HARArchive.Entry(
                    attempt.request,
                    result,
                    date: Date(timeIntervalSinceNow: -elapsed.inSeconds),
                    elapsed: elapsed,
                    comment: "\(event.id) \(place)",
                    redaction: recorder.redaction
                )
            )
        }
    }

    /// The recorded exchanges as an archive.
    public var archive: HARArchive { HARArchive(entries: state.withLock { $0.entries.suffix(limit) }) }

    /// Removes all recorded exchanges.
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
