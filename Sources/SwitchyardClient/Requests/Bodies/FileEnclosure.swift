import Foundation

/// A body that is one file, and the bytes in front of it and behind it, as in a form with a file.
struct FileEnclosure: Sendable {
    /// The most bytes around a file that a transport is asked to copy.
    private static let largestRest = 1 << 20

    var file: URL
    /// The bytes that the file had when it was looked at.
    var length: Int64
    var before = Data()
    var after = Data()

    init(file: URL, length: Int64) {
        self.file = file
        self.length = length
    }

    /// Finds the file among segments; `nil` when there are none or several, or too much around it.
    init?(_ segments: [BodySegment]) {
        var found: FileEnclosure?
        var before = Data()
        for segment in segments {
            switch segment {
            case .bytes(let data) where found == nil: before += data
            case .bytes(let data): found?.after += data
            case .file(let file, let length) where found == nil && length > 0:
                found = FileEnclosure(file: file, length: length)
            case .file, .stream: return nil
            }
        }
        guard var found, before.count + found.after.count <= Self.largestRest else { return nil }
        found.before = before
        self = found
    }
}
