import Foundation

/// A growable, noncopyable buffer of bytes.
///
/// Building a URL appends dozens of single bytes. Without reference counting and copy-on-write, each append costs one
/// store.
package struct ByteBuffer: ~Copyable {
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    package private(set) var count = 0

    package init(capacity: Int) {
        self.capacity = max(capacity, 16)
        base = .allocate(capacity: self.capacity)
    }

    deinit {
        base.deallocate()
    }

    /// Calls `body` with the bytes, which are valid only during the call.
    borrowing func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        body(UnsafeBufferPointer(start: base, count: count))
    }

    /// Returns the bytes as text, with invalid UTF-8 replaced.
    package borrowing func text() -> String {
        String(decoding: UnsafeBufferPointer(start: base, count: count), as: UTF8.self)
    }

    /// Returns a copy of the bytes.
    borrowing func data() -> Data {
        withBytes { Data($0) }
    }

    @inline(__always)
    package mutating func append(_ byte: UInt8) {
        if count == capacity { grow(by: 1) }
        base[count] = byte
        count += 1
    }

    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
        if capacity - count < bytes.count { grow(by: bytes.count) }
        (base + count).initialize(from: source, count: bytes.count)
        count += bytes.count
    }

    package mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer { append($0) }
    }

    package mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append($0) }
    }

    /// Appends the decimal digits of a number.
    package mutating func append(_ number: UInt64) {
        var divisor: UInt64 = 1
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / divisor % 10))
            divisor /= 10
        }
    }

    /// Appends the decimal digits of a number, with a minus sign if the number is negative.
    package mutating func append(_ number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        append(number.magnitude)
    }

    /// Appends bytes and percent-encodes those outside `allowed`.
    ///
    /// Consecutive bytes that need no encoding are copied in one step.
    mutating func appendEscaping(_ bytes: UnsafeBufferPointer<UInt8>, allowed: URLCharacters, plus: Bool = false) {
        var start = 0
        for index in bytes.indices where !allowed.contains(bytes[index]) {
            append(UnsafeBufferPointer(rebasing: bytes[start..<index]))
            appendEscape(bytes[index], plus: plus)
            start = index + 1
        }
        append(UnsafeBufferPointer(rebasing: bytes[start...]))
    }

    private mutating func appendEscape(_ byte: UInt8, plus: Bool) {
        if plus, byte == UInt8(ascii: " ") { return append(UInt8(ascii: "+")) }
        if capacity - count < 3 { grow(by: 3) }
        base[count] = UInt8(ascii: "%")
        base[count + 1] = PercentEncoding.hexDigit(byte >> 4)
        base[count + 2] = PercentEncoding.hexDigit(byte & 15)
        count += 3
    }

    private mutating func grow(by needed: Int) {
        capacity = max(capacity * 2, count + needed)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.moveInitialize(from: base, count: count)
        base.deallocate()
        base = larger
    }
}
