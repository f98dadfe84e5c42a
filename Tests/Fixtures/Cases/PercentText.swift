/// The bytes of a text with escapes.
package enum PercentText {
    package static func bytes(_ text: String) -> [UInt8] {
        var output: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), digits.count == 2, let value = UInt8(digits, radix: 16) {
                output.append(value)
                rest = rest.dropFirst(2)
            } else {
                output.append(byte)
            }
        }
        return output
    }
}
