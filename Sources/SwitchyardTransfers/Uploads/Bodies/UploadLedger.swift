import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// A record of how many bytes of an upload's source were read and which errors occurred, over all attempts.
///
/// The record is needed because the transport only reports that the body failed, not why. For a body of unknown length,
/// the transport also counts the chunk framing as bytes of the body.
final class UploadLedger: Sendable {
    private struct State {
        var failure: RequestError?
        var file: (url: URL, state: StableFileReader.FileState)?
        var count: Int64 = 0
    }

    private let state = Locked(State())
    private let counted: @Sendable (Int64) -> Void

    /// - Parameter counted: A closure that receives the total number of bytes read by the current attempt after each
    ///   read.
    init(counted: @escaping @Sendable (Int64) -> Void) {
        self.counted = counted
    }

    /// Returns the reason why the body could not be read, or `nil` if `error` is not about reading the body.
    func cause(of error: TransportError) -> RequestError? {
        let (failure, file) = state.withLock { ($0.failure, $0.file) }
        guard failure == nil, let file else { return failure }
        // The transport reads the file itself, so this is the first time that this code checks whether the file has
        // changed.
        do throws(RequestError) {
            let isSame = try StableFileReader(file.url).original == file.state
            return .file(path: file.url.path, reason: isSame ? .unreadable(error.message) : .changedWhileSending)
        } catch {
            return error
        }
    }

    /// Returns a failure of the upload, with the source's error as its reason if the source failed.
    func explained(_ failure: RequestFailure) -> RequestFailure {
        guard case .transport(let error) = failure.reason, error.kind == .requestBodyFailed,
            let cause = cause(of: error)
        else { return failure }
        return RequestFailure(.invalidRequest(cause), id: failure.id, context: failure.context)
    }

    /// The number of bytes that the last attempt read.
    var count: Int64 { state.withLock { $0.count } }

    /// Records the error that occurred while the source was opened or read.
    func note(_ error: RequestError) {
        state.withLock { $0.failure = error }
    }

    /// Records the file that is sent, and its state before sending.
    func note(_ file: URL, _ state: StableFileReader.FileState) {
        self.state.withLock { $0.file = (file, state) }
    }

    /// Records the number of bytes that the current attempt has read.
    func note(count: Int64) {
        state.withLock { $0.count = count }
        counted(count)
    }
}

/// A reader that passes on exactly the announced number of bytes from its source, and records errors of the source.
///
/// The last bytes are delivered only after the source has reported its end. If the source has too many bytes, the
/// server therefore never receives a body that looks complete.
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

    /// Returns the next bytes of the source, at least one, or `nil` at its end.
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
