import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// A record of the bytes read and the errors met while the body of an upload was read, over all attempts.
///
/// The transport only reports that the body failed. For a body of unknown length, it counts the framing of the chunks
/// as bytes of the body.
final class UploadLedger: Sendable {
    private struct State {
        var failure: RequestError?
        var file: (url: URL, state: StableFileReader.FileState)?
        var count: Int64 = 0
    }

    private let state = Locked(State())
    private let counted: @Sendable (Int64) -> Void

    /// - Parameter counted: A closure that receives the number of bytes that the current attempt has read, each time it
    ///   reads more.
    init(counted: @escaping @Sendable (Int64) -> Void) {
        self.counted = counted
    }

    /// Returns the reason why the body could not be read, if `error` reports such a failure.
    func cause(of error: TransportError) -> RequestError? {
        let (failure, file) = state.withLock { ($0.failure, $0.file) }
        guard failure == nil, let file else { return failure }
        // The transport has read the file itself, so its state is checked here.
        do throws(RequestError) {
            let isSame = try StableFileReader(file.url).original == file.state
            return .file(path: file.url.path, reason: isSame ? .unreadable(error.message) : .changedWhileSending)
        } catch {
            return error
        }
    }

    /// Returns the failure of an upload, with the error of the source if the source failed.
    func explained(_ failure: RequestFailure) -> RequestFailure {
        guard case .transport(let error) = failure.reason, error.kind == .requestBodyFailed,
            let cause = cause(of: error)
        else { return failure }
        return RequestFailure(.invalidRequest(cause), id: failure.id, context: failure.context)
    }

    /// The number of bytes that the last attempt read.
    var count: Int64 { state.withLock { $0.count } }

    /// Records the error for which a body could not be read.
    func note(_ error: RequestError) {
        state.withLock { $0.failure = error }
    }

    /// Records the file that is sent, and its state.
    func note(_ file: URL, _ state: StableFileReader.FileState) {
        self.state.withLock { $0.file = (file, state) }
    }

    /// Records the number of bytes that the current attempt has read.
    func note(count: Int64) {
        state.withLock { $0.count = count }
        counted(count)
    }
}

/// A reader that passes on exactly the announced number of bytes of another reader, and records errors.
///
/// The last piece is delivered only after the source has shown that it has no more bytes, so the server never receives
/// a body that looks complete but is not.
actor MonitoredBodyReader: HTTPBodyReader {
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

    /// Returns the next non-empty piece.
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
