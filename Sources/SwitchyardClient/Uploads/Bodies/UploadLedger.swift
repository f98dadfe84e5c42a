import Foundation
import SwitchyardServices

/// What the reading of an upload's bytes has found, over all attempts: the transport only says that the body failed.
final class UploadLedger: Sendable {
    private let state = Locked<RequestError?>(nil)

    /// Why the last body could not be read; `nil` when none failed.
    var failure: RequestError? { state.withLock { $0 } }

    /// Takes note of why a body could not be read.
    func note(_ error: RequestError) {
        state.withLock { $0 = error }
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
            guard let length, count >= length else { return piece }
            if count == length, let surplus = try await nextPiece(1) { count += Int64(surplus.count) }
            guard count == length else { throw mismatch(length) }
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
