import SwitchyardServices
import Testing

@Suite struct JSONDepthTests {
    private func isTooDeep(_ text: String, limit: Int) -> Bool {
        Array(text.utf8).withUnsafeBytes { JSONDepth.isExceeded(by: $0, limit: limit) }
    }

    @Test(arguments: 0..<20)
    func `every bracket in JSON counts towards the depth, at any position`(padding: Int) {
        let spaces = String(repeating: " ", count: padding)
        for depth in 1..<20 {
            let text = spaces + String(repeating: "[", count: depth) + spaces + "1" + spaces
            #expect(isTooDeep(text, limit: depth - 1))
            #expect(!isTooDeep(text, limit: depth))
        }
    }

    @Test func `only square and curly brackets increase the depth of JSON`() {
        for byte in UInt8(0x20)...0x7E where byte != UInt8(ascii: "\"") {
            let text = String(repeating: Character(Unicode.Scalar(byte)), count: 9)
            #expect(isTooDeep(text, limit: 8) == (byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{")))
        }
    }

    @Test(arguments: [2_039, 2_040, 2_041, 4_081, 10_000])
    func `the depth of a long JSON text is counted to its end`(depth: Int) {
        let text = String(repeating: "{", count: depth)

        #expect(isTooDeep(text, limit: depth - 1))
        #expect(!isTooDeep(text, limit: depth))
    }

    @Test func `brackets side by side or in a string do not increase the depth of JSON`() {
        #expect(!isTooDeep("[" + String(repeating: "[],", count: 50) + "[]]", limit: 2))
        #expect(!isTooDeep("[\"" + String(repeating: "[\\\"", count: 50) + "\"]", limit: 1))
    }
}
