import Foundation
import SwitchyardHTTP
import SwitchyardServices

/// The bounded buffer between a transport, which must not wait, and a reader, which may take its time.
///
/// The transport offers bytes and learns how much room is left; when there is none it pauses the exchange, and the
/// channel tells it to go on once the reader has taken half of what waits.
final class BodyChannel: Sendable {
    typealias Outcome = Result<Data?, TransportError>

    private struct State {
        /// What waits for the reader, the next piece last.
        private(set) var pieces: [Data] = []
        private(set) var backlog = 0
        var isPaused = false
        var end: Result<Void, TransportError>?
        var reader: CheckedContinuation<Outcome, Never>?

        /// Keeps a large piece as it is, and puts small ones together.
        mutating func add(_ bytes: Data) {
            backlog += bytes.count
            if let newest = pieces.first, newest.count + bytes.count <= 32 << 10 {
                pieces[0].append(bytes)
            } else if !bytes.isEmpty {
                pieces.insert(bytes, at: 0)
            }
        }

        mutating func takePiece() -> Data? {
            let piece = pieces.popLast()
            backlog -= piece?.count ?? 0
            return piece
        }

        mutating func dropPieces() {
            pieces = []
            backlog = 0
        }
    }

    private let state = Locked(State())
    private let capacity: Int
    private let resume: @Sendable () -> Void
    private let cancel: @Sendable () -> Void

    /// Creates a channel.
    ///
    /// - Parameters:
    ///   - capacity: Bytes that may wait for the reader.
    ///   - resume: Called when a paused exchange may go on.
    ///   - cancel: Called when nobody will read the rest.
    init(capacity: Int, resume: @escaping @Sendable () -> Void, cancel: @escaping @Sendable () -> Void) {
        self.capacity = capacity
        self.resume = resume
        self.cancel = cancel
    }

    // MARK: The transport's side

    /// Takes bytes over and returns how many more may come; with none left the exchange has to pause until `resume`.
    func offer(_ bytes: Data) -> Int {
        let (reader, room): (CheckedContinuation<Outcome, Never>?, Int) = state.withLock { state in
            guard state.end == nil else { return (nil, capacity) }
            if let reader = state.reader, !bytes.isEmpty {
                state.reader = nil
                return (reader, capacity)
            }
            state.add(bytes)
            let room = capacity - state.backlog
            // Bytes that were under way when the exchange paused do not let it go on; the reader does.
            if room <= 0 { state.isPaused = true }
            return (nil, max(0, room))
        }
        reader?.resume(returning: .success(bytes))
        return room
    }

    /// Bytes that wait for the reader.
    var backlog: Int { state.withLock { $0.backlog } }

    /// Whether the exchange has to wait for the reader.
    var isPaused: Bool { state.withLock { $0.isPaused && $0.end == nil } }

    /// Ends the body; what is buffered can still be read.
    func finish(_ end: Result<Void, TransportError>) {
        let reader = state.withLock { state in
            if state.end == nil { state.end = end }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: end.map { nil })
    }

    // MARK: The reader's side

    /// Waits for the next piece, `nil` at the end.
    func next() async throws(TransportError) -> Data? {
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { read($0) }
        } onCancel: {
            abandon()
        }
        return try outcome.get()
    }

    /// Stops reading: whoever waits gets ``TransportError/Kind/cancelled``, and the exchange is cancelled.
    func abandon() {
        let (reader, wasRunning) = state.withLock { state in
            let wasRunning = state.end == nil
            if wasRunning {
                state.end = .failure(.readingCancelled)
                state.dropPieces()
            }
            defer { state.reader = nil }
            return (state.reader, wasRunning)
        }
        reader?.resume(returning: .failure(.readingCancelled))
        if wasRunning { cancel() }
    }

    private func read(_ reader: CheckedContinuation<Outcome, Never>) {
        let (outcome, resumes): (Outcome?, Bool) = state.withLock { state in
            if let piece = state.takePiece() {
                // Half empty is early enough for the next bytes, and late enough not to go back and forth.
                let resumes = state.isPaused && state.end == nil && state.backlog <= capacity / 2
                if resumes { state.isPaused = false }
                return (.success(piece), resumes)
            }
            if let end = state.end { return (end.map { nil }, false) }
            guard state.reader == nil else { return (.failure(.readTwice), false) }
            state.reader = reader
            return (nil, false)
        }
        if resumes { resume() }
        if let outcome { reader.resume(returning: outcome) }
    }
}

/// Reads a channel, and gives the exchange up when it goes away before the end.
final class BodyReader: Sendable {
    private let channel: BodyChannel

    init(_ channel: BodyChannel) {
        self.channel = channel
    }

    deinit {
        channel.abandon()
    }

    /// The body as callers see it.
    var stream: HTTPBodyStream {
        // The closure that cancels holds the channel only: whoever keeps it does not keep an unread body alive.
        HTTPBodyStream(cancel: { [channel] in channel.abandon() }) { () async throws(TransportError) in
            try await self.channel.next()
        }
    }

    /// The receiving half of a connection as callers see it.
    func stream(of connection: any OpenedConnection) -> HTTPBodyStream {
        HTTPBodyStream(connection: connection, cancel: { [channel] in channel.abandon() }) {
            () async throws(TransportError) in
            try await self.channel.next()
        }
    }
}

extension TransportError {
    fileprivate static let readingCancelled = TransportError(.cancelled, message: "the reader gave up")
    fileprivate static let readTwice = TransportError(
        .invalidRequest,
        message: "a body is read by one reader at a time"
    )
}
