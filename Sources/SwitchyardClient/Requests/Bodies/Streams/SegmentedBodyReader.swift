import Foundation

/// Reads the segments of a body one after the other, each to its announced length exactly.
actor SegmentedBodyReader: HTTPBodyReader {
    private var segments: ArraySlice<BodySegment>
    private var offset: Int64 = 0
    private var file: FileReader?
    private var stream: (any HTTPBodyReader)?
    /// What a stream gave beyond the length that was asked for.
    private var surplus = Data()

    init(_ segments: [BodySegment]) {
        self.segments = segments[...]
    }

    func read(maximumLength: Int) async throws -> Data? {
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

    /// The next bytes of a segment, or `nil` at its end.
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

    /// The next bytes of a file; the last ones only if it is still what it was, lest a body look whole that is not.
    private func filePiece(_ url: URL, length: Int64, maximumLength: Int) throws -> Data? {
        let reader = try file ?? FileReader(url)
        file = reader
        guard reader.length == length else { throw Self.changed(url) }
        guard offset < length else {
            // A file of the system's that says to be empty may not be.
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
