import Foundation
import Switchyard
import SwitchyardTesting

/// A film that is identical on every server of the forum.
struct ForumFilm: Sendable {
    var length: Int

    /// The bytes that the film repeats.
    ///
    /// Their number is a prime, so a part at a wrong position differs from the correct part.
    private static let scene = Data((0..<65_537).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) })

    /// Returns whether a file equals the film.
    ///
    /// The file is read in chunks.
    func isEqual(to file: URL) throws -> Bool {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        var place = 0
        while let piece = try handle.read(upToCount: 1 << 18), !piece.isEmpty {
            guard piece == Self.bytes(place..<place + piece.count) else { return false }
            place += piece.count
        }
        return place == length
    }

    /// Returns the film as content for a demo server, with support for range requests.
    func content(bytesPerSecond: Int?) -> LoopbackContent {
        var content = LoopbackContent(
            length: length,
            entityTag: "\"film-\(length)\"",
            headers: ["Content-Type": "video/quicktime"],
            read: Self.bytes
        )
        content.bytesPerSecond = bytesPerSecond
        return content
    }

    private static func bytes(_ range: Range<Int>) -> Data {
        var bytes = Data(capacity: range.count)
        while bytes.count < range.count {
            let start = (range.lowerBound + bytes.count) % scene.count
            bytes.append(scene[start..<min(scene.count, start + range.count - bytes.count)])
        }
        return bytes
    }
}
