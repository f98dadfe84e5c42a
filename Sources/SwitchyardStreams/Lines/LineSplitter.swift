import Foundation
import SwitchyardHTTP

/// Cuts bytes into lines, wherever the pieces are cut: between CR and LF, or within a character.
///
/// A byte order mark in front of the first line does not belong to it.
struct LineSplitter: Sendable {
    /// What ends a line.
    enum Rule: Sendable, Hashable {
        /// LF or CRLF: as in JSON Lines, and as most programs mean it.
        case lineFeed
        /// LF, CRLF or CR: as in server-sent events (HTML Standard, section 9.2.5).
        case any
    }

    private let rule: Rule
    private let limit: Int
    private var rest = Data()
    /// How far `rest` has been looked through.
    private var searched = 0
    private var skipsLineFeed = false
    /// Whether a byte order mark may still come.
    private var isAtStart = true

    /// - Parameters:
    ///   - rule: What ends a line.
    ///   - limit: The longest line in bytes.
    init(_ rule: Rule, limit: Int) {
        self.rule = rule
        self.limit = limit
    }

    /// Takes the next piece in.
    mutating func append(_ piece: Data) {
        if searched == 0, rest.isEmpty {
            rest = piece
        } else {
            // A slice keeps all that came before it, for as long as it is only added to.
            if rest.startIndex > 0 { rest = Data(rest) }
            rest.append(piece)
        }
    }

    /// The next line without its end; `nil` when it is not whole yet.
    ///
    /// - Throws: ``TransportError`` with ``TransportError/Kind/bodyTooLarge`` for a line above the limit.
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

    /// A line without the CR of its end, which may be all of the end that is there yet.
    private func withoutReturn(_ line: Data) -> Data {
        rule == .lineFeed && line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }

    /// What stands behind the last end of a line; `nil` when nothing does.
    mutating func finish() -> Data? {
        skipLineFeed()
        defer {
            rest = Data()
            searched = 0
        }
        return rest.isEmpty ? nil : rest
    }

    /// The LF of a CRLF whose CR ended a line already.
    private mutating func skipLineFeed() {
        guard skipsLineFeed, let first = rest.first else { return }
        skipsLineFeed = false
        if first == UInt8(ascii: "\n") { rest = rest.dropFirst() }
    }

    /// Takes a byte order mark off the start, once it is there or cannot come any more.
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
    /// The mark that some programs put in front of a text in UTF-8, U+FEFF.
    static let byteOrderMark = Data([0xEF, 0xBB, 0xBF])
}
