import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The source of an upload, from which any range of bytes can be sent.
struct UploadPieces: Sendable {
    let source: UploadSource
    /// The total number of bytes.
    let length: Int64
    /// The state of the file when the upload started, or `nil` if the source is not a file.
    let fileState: StableFileReader.FileState?
    let ledger = UploadLedger { _ in }
    private let monitor: TransferMonitor?

    /// - Throws: ``RequestError`` if the source cannot be read or its length is unknown.
    init(_ source: UploadSource, monitor: TransferMonitor?) throws(RequestError) {
        self.source = source
        self.monitor = monitor
        guard case .file(let url) = source.kind else {
            fileState = nil
            guard let length = try source.opened(ledger, nil).length, length >= 0 else {
                throw .body(kind: "streamed", reason: .unknownLength)
            }
            self.length = length
            return
        }
        let state = try StableFileReader(url).original
        fileState = state
        length = state.size
    }

    /// Returns a request body with the bytes in the range.
    func body(_ range: Range<Int64>) -> HTTPBody {
        guard !range.isEmpty else { return .data(Data()) }
        return source.watched(length: range.upperBound - range.lowerBound, ledger, monitor) {
            try open(range)
        }
    }

    private func open(_ range: Range<Int64>) throws -> any HTTPBodyReader {
        if case .file(let url) = source.kind {
            let file = try StableFileReader(url, from: range)
            guard file.original == fileState else {
                throw RequestError.file(path: url.path, reason: .changedWhileSending)
            }
            return file
        }
        if case .data(let data) = source.kind {
            return SegmentedBodyReader([.bytes(data.dropFirst(Int(range.lowerBound)).prefix(range.count))])
        }
        guard let reader = try source.opened(ledger, nil).makeReader() else {
            throw RequestError.body(kind: "form", reason: .notInMemory)
        }
        return PieceReader(reader, range, isLast: range.upperBound == length)
    }
}

/// A reader that delivers a range of another reader's bytes.
///
/// The other reader starts at its first byte, so the bytes before the range are skipped.
actor PieceReader: HTTPBodyReader {
    private let base: any HTTPBodyReader
    private var skipped: Int64
    private var left: Int64
    /// Bytes that were read together with the skipped bytes and belong to the range, but have not been requested yet.
    private var surplus = Data()
    private let isLast: Bool

    /// - Parameters:
    ///   - base: The reader of the whole source, from its first byte.
    ///   - range: The bytes to deliver.
    ///   - isLast: Whether the range ends the source. If so, bytes after the range are passed on too, so that a source
    ///     with too many bytes is detected.
    init(_ base: any HTTPBodyReader, _ range: Range<Int64>, isLast: Bool) {
        self.base = base
        self.isLast = isLast
        skipped = range.lowerBound
        left = range.upperBound - range.lowerBound
    }

    func read(maximumLength: Int) async throws -> Data? {
        while skipped > 0 {
            try Task.checkCancellation()
            guard let piece = try await base.read(maximumLength: Int(min(skipped, 1 << 20))) else { return nil }
            surplus = piece.dropFirst(Int(min(skipped, Int64(piece.count))))
            skipped -= Int64(piece.count - surplus.count)
        }
        guard left > 0 || isLast else { return nil }
        let wanted = left > 0 ? Int(min(Int64(maximumLength), left)) : maximumLength
        guard var piece = try await next(wanted) else { return nil }
        // Bytes after this range belong to the next request. That request has its own reader, which starts at the first
        // byte of the source again.
        if !isLast { piece = piece.prefix(Int(min(left, Int64(piece.count)))) }
        left -= Int64(piece.count)
        return piece
    }

    private func next(_ wanted: Int) async throws -> Data? {
        guard !surplus.isEmpty else { return try await base.read(maximumLength: wanted) }
        defer { surplus = surplus.dropFirst(wanted) }
        return surplus.prefix(wanted)
    }
}
