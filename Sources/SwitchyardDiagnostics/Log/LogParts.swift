/// Cuts a message into parts that a log with a limit on its lines keeps whole.
enum LogParts {
    /// The bytes of a part at most, without its number.
    ///
    /// The unified log writes 1,024 bytes of a line that are not constant to the disk, and drops the rest (Apple,
    /// `os/log.h`).
    static let size = 1_000

    private static let newline = UInt8(ascii: "\n")

    /// The parts of a message, each with its number in front if there are several.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - size: Bytes of a part, at least 4, which is one character; ``size`` unless given.
    /// - Returns: The message, or its parts: `(1/3) …`.
    static func parts(of message: String, size: Int = size) -> [String] {
        guard message.utf8.count > size else { return [message] }
        var parts: [Substring] = []
        var rest = message[...]
        while !rest.isEmpty {
            let end = end(in: rest, size)
            parts.append(rest[..<end])
            rest = rest[end...]
        }
        return parts.enumerated().map { index, part in "(\(index + 1)/\(parts.count)) \(part)" }
    }

    /// Where a part ends: behind a line if one ends in its second half, or else in front of the character that does not
    /// fit.
    private static func end(in text: Substring, _ size: Int) -> String.Index {
        let bytes = text.utf8
        guard bytes.count > size else { return text.endIndex }
        var end = bytes.index(bytes.startIndex, offsetBy: size)
        while bytes[end] & 0b1100_0000 == 0b1000_0000 { end = bytes.index(before: end) }
        let middle = bytes.index(bytes.startIndex, offsetBy: size / 2)
        let line = bytes[middle..<end].lastIndex(of: newline)
        return line.map { bytes.index(after: $0) } ?? end
    }
}
