/// Splits a log message into parts that fit a log whose lines have a maximum length.
enum LogParts {
    /// The maximum size of a part in bytes, without the part's number.
    ///
    /// The unified log stores 1,024 bytes of the variable part of a line and drops the rest (Apple, `os/log.h`).
    static let size = 1_000

    private static let newline = UInt8(ascii: "\n")

    /// Splits a message into parts.
    ///
    /// If there are several parts, each part starts with its number.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - size: The maximum size of a part in bytes, at least 4 (one character). The default is ``size``.
    /// - Returns: The message itself, or its parts, such as `(1/3) …`.
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

    /// Returns the end of a part.
    ///
    /// If a line ends in the second half of the part, the part ends after the last such line. Otherwise, the part ends
    /// before the character that does not fit.
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
