import Foundation
import SwitchyardClient
public import SwitchyardDiagnostics
public import SwitchyardHTTP
public import SwitchyardServices
public import SwitchyardTransport

/// A transport that forwards every request to another transport and records the traffic.
///
/// The record can be replayed without a network.
///
///     let recording = RecordingTransport(try Transports.systemDefault())
///     ...                                                    // real traffic
///     try recording.archive.data().write(to: file)           // an HTTP Archive
///     let replay = StubTransport(replaying: try HARArchive(data: Data(contentsOf: file)))
///
/// By default, credentials are redacted in the record. A streamed response is recorded when its body ends or is no
/// longer read. The record then contains the bytes that were read, up to a limit. If the body fails, the exchange is
/// recorded as a failure.
public final class RecordingTransport: Transport {
    private let base: any Transport
    private let time: any TimeSource
    private let redaction: Redaction
    private let streamLimit: Int
    private let entries = Locked<[HARArchive.Entry]>([])

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - base: The transport that carries the requests.
    ///   - redaction: The rules for redaction. The default is ``/SwitchyardHTTP/Redaction/standard``.
    ///   - streamLimit: The maximum number of bytes that are recorded from the start of a streamed body. The default is
    ///     16 MiB. The limit is needed because a stream of events can last for days.
    ///   - time: The clock that measures the durations of the exchanges.
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

    /// The recorded exchanges in the order in which they ended.
    public var archive: HARArchive { HARArchive(entries: entries.withLock { $0 }) }

    /// Forwards the request and records its result.
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

    /// Retires the connections of the base transport, so that later requests use new connections.
    public func retireConnections() {
        base.retireConnections()
    }

    /// Shuts down the base transport.
    public func shutdown() {
        base.shutdown()
    }
}

extension Result<HTTPResponse, TransportError> {
    /// Returns the same result and records it.
    ///
    /// If the body is a stream, the result is recorded when the stream ends.
    fileprivate func recorded(upTo limit: Int, by record: @escaping @Sendable (Self) -> Void) -> Self {
        guard case .success(var response) = self, case .stream(let stream) = response.body else {
            record(self)
            return self
        }
        // An upgraded connection has no body, and its bytes cannot be replayed, so an empty body is recorded.
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

/// A recorder of a streamed body.
///
/// It reports the end of the body exactly once.
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

    /// Returns a stream that delivers the same chunks and records them.
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
