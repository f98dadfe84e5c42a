import Foundation
import SwitchyardClient
public import SwitchyardDiagnostics
public import SwitchyardHTTP
public import SwitchyardServices
public import SwitchyardTransport

/// A transport that hands everything to another one and keeps a record, to be replayed without a network.
///
///     let recording = RecordingTransport(try Transports.systemDefault())
///     ...                                                    // real traffic
///     try recording.archive.data().write(to: file)           // an HTTP Archive
///     let replay = StubTransport(replaying: try HARArchive(data: Data(contentsOf: file)))
///
/// Credentials are hidden in the record unless told otherwise. A streamed answer is recorded when its body has ended, or
/// nobody reads it any more, with what was read of it, up to a limit; as a failure when the body breaks off.
public final class RecordingTransport: Transport {
    private let base: any Transport
    private let time: any TimeSource
    private let redaction: Redaction
    private let streamLimit: Int
    private let entries = Locked<[HARArchive.Entry]>([])

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - base: Carries the requests.
    ///   - redaction: What is hidden; ``/SwitchyardHTTP/Redaction/standard`` unless given.
    ///   - streamLimit: The most bytes of a streamed body that are kept, its first ones; 16 MiB unless given. Events may come
    ///     for days.
    ///   - time: The clock.
    public init(
        _ base: any Transport,
        redaction: Redaction = .standard,
        streamLimit: Int = 16 << 20,
        time: any TimeSource = SystemTime.shared
    ) {
        self.base = base
        self.redaction = redaction
        self.streamLimit = max(0, streamLimit)
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
        let record: @Sendable (Result<HTTPResponse, TransportError>) -> Void = { [entries, time, redaction] result in
            let elapsed = start.duration(to: time.now)
            let entry = HARArchive.Entry(request, result, date: date, elapsed: elapsed, redaction: redaction)
            entries.withLock { $0.append(entry) }
        }
        return base.start(request, progress: progress) { [streamLimit] result in
            completion(result.recorded(upTo: streamLimit, by: record))
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

extension Result<HTTPResponse, TransportError> {
    /// The same, which is recorded now, or, if its body is a stream, when that has ended.
    fileprivate func recorded(upTo limit: Int, by record: @escaping @Sendable (Self) -> Void) -> Self {
        guard case .success(var response) = self, case .stream(let stream) = response.body else {
            record(self)
            return self
        }
        // What goes over a connection that was handed over is no body, and nothing that could be replayed.
        guard stream.connection == nil else {
            record(.success(response.with(.whole(Data()))))
            return self
        }
        let body = StreamRecord(limit: limit) { [response] end in record(end.map { response.with(.whole($0)) }) }
        response.body = .stream(body.reading(stream))
        return .success(response)
    }
}

extension HTTPResponse {
    fileprivate func with(_ body: Body) -> HTTPResponse {
        var response = self
        response.body = body
        return response
    }
}

/// What has been read of a streamed body; tells once how it ended.
private final class StreamRecord: Sendable {
    typealias End = Result<Data, TransportError>

    private struct State {
        var bytes = Data()
        var whenEnded: (@Sendable (End) -> Void)?
    }

    private let limit: Int
    private let state: Locked<State>

    init(limit: Int, _ whenEnded: @escaping @Sendable (End) -> Void) {
        self.limit = limit
        state = Locked(State(whenEnded: whenEnded))
    }

    deinit { end() }

    /// The same body, of which a record is kept.
    func reading(_ stream: HTTPBodyStream) -> HTTPBodyStream {
        HTTPBodyStream(
            cancel: {
                stream.cancel()
                self.end()
            },
            next: { () async throws(TransportError) in
                do throws(TransportError) {
                    var pieces = stream.makeAsyncIterator()
                    let piece = try await pieces.next()
                    self.note(piece)
                    return piece
                } catch {
                    self.end(by: error.kind == .cancelled ? nil : error)
                    throw error
                }
            }
        )
    }

    private func note(_ piece: Data?) {
        guard let piece else { return end() }
        state.withLock { $0.bytes.append(piece.prefix(limit - $0.bytes.count)) }
    }

    private func end(by error: TransportError? = nil) {
        let (bytes, whenEnded) = state.withLock { state in
            defer { state = State() }
            return (state.bytes, state.whenEnded)
        }
        whenEnded?(error.map { .failure($0) } ?? .success(bytes))
    }
}
