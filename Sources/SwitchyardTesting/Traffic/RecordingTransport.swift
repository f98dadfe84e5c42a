import Foundation
public import SwitchyardClient
import SwitchyardServices

/// A transport that hands everything to another one and keeps a record, to be replayed without a network.
///
///     let recording = RecordingTransport(try Transports.systemDefault())
///     ...                                                    // real traffic
///     try recording.archive.data().write(to: file)           // an HTTP Archive
///     let replay = StubTransport(replaying: try HARArchive(data: Data(contentsOf: file)))
///
/// Credentials are hidden in the record unless told otherwise. The body of a streamed answer is not kept.
public final class RecordingTransport: Transport {
    private let base: any Transport
    private let time: any TimeSource
    private let redaction: Redaction
    private let entries = Locked<[HARArchive.Entry]>([])

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - base: Carries the requests.
    ///   - redaction: What is hidden; ``/SwitchyardClient/Redaction/standard`` unless given.
    ///   - time: The clock.
    public init(
        _ base: any Transport,
        redaction: Redaction = .standard,
        time: any TimeSource = SystemTime.shared
    ) {
        self.base = base
        self.redaction = redaction
        self.time = time
    }

    /// What was recorded, in the order in which it ended.
    public var archive: HARArchive { HARArchive(entries: entries.withLock { $0 }) }

    /// Hands the request over, and records what comes of it.
    public func start(
        _ request: HTTPRequest,
        progress: TransferProgressHandler?,
        completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
    ) -> any TransportTask {
        let (start, date) = (time.now, Date())
        return base.start(request, progress: progress) { [self] result in
            let elapsed = start.duration(to: time.now)
            let entry = HARArchive.Entry(request, result, date: date, elapsed: elapsed, redaction: redaction)
            entries.withLock { $0.append(entry) }
            completion(result)
        }
    }

    /// Has the other transport go on with new connections.
    public func retireConnections() {
        base.retireConnections()
    }

    /// Ends the other transport.
    public func shutdown() {
        base.shutdown()
    }
}
