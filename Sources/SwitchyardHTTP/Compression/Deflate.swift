import Foundation

/// A DEFLATE compressor (RFC 1951) with fixed Huffman codes and a bounded search for matches.
///
/// Foundation has no compressor on Linux, and request bodies are small. JSON shrinks to about a quarter of its size,
/// slightly less than with zlib, because zlib computes Huffman codes for each body.
package struct Deflate {
    private static let windowSize = 1 << 15
    private static let hashSize = 1 << 15
    private static let longestMatch = 258
    /// The maximum number of earlier positions that are tried for a match.
    ///
    /// A larger number finds longer matches and takes longer.
    private static let effort = 32

    private let input: [UInt8]
    private var bits = BitWriter()
    /// For each hash of three bytes, the latest position at which bytes with this hash occurred.
    ///
    /// `previous` links each position to the preceding position with the same hash.
    private var latest = [Int32](repeating: -1, count: hashSize)
    private var previous: [Int32]

    /// Compresses bytes into one final block.
    package static func compressed(_ input: [UInt8]) -> [UInt8] {
        var deflate = Deflate(input)
        deflate.run(isFinal: true)
        return deflate.bits.finish()
    }

    /// Compresses bytes into a block that ends at a byte boundary and that other blocks may follow (RFC 7692 section
    /// 7.2.1).
    ///
    /// The output ends with an empty uncompressed block, whose last four bytes (00 00 FF FF) are omitted.
    package static func flushed(_ input: [UInt8]) -> [UInt8] {
        var deflate = Deflate(input)
        deflate.run(isFinal: false)
        deflate.bits.append(0b000, count: 3)
        return deflate.bits.finish()
    }

    private init(_ input: [UInt8]) {
        self.input = input
        previous = [Int32](repeating: -1, count: input.count)
    }

    private mutating func run(isFinal: Bool) {
        bits.append(isFinal ? 0b011 : 0b010, count: 3)  // A block with fixed codes.
        var position = 0
        while position < input.count {
            let match = longestMatch(at: position)
            if let match {
                appendMatch(length: match.length, distance: match.distance)
            } else {
                bits.appendLiteral(input[position])
            }
            for covered in position..<position + (match?.length ?? 1) { remember(covered) }
            position += match?.length ?? 1
        }
        bits.appendSymbol(256)
    }

    // MARK: - Matches

    private func hash(at position: Int) -> Int {
        let value = UInt32(input[position]) << 16 | UInt32(input[position + 1]) << 8 | UInt32(input[position + 2])
        return Int((value &* 0x9E37_79B1) >> 17)
    }

    private mutating func remember(_ position: Int) {
        guard position + 2 < input.count else { return }
        let slot = hash(at: position)
        previous[position] = latest[slot]
        latest[slot] = Int32(truncatingIfNeeded: position)
    }

    private func longestMatch(at position: Int) -> (length: Int, distance: Int)? {
        guard position + 2 < input.count else { return nil }
        var best: (length: Int, distance: Int)?
        var candidate = Int(latest[hash(at: position)])
        var tries = Self.effort
        while candidate >= 0, position - candidate <= Self.windowSize, tries > 0 {
            let length = matchLength(candidate, position)
            if length >= 3, length > best?.length ?? 2 { best = (length, position - candidate) }
            if length == Self.longestMatch { break }
            candidate = Int(previous[candidate])
            tries -= 1
        }
        return best
    }

    private func matchLength(_ first: Int, _ second: Int) -> Int {
        let limit = min(Self.longestMatch, input.count - second)
        var length = 0
        while length < limit, input[first + length] == input[second + length] { length += 1 }
        return length
    }

    // MARK: - Codes

    private static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    private static let lengthExtra = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    private static let distanceBases = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
        6145,
        8193, 12_289, 16_385, 24_577,
    ]

    private mutating func appendMatch(length: Int, distance: Int) {
        let lengthCode = Self.code(of: length, in: Self.lengthBases)
        bits.appendSymbol(257 + lengthCode)
        bits.append(UInt32(length - Self.lengthBases[lengthCode]), count: Self.lengthExtra[lengthCode])
        let distanceCode = Self.code(of: distance, in: Self.distanceBases)
        bits.appendCode(UInt32(distanceCode), count: 5)
        bits.append(UInt32(distance - Self.distanceBases[distanceCode]), count: max(0, distanceCode / 2 - 1))
    }

    /// Returns the index of the last element of `bases` that is at most `value`.
    private static func code(of value: Int, in bases: [Int]) -> Int {
        var low = 0
        var high = bases.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if bases[middle] <= value { low = middle } else { high = middle }
        }
        return low
    }
}

/// A writer of bits, least significant bit first.
struct BitWriter {
    private var output: [UInt8] = []
    private var pending: UInt64 = 0
    private var count = 0

    /// Appends the low bits of a value, least significant bit first.
    mutating func append(_ value: UInt32, count added: Int) {
        pending |= UInt64(value) << UInt64(count)
        count += added
        while count >= 8 {
            output.append(UInt8(truncatingIfNeeded: pending))
            pending >>= 8
            count -= 8
        }
    }

    /// Appends a Huffman code, most significant bit first.
    mutating func appendCode(_ code: UInt32, count: Int) {
        var reversed: UInt32 = 0
        for bit in 0..<count where code >> UInt32(bit) & 1 == 1 { reversed |= 1 << UInt32(count - 1 - bit) }
        append(reversed, count: count)
    }

    mutating func appendLiteral(_ byte: UInt8) {
        appendSymbol(Int(byte))
    }

    /// Appends a literal or length symbol as a fixed Huffman code (RFC 1951 section 3.2.6).
    mutating func appendSymbol(_ symbol: Int) {
        switch symbol {
        case ..<144: appendCode(UInt32(0b0011_0000 + symbol), count: 8)
        case ..<256: appendCode(UInt32(0b1_1001_0000 + symbol - 144), count: 9)
        case ..<280: appendCode(UInt32(symbol - 256), count: 7)
        default: appendCode(UInt32(0b1100_0000 + symbol - 280), count: 8)
        }
    }

    mutating func finish() -> [UInt8] {
        if count > 0 { output.append(UInt8(truncatingIfNeeded: pending)) }
        return output
    }
}
