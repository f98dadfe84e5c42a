import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices

/// A body reader that returns prepared chunks and may throw after them.
final class PiecesReader: HTTPBodyReader {
    struct Broken: Error {}

    private let pieces: Locked<ArraySlice<Data>>
    private let fails: Bool

    init(_ pieces: [Data], fails: Bool = false) {
        self.pieces = Locked(pieces[...])
        self.fails = fails
    }

    func read(maximumLength: Int) async throws -> Data? {
        await Task.yield()
        guard let piece = pieces.withLock({ $0.popFirst() }) else {
            if fails { throw Broken() }
            return nil
        }
        return piece
    }
}

/// A body that waits for a latch and then returns one chunk.
final class WaitingReader: HTTPBodyReader {
    private let latch: Latch
    private let pieces = PiecesReader([Data("late".utf8)])

    init(_ latch: Latch) {
        self.latch = latch
    }

    func read(maximumLength: Int) async throws -> Data? {
        await latch.wait()
        return try await pieces.read(maximumLength: maximumLength)
    }
}

extension HTTPBody {
    /// A streamed body of prepared chunks.
    static func pieces(_ pieces: [Data], length: Int64? = nil, fails: Bool = false) -> HTTPBody {
        .stream(Stream(length: length) { PiecesReader(pieces, fails: fails) })
    }
}

extension Data {
    /// Bytes in a pattern whose period is a prime that fits no buffer.
    ///
    /// Built by doubling, which is fast without optimization.
    static func pattern(_ count: Int) -> Data {
        var bytes = Data((0..<251).map { UInt8($0) })
        while bytes.count < count { bytes.append(bytes) }
        return bytes.prefix(count)
    }
}
