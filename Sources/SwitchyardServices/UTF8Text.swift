extension UInt8 {
    /// Whether the byte is an ASCII digit.
    @inlinable package var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
}

extension String {
    /// Creates a string from bytes, or returns `nil` if they are not valid UTF-8.
    ///
    /// `String(validating:as:)` needs macOS 15 and iOS 18.
    @inlinable package init?(validUTF8 bytes: some Collection<UInt8>) {
        let text = String(decoding: bytes, as: UTF8.self)
        // Decoding replaces invalid bytes with U+FFFD (three bytes in UTF-8), so the bytes differ if any were invalid.
        guard text.utf8.elementsEqual(bytes) else { return nil }
        self = text
    }
}
