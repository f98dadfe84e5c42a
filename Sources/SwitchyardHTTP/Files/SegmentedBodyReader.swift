package import Foundation

/// A contiguous part of a body that comes from one source.
package enum BodySegment: Sendable {
    case bytes(Data)
    case file(URL, length: Int64)
    case stream(HTTPBody.Stream, part: String?)

    /// The number of bytes, or `nil` if it is unknown.
    var length: Int64? {
        switch self {
        case .bytes(let data): Int64(data.count)
        case .file(_, let length): length
        case .stream(let stream, _): stream.length
        }
    }
}

/// A reader that reads the segments of a body in order and checks that each has its announced length.
package actor SegmentedBodyReader: HTTPBodyReader {
    private var segments: ArraySlice<BodySegment>
    private var offset: Int64 = 0
    private var file: FileReader?
    private var stream: (any HTTPBodyReader)?
    /// The bytes that a stream returned beyond the requested length.
    private var surplus = Data()

    package init(_ segments: [BodySegment]) {
        self.segments = segments[...]
    }

    package func read(maximumLength: Int) async throws -> Data? {
        var result = Data()
        while result.count < maximumLength, let segment = segments.first {
            guard let piece = try await piece(of: segment, maximumLength: maximumLength - result.count) else {
                closeSegment()
                segments.removeFirst()
                offset = 0
                continue
            }
            offset += Int64(piece.count)
            if result.isEmpty { result = piece } else { result += piece }
        }
        return result.isEmpty ? nil : result
    }

    /// Returns the next bytes of a segment, or `nil` at its end.
    private func piece(of segment: BodySegment, maximumLength: Int) async throws -> Data? {
        switch segment {
        case .bytes(let data):
            let start = data.startIndex + Int(offset)
            guard start < data.endIndex else { return nil }
            return data[start...].prefix(maximumLength)
        case .file(let url, let length):
            return try filePiece(url, length: length, maximumLength: maximumLength)
        case .stream(let source, let part):
            return try await streamPiece(source, part: part, maximumLength: maximumLength)
        }
    }

    /// Returns the next bytes of a file, or `nil` at its end.
    ///
    /// Before the last bytes are returned, the file is checked for changes. Otherwise a body with changed contents
    /// could look complete.
    private func filePiece(_ url: URL, length: Int64, maximumLength: Int) throws -> Data? {
        let reader = try file ?? FileReader(url)
        file = reader
        guard reader.length == length else { throw Self.changed(url) }
        guard offset < length else {
            // Some system files report a length of zero but have contents, so the end of the file is checked.
            guard try reader.read(maximumLength: 1) == nil else { throw Self.changed(url) }
            return nil
        }
        let wanted = Int(min(Int64(maximumLength), length - offset))
        guard let piece = try reader.read(maximumLength: wanted) else { throw Self.changed(url) }
        if offset + Int64(piece.count) == length { try reader.check() }
        return piece
    }

    private static func changed(_ url: URL) -> RequestError {
        .file(path: url.path, reason: .changedWhileSending)
    }

    private func streamPiece(_ source: HTTPBody.Stream, part: String?, maximumLength: Int) async throws -> Data? {
        let reader = try stream ?? source.makeReader()
        stream = reader
        let piece = try await nextStreamPiece(reader, maximumLength: maximumLength)
        guard let length = source.length else { return piece }
        let total = offset + Int64(piece?.count ?? 0)
        if piece == nil ? total != length : total > length {
            throw RequestError.multipart(part: part, reason: .lengthMismatch(announced: length, actual: total))
        }
        return piece
    }

    private func nextStreamPiece(_ reader: any HTTPBodyReader, maximumLength: Int) async throws -> Data? {
        while surplus.isEmpty {
            guard let piece = try await reader.read(maximumLength: maximumLength) else { return nil }
            surplus = piece
        }
        let piece = surplus.prefix(maximumLength)
        surplus = surplus.dropFirst(maximumLength)
        return piece
    }

    private func closeSegment() {
        file = nil
        stream = nil
        surplus = Data()
    }
}

extension FileEnclosure {
    /// The maximum number of bytes around the file: those before it and those after it, added up.
    ///
    /// The number is limited because a `FileEnclosure` keeps these bytes in memory.
    private static let largestRest = 1 << 20

    /// Creates the enclosure of a body (one file and the bytes around it) from segments.
    ///
    /// Returns `nil` if there is no file, several files, a stream, or more than `largestRest` other bytes.
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
