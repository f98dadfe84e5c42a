import Foundation
import SwitchyardHTTP
import SwitchyardServices

/// A bounded buffer between a transport, which must not wait, and a reader, which may be slow.
///
/// The transport offers bytes and receives the remaining space. If there is no space, the transport pauses the
/// exchange. When the reader has taken half of the buffered bytes, the channel resumes the exchange.
final class BodyChannel: Sendable {
    typealias Outcome = Result<Data?, TransportError>

    private struct State {
        /// The buffered chunks in reverse order, so that the next chunk is last.
        private(set) var pieces: [Data] = []
        private(set) var backlog = 0
        var isPaused = false
        var end: Result<Void, TransportError>?
        var reader: CheckedContinuation<Outcome, Never>?

        /// Appends bytes.
        ///
        /// A large chunk stays a separate chunk, and small chunks are merged.
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
    ///   - capacity: The number of bytes that may wait for the reader.
    ///   - resume: A closure that is called when a paused exchange may continue.
    ///   - cancel: A closure that is called when the rest of the body will not be read.
    init(capacity: Int, resume: @escaping @Sendable () -> Void, cancel: @escaping @Sendable () -> Void) {
        self.capacity = capacity
        self.resume = resume
        self.cancel = cancel
    }

    // MARK: Writing

    /// Buffers bytes and returns the remaining space.
    ///
    /// If there is no space, the exchange must pause until `resume` is called.
    func offer(_ bytes: Data) -> Int {
        let (reader, room): (CheckedContinuation<Outcome, Never>?, Int) = state.withLock { state in
            guard state.end == nil else { return (nil, capacity) }
            if let reader = state.reader, !bytes.isEmpty {
                state.reader = nil
                return (reader, capacity)
            }
            state.add(bytes)
            let room = capacity - state.backlog
            // Bytes may still arrive after the exchange has paused. These bytes do not resume the exchange. Only the
            // reader resumes it.
            if room <= 0 { state.isPaused = true }
            return (nil, max(0, room))
        }
        reader?.resume(returning: .success(bytes))
        return room
    }

    /// The number of bytes that wait for the reader.
    var backlog: Int { state.withLock { $0.backlog } }

    /// Whether the exchange must wait for the reader.
    var isPaused: Bool { state.withLock { $0.isPaused && $0.end == nil } }

    /// Ends the body.
    ///
    /// Buffered bytes can still be read.
    func finish(_ end: Result<Void, TransportError>) {
        let reader = state.withLock { state in
            if state.end == nil { state.end = end }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: end.map { nil })
    }

    // MARK: Reading

    /// Waits for the next chunk, and returns `nil` at the end of the body.
    func next() async throws(TransportError) -> Data? {
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { read($0) }
        } onCancel: {
            abandon()
        }
        return try outcome.get()
    }

    /// Stops reading: a waiting reader gets ``/SwitchyardServices/WireFailure/cancelled``, and the exchange is
    /// cancelled.
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
                // The exchange resumes at half the capacity. New bytes then arrive before the buffer is empty, and the
                // exchange does not pause and resume too often.
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

/// A reader of a channel.
///
/// If the reader is released before the end of the body, the exchange is cancelled.
final class BodyReader: Sendable {
    private let channel: BodyChannel

    init(_ channel: BodyChannel) {
        self.channel = channel
    }

    deinit {
        channel.abandon()
    }

    /// The body as a stream.
    var stream: HTTPBodyStream {
        // The cancellation closure captures only the channel. If the closure captured the reader, code that retains the
        // closure would keep an unread body alive.
        HTTPBodyStream(cancel: { [channel] in channel.abandon() }) { () async throws(TransportError) in
            try await self.channel.next()
        }
    }

    /// Returns the receiving half of a connection as a body stream.
    func stream(of connection: any OpenedConnection) -> HTTPBodyStream {
        HTTPBodyStream(connection: connection, cancel: { [channel] in channel.abandon() }) {
            () async throws(TransportError) in
            try await self.channel.next()
        }
    }
}

extension TransportError {
    fileprivate static let readingCancelled = TransportError(.cancelled, message: "the reader stopped reading")
    fileprivate static let readTwice = TransportError(
        .invalidRequest,
        message: "another reader is still reading the body: only one reader is allowed at a time"
    )
}
