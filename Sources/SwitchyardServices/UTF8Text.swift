extension UInt8 {
    /// Whether it is an ASCII digit.
    @inlinable package var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
}

extension String {
    /// The bytes as text; `nil` when they are not UTF-8.
    ///
    /// `String(validating:as:)` needs macOS 15 and iOS 18.
    @inlinable package init?(validUTF8 bytes: some Collection<UInt8>) {
        let text = String(decoding: bytes, as: UTF8.self)
        // Repairing puts U+FFFD in, three bytes for what was not text: then the bytes differ.
        guard text.utf8.elementsEqual(bytes) else { return nil }
        self = text
    }
}
