import Foundation

extension String {
    /// Whether a character of ASCII occurs in the text.
    ///
    /// The plain way asks a text for its form again at every byte, and this is asked several times with every request.
    package func hasByte(_ byte: UInt8) -> Bool {
        utf8.withContiguousStorageIfAvailable { $0.contains(byte) } ?? utf8.contains(byte)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether the bytes begin with others.
    func begins(with start: UnsafeRawBufferPointer) -> Bool {
        guard let own = baseAddress, let other = start.baseAddress else { return start.isEmpty }
        return count >= start.count && memcmp(own, other, start.count) == 0
    }
}
