import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// What the reading of an upload's bytes has found, over all attempts.
///
/// The transport only says that the body failed, and counts the framing of chunks with the bytes of a body whose length
/// is unknown.
final class UploadLedger: Sendable {
    private struct State {
        var failure: RequestError?
        var file: (url: URL, state: StableFileReader.FileState)?
        var count: Int64 = 0
    }

    private let state = Locked(State())
    private let counted: @Sendable (Int64) -> Void

    /// - Parameter counted: Told how many bytes the present attempt has taken, each time it takes more.
    init(counted: @escaping @Sendable (Int64) -> Void) {
        self.counted = counted
    }

    /// Why the body could not be read of which the transport says so.
    func cause(of error: TransportError) -> RequestError? {
        let (failure, file) = state.withLock { ($0.failure, $0.file) }
        guard failure == nil, let file else { return failure }
        // The transport has read the file by itself.
        do throws(RequestError) {
            let isSame = try StableFileReader(file.url).original == file.state
            return .file(path: file.url.path, reason: isSame ? .unreadable(error.message) : .changedWhileSending)
        } catch {
            return error
        }
    }

    /// The failure of an upload, with the reason for which the source failed, if it did.
    func explained(_ failure: RequestFailure) -> RequestFailure {
        guard case .transport(let error) = failure.reason, error.kind == .requestBodyFailed,
            let cause = cause(of: error)
        else { return failure }
        return RequestFailure(.invalidRequest(cause), id: failure.id, context: failure.context)
    }

    /// The bytes that the last attempt took.
    var count: Int64 { state.withLock { $0.count } }

    /// Takes note of why a body could not be read.
    func note(_ error: RequestError) {
        state.withLock { $0.failure = error }
    }

    /// Takes note of the file that is sent, and what it is like.
    func note(_ file: URL, _ state: StableFileReader.FileState) {
        self.state.withLock { $0.file = (file, state) }
    }

    /// Takes note of how many bytes the present attempt has taken.
    func note(count: Int64) {
        state.withLock { $0.count = count }
        counted(count)
    }
}

/// Reads another reader to exactly the length that was announced, and takes note of what goes wrong.
///
/// The last piece is handed over only when the source has shown that nothing comes behind it, so that the server never
/// gets a body that looks whole and is not.
actor WatchedBodyReader: HTTPBodyReader {
    private let base: any HTTPBodyReader
    private let length: Int64?
    private let ledger: UploadLedger
    private let monitor: TransferMonitor?
    private var count: Int64 = 0

    init(_ base: any HTTPBodyReader, length: Int64?, ledger: UploadLedger, monitor: TransferMonitor?) {
        self.base = base
        self.length = length
        self.ledger = ledger
        self.monitor = monitor
    }

    func read(maximumLength: Int) async throws -> Data? {
        await monitor?.waitWhilePaused()
        do {
            guard let piece = try await nextPiece(maximumLength) else {
                if let length, count != length { throw mismatch(length) }
                return nil
            }
            count += Int64(piece.count)
            if let length, count >= length {
                if count == length, let surplus = try await nextPiece(1) { count += Int64(surplus.count) }
                guard count == length else { throw mismatch(length) }
            }
            ledger.note(count: count)
            return piece
        } catch {
            let failure = error as? RequestError ?? .body(kind: "streamed", reason: .sourceFailed("\(error)"))
            ledger.note(failure)
            throw failure
        }
    }

    /// The next piece that is not empty.
    private func nextPiece(_ maximumLength: Int) async throws -> Data? {
        while let piece = try await base.read(maximumLength: maximumLength) {
            if !piece.isEmpty { return piece }
        }
        return nil
    }

    private func mismatch(_ length: Int64) -> RequestError {
        .body(kind: "streamed", reason: .lengthMismatch(announced: length, actual: count))
    }
}
