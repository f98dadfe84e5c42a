import Foundation

/// SHA-1 (FIPS 180-4).
///
/// A server returns this hash of `Sec-WebSocket-Key` to prove that it has read the opening handshake (RFC 6455 section
/// 4.2.2).
enum SHA1 {
    static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        var padded = bytes + [0x80]
        padded += [UInt8](repeating: 0, count: (120 - padded.count % 64) % 64)
        withUnsafeBytes(of: UInt64(bytes.count * 8).bigEndian) { padded += $0 }
        for start in stride(from: 0, to: padded.count, by: 64) { add(padded[start..<start + 64], to: &state) }
        return state.flatMap { word in withUnsafeBytes(of: word.bigEndian, Array.init) }
    }

    private static func add(_ block: ArraySlice<UInt8>, to state: inout [UInt32]) {
        var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { index in
            block[index..<index + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for index in 16..<80 {
            words.append(rotated(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], by: 1))
        }
        var next = state
        for (index, word) in words.enumerated() {
            let (mix, constant) = round(index, next)
            let first = rotated(next[0], by: 5) &+ mix &+ next[4] &+ constant &+ word
            next = [first, next[0], rotated(next[1], by: 30), next[2], next[3]]
        }
        for index in state.indices { state[index] &+= next[index] }
    }

    private static func round(_ index: Int, _ state: [UInt32]) -> (mix: UInt32, constant: UInt32) {
        let (second, third, fourth) = (state[1], state[2], state[3])
        switch index {
        case ..<20: return ((second & third) | (~second & fourth), 0x5A82_7999)
        case ..<40: return (second ^ third ^ fourth, 0x6ED9_EBA1)
        case ..<60: return ((second & third) | (second & fourth) | (third & fourth), 0x8F1B_BCDC)
        default: return (second ^ third ^ fourth, 0xCA62_C1D6)
        }
    }

    private static func rotated(_ word: UInt32, by count: UInt32) -> UInt32 { word << count | word >> (32 - count) }
}
