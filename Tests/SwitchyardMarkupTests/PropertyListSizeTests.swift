import Foundation
import SwitchyardAPI
import SwitchyardFixtures
import Testing

@testable import SwitchyardMarkup

@Suite(.timeLimit(.minutes(5)), .prompt) struct PropertyListSizeTests {
    /// A big-endian number of four bytes.
    private static func bytes(_ number: Int, _ count: Int = 4) -> [UInt8] {
        (0..<count).reversed().map { UInt8(number >> ($0 * 8) & 255) }
    }

    /// A binary property list of an array with `count` references to one object.
    private static func list(naming object: [UInt8], times count: Int) -> Data {
        let array = [0xAF, 0x12] + bytes(count) + [UInt8](repeating: 1, count: count)
        let table = 8 + array.count + object.count
        var list = [UInt8]("bplist00".utf8) + array + object
        list += bytes(8) + bytes(8 + array.count)
        list += [0, 0, 0, 0, 0, 0, 4, 1] + bytes(2, 8) + bytes(0, 8) + bytes(table, 8)
        return Data(list)
    }

    // 1.5 MB that would become 500 GB as `[String]`.
    @Test func `a property list that references a long text very often is rejected`() {
        let text = [0x5F, 0x12] + Self.bytes(1_000_000) + [UInt8](repeating: 0x61, count: 1_000_000)

        #expect(throws: DecodingFailure.self) { try PropertyListDepth.check(Self.list(naming: text, times: 500_000)) }
    }

    @Test func `a property list that references a short text often, or a long text once, is accepted`() throws {
        let text = [0x5F, 0x12] + Self.bytes(1_000_000) + [UInt8](repeating: 0x61, count: 1_000_000)

        try PropertyListDepth.check(Self.list(naming: [0x53, 0x61, 0x62, 0x63], times: 100_000))
        try PropertyListDepth.check(Self.list(naming: text, times: 1))
    }

    @Test func `each UTF-16 character of a property list counts as two bytes towards the size limit`() {
        let text = [0x6F, 0x12] + Self.bytes(500_000) + [UInt8](repeating: 0, count: 1_000_000)

        #expect(throws: DecodingFailure.self) { try PropertyListDepth.check(Self.list(naming: text, times: 100)) }
    }

    // PropertyListDecoder reads data that starts with "bplist0" as binary and anything else as text. Apple systems also
    // read the old ASCII form as text.
    @Test func `an ASCII property list that starts with the word bplist is rejected`() {
        let text = [UInt8]("bplist = \(String(repeating: "(", count: 200));".utf8)
        var list = text + [0]
        list += [0, 0, 0, 0, 0, 0, 1, 1] + Self.bytes(1, 8) + Self.bytes(0, 8) + Self.bytes(text.count, 8)

        #expect(throws: DecodingFailure.self) { try PropertyListDepth.check(Data(list)) }
    }

    // Apple systems decode the bytes as the XML declaration says, so "+ADw-" in UTF-7 is "<".
    @Test(arguments: ["UTF-7", "utf-7", "ISO-2022-JP", "HZ-GB-2312", "IBM037", "Shift_JIS", "GB18030", "Big5"])
    func `a property list in an encoding that can hide tags is rejected`(encoding: String) {
        let hidden = String(repeating: "+ADw-array+AD4-", count: 1_000)
        let text = "<?xml version=\"1.0\" encoding=\"\(encoding)\"?><plist>\(hidden)</plist>"

        #expect(throws: DecodingFailure.self) { try PropertyListDepth.check(Data(text.utf8)) }
    }
}
