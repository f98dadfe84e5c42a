/// A cursor that moves forward over the bytes of a text and tracks the line and column.
struct TextCursor {
    let bytes: ContiguousArray<UInt8>
    private(set) var offset = 0
    private(set) var line = 1
    private(set) var lineStart = 0

    init(_ bytes: ContiguousArray<UInt8>) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            offset = 3
            lineStart = 3
        }
    }

    /// The position of the next byte.
    ///
    /// The column counts characters. If more than 2,000 bytes precede the next byte on its line, the column counts
    /// bytes, because counting bytes is faster.
    var position: Position {
        guard indent <= 2_000 else { return Position(line: line, column: indent + 1) }
        let characters = bytes[lineStart..<offset].reduce(into: 0) { if $1 & 0xC0 != 0x80 { $0 += 1 } }
        return Position(line: line, column: characters + 1)
    }

    /// The number of bytes on the present line before the next byte.
    var indent: Int { offset - lineStart }
    var isAtEnd: Bool { offset >= bytes.count }
    /// The next byte, or 0 at the end.
    var next: UInt8 { offset < bytes.count ? bytes[offset] : 0 }

    /// Returns the byte at this distance after the next byte, or 0 after the end of the text.
    func peek(_ distance: Int) -> UInt8 {
        offset + distance < bytes.count ? bytes[offset + distance] : 0
    }

    /// Advances by a number of bytes.
    ///
    /// After a line feed, a new line starts.
    mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where offset < bytes.count {
            if bytes[offset] == .lineFeed || (bytes[offset] == .carriageReturn && peek(1) != .lineFeed) {
                line += 1
                lineStart = offset + 1
            }
            offset += 1
        }
    }

    /// If the next byte equals `byte`, advances past it and returns `true`.
    ///
    /// Otherwise, returns `false`.
    mutating func take(_ byte: UInt8) -> Bool {
        guard offset < bytes.count, bytes[offset] == byte else { return false }
        advance()
        return true
    }

    /// Returns whether the next bytes equal a text.
    func starts(with text: StaticString) -> Bool {
        guard offset + text.utf8CodeUnitCount <= bytes.count else { return false }
        for index in 0..<text.utf8CodeUnitCount where bytes[offset + index] != text.utf8Start[index] { return false }
        return true
    }

    /// Returns the text from an offset up to the next byte, or `nil` if it is not valid UTF-8.
    func text(from start: Int) -> String? {
        let part = bytes[start..<offset]
        let text = String(decoding: part, as: UTF8.self)
        // `String` replaces invalid UTF-8. In this case, its bytes differ from the bytes of the text.
        return text.utf8.elementsEqual(part) ? text : nil
    }
}

extension UInt8 {
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let tab: UInt8 = 0x09

    var isLineEnd: Bool { self == .lineFeed || self == .carriageReturn }
    var isBlank: Bool { self == .space || self == .tab }
    var isDecimalDigit: Bool { (0x30...0x39).contains(self) }

    /// The value of a hexadecimal digit, or `nil` for any other byte.
    var hexadecimalValue: UInt32? {
        switch self {
        case 0x30...0x39: UInt32(self) - 0x30
        case 0x41...0x46: UInt32(self) - 0x37
        case 0x61...0x66: UInt32(self) - 0x57
        default: nil
        }
    }
}
