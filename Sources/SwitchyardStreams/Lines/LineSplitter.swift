import Foundation
import SwitchyardHTTP

/// A splitter that turns bytes into lines.
///
/// The bytes can be divided into chunks anywhere, even between CR and LF or within a character.
///
/// A byte order mark before the first line is not part of the line.
struct LineSplitter: Sendable {
    /// The rule for the end of a line.
    enum Rule: Sendable, Hashable {
        /// LF or CRLF, as in JSON Lines and in the output of most programs.
        case lineFeed
        /// LF, CRLF or CR, as in server-sent events (HTML Standard, section 9.2.5).
        case any
    }

    private let rule: Rule
    private let limit: Int
    private var rest = Data()
    /// The number of bytes at the start of `rest` that were searched and contain no line end.
    private var searched = 0
    private var skipsLineFeed = false
    /// Whether a byte order mark may still be found, because no line has started.
    private var isAtStart = true

    /// - Parameters:
    ///   - rule: The rule for the end of a line.
    ///   - limit: The maximum length of a line in bytes.
    init(_ rule: Rule, limit: Int) {
        self.rule = rule
        self.limit = limit
    }

    /// Appends the next chunk of bytes.
    mutating func append(_ piece: Data) {
        if searched == 0, rest.isEmpty {
            rest = piece
        } else {
            // Appending to a slice would retain all bytes before the slice.
            if rest.startIndex > 0 { rest = Data(rest) }
            rest.append(piece)
        }
    }

    /// Returns the next line without its end, or `nil` if the line is not complete yet.
    ///
    /// - Throws: ``TransportError`` with ``/SwitchyardServices/WireFailure/bodyTooLarge`` if a line exceeds the limit.
    mutating func next() throws(TransportError) -> Data? {
        skipMark()
        guard !isAtStart else { return nil }
        skipLineFeed()
        let start = rest.startIndex
        guard let end = rest[(start + searched)...].firstIndex(where: isEnd) else {
            searched = rest.count
            if withoutReturn(rest).count > limit { throw tooLong }
            return nil
        }
        let line = withoutReturn(rest[start..<end])
        if line.count > limit { throw tooLong }
        skipsLineFeed = rest[end] == UInt8(ascii: "\r")
        rest = rest[(end + 1)...]
        searched = 0
        return line
    }

    /// Returns a line without its CR.
    ///
    /// The LF after the CR may not have arrived yet.
    private func withoutReturn(_ line: Data) -> Data {
        rule == .lineFeed && line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }

    /// Returns the bytes after the last line end, or `nil` if there are no such bytes.
    mutating func finish() -> Data? {
        skipLineFeed()
        defer {
            rest = Data()
            searched = 0
        }
        return rest.isEmpty ? nil : rest
    }

    /// Skips the LF of a CRLF after the CR has already ended the line.
    private mutating func skipLineFeed() {
        guard skipsLineFeed, let first = rest.first else { return }
        skipsLineFeed = false
        if first == UInt8(ascii: "\n") { rest = rest.dropFirst() }
    }

    /// Removes a byte order mark from the start of the bytes, once the mark is complete.
    private mutating func skipMark() {
        guard isAtStart, !rest.isEmpty else { return }
        guard rest.count >= Data.byteOrderMark.count || !Data.byteOrderMark.starts(with: rest) else { return }
        isAtStart = false
        if rest.starts(with: Data.byteOrderMark) { rest = rest.dropFirst(Data.byteOrderMark.count) }
    }

    private func isEnd(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\n") || (rule == .any && byte == UInt8(ascii: "\r"))
    }

    private var tooLong: TransportError {
        TransportError(.bodyTooLarge, message: "a line is longer than \(limit) bytes")
    }
}

extension Data {
    /// The byte order mark U+FEFF, which some programs write before UTF-8 text.
    static let byteOrderMark = Data([0xEF, 0xBB, 0xBF])
}
