import Foundation

/// A decompressor for the messages of one connection, in order (permessage-deflate, RFC 7692 section 7.2.2).
struct Inflater: Sendable {
    enum Failure: Error {
        /// The payload is not valid DEFLATE data (RFC 1951).
        case invalid
        /// The decompressed message exceeds the limit.
        case tooLarge
    }

    private static let windowSize = 1 << 15

    /// Whether a message may refer to the content of earlier messages.
    private let keepsContext: Bool
    /// The last decompressed bytes, to which the next message may refer.
    private var window: [UInt8] = []

    init(keepsContext: Bool) {
        self.keepsContext = keepsContext
    }

    /// Decompresses the payload of a message.
    ///
    /// - Parameters:
    ///   - payload: The payload, without the four bytes that the sender removes from the end of every message.
    ///   - limit: The maximum number of decompressed bytes.
    /// - Returns: The decompressed message.
    /// - Throws: ``Failure``.
    mutating func message(_ payload: Data, limit: Int) throws(Failure) -> Data {
        var decoder = InflateDecoder(Array(payload) + [0, 0, 0xFF, 0xFF], after: window, limit: limit)
        try decoder.run()
        let output = decoder.output
        if keepsContext { window = Array(output.suffix(Self.windowSize)) }
        return Data(output[decoder.start...])
    }
}

/// A decoder for DEFLATE data (RFC 1951) that ends at a block boundary.
private struct InflateDecoder {
    /// The window, followed by the decompressed bytes.
    private(set) var output: [UInt8]
    /// The index of the first decompressed byte in `output`, after the window.
    let start: Int
    private let end: Int
    private var bits: BitReader

    init(_ input: [UInt8], after window: [UInt8], limit: Int) {
        output = window
        start = window.count
        let (sum, overflow) = start.addingReportingOverflow(max(0, limit))
        end = overflow ? .max : sum
        bits = BitReader(input)
    }

    mutating func run() throws(Inflater.Failure) {
        // In permessage-deflate, more blocks may follow a final block. They start at the next byte (RFC 7692 section
        // 7.2.3.4).
        while bits.hasBlock {
            let isFinal = try bits.take(1) == 1
            switch try bits.take(2) {
            case 0: try copyStored()
            case 1: try decode(.fixedLiterals, .fixedDistances)
            case 2:
                let (literals, distances) = try readCodes()
                try decode(literals, distances)
            default: throw .invalid
            }
            if isFinal { bits.skipToByte() }
        }
    }

    private mutating func append(_ byte: UInt8) throws(Inflater.Failure) {
        guard output.count < end else { throw .tooLarge }
        output.append(byte)
    }

    private mutating func copyStored() throws(Inflater.Failure) {
        bits.skipToByte()
        let length = try bits.take(16)
        guard try bits.take(16) == length ^ 0xFFFF else { throw .invalid }
        for _ in 0..<length { try append(UInt8(try bits.take(8))) }
    }

    // MARK: Compressed blocks

    private static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    private static let lengthExtra = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    private static let distanceBases = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
        6145, 8193, 12_289, 16_385, 24_577,
    ]

    private mutating func decode(_ literals: HuffmanCode, _ distances: HuffmanCode) throws(Inflater.Failure) {
        while true {
            let symbol = try bits.symbol(literals)
            if symbol < 256 {
                try append(UInt8(symbol))
            } else if symbol == 256 {
                return
            } else {
                try copyMatch(symbol - 257, distances)
            }
        }
    }

    private mutating func copyMatch(_ code: Int, _ distances: HuffmanCode) throws(Inflater.Failure) {
        guard code < Self.lengthBases.count else { throw .invalid }
        let length = Self.lengthBases[code] + (try bits.take(Self.lengthExtra[code]))
        let distanceCode = try bits.symbol(distances)
        guard distanceCode < Self.distanceBases.count else { throw .invalid }
        let distance = Self.distanceBases[distanceCode] + (try bits.take(max(0, distanceCode / 2 - 1)))
        guard distance <= output.count else { throw .invalid }
        for _ in 0..<length { try append(output[output.count - distance]) }
    }

    private static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    private mutating func readCodes() throws(Inflater.Failure) -> (HuffmanCode, HuffmanCode) {
        let literalCount = try bits.take(5) + 257
        let distanceCount = try bits.take(5) + 1
        let orderCount = try bits.take(4) + 4
        guard literalCount <= 286, distanceCount <= 30 else { throw .invalid }
        var lengths = [UInt8](repeating: 0, count: 19)
        for index in Self.order.prefix(orderCount) { lengths[index] = UInt8(try bits.take(3)) }
        let lengthCode = try HuffmanCode(lengths[...])
        var all: [UInt8] = []
        while all.count < literalCount + distanceCount { try readLengths(lengthCode, into: &all) }
        guard all.count == literalCount + distanceCount, all[256] != 0 else { throw .invalid }
        return (try HuffmanCode(all[..<literalCount]), try HuffmanCode(all[literalCount...]))
    }

    private mutating func readLengths(_ code: HuffmanCode, into all: inout [UInt8]) throws(Inflater.Failure) {
        let symbol = try bits.symbol(code)
        switch symbol {
        case ..<16: all.append(UInt8(symbol))
        case 16:
            guard let last = all.last else { throw .invalid }
            all += repeatElement(last, count: 3 + (try bits.take(2)))
        case 17: all += repeatElement(0, count: 3 + (try bits.take(3)))
        default: all += repeatElement(0, count: 11 + (try bits.take(7)))
        }
    }
}

/// A prefix code, defined by its code lengths (RFC 1951 section 3.2.2).
private struct HuffmanCode {
    /// The number of codes of each length.
    private(set) var counts = [Int](repeating: 0, count: 16)
    /// The symbols in the order of their codes.
    private(set) var symbols: [Int]

    static let fixedLiterals = HuffmanCode(
        trusted: Array(repeating: 8, count: 144) + Array(repeating: 9, count: 112) + Array(repeating: 7, count: 24)
            + Array(repeating: 8, count: 8)
    )
    static let fixedDistances = HuffmanCode(trusted: Array(repeating: 5, count: 30))

    /// - Throws: ``Inflater/Failure/invalid`` if the lengths define more codes than are available.
    init(_ lengths: ArraySlice<UInt8>) throws(Inflater.Failure) {
        self.init(trusted: Array(lengths))
        var left = 1
        for length in 1..<16 {
            left = left * 2 - counts[length]
            guard left >= 0 else { throw .invalid }
        }
    }

    private init(trusted lengths: [UInt8]) {
        for length in lengths { counts[Int(length)] += 1 }
        counts[0] = 0
        var offsets = [Int](repeating: 0, count: 17)
        for length in 1..<16 { offsets[length + 1] = offsets[length] + counts[length] }
        symbols = Array(repeating: 0, count: offsets[16])
        for (symbol, length) in lengths.enumerated() where length > 0 {
            symbols[offsets[Int(length)]] = symbol
            offsets[Int(length)] += 1
        }
    }
}

/// A reader of bits, least significant first.
private struct BitReader {
    private let input: [UInt8]
    private var position = 0
    private var pending: UInt64 = 0
    private var count = 0

    init(_ input: [UInt8]) {
        self.input = input
    }

    /// Whether another block follows.
    ///
    /// Fewer than 8 remaining bits are padding.
    var hasBlock: Bool { count + (input.count - position) * 8 >= 8 }

    mutating func take(_ wanted: Int) throws(Inflater.Failure) -> Int {
        while count < wanted {
            guard position < input.count else { throw .invalid }
            pending |= UInt64(input[position]) << UInt64(count)
            position += 1
            count += 8
        }
        let value = pending & ((1 << UInt64(wanted)) - 1)
        pending >>= UInt64(wanted)
        count -= wanted
        return Int(value)
    }

    mutating func skipToByte() {
        pending >>= UInt64(count & 7)
        count &= ~7
    }

    mutating func symbol(_ huffman: HuffmanCode) throws(Inflater.Failure) -> Int {
        var (code, first, index) = (0, 0, 0)
        for length in 1..<16 {
            code |= try take(1)
            let number = huffman.counts[length]
            if code - number < first { return huffman.symbols[index + code - first] }
            index += number
            first = (first + number) << 1
            code <<= 1
        }
        throw .invalid
    }
}
