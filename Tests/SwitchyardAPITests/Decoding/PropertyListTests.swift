import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardMarkup
import SwitchyardServices
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct PropertyListTests {
    /// Nested arrays of any depth.
    private struct Nest: Codable, Sendable, Equatable {
        var inner: [Nest]

        init(depth: Int) { inner = depth > 1 ? [Nest(depth: depth - 1)] : [] }

        init(from decoder: any Decoder) throws { inner = try decoder.singleValueContainer().decode([Nest].self) }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(inner)
        }
    }

    private static func decoded<Value: Decodable & Sendable>(_ data: Data, as type: Value.Type) throws -> Value {
        try ResponseSerializer.propertyList(type).value(of: RawResponse(data: data))
    }

    private static func reason(_ data: Data) -> DecodingFailure.Kind? {
        do throws(APIError) {
            _ = try ResponseSerializer.propertyList(Nest.self).value(of: RawResponse(data: data))
            return nil
        } catch {
            guard case .body(.decoding(let failure)) = error.reason else { return nil }
            return failure.kind
        }
    }

    private static func markup(_ content: String) -> Data {
        Data(#"<?xml version="1.0"?><plist version="1.0">\#(content)</plist>"#.utf8)
    }

    /// A binary property list of these objects, the first of which is the root; references and offsets have two bytes.
    private static func binary(_ objects: [[UInt8]]) -> Data {
        var data = Data("bplist00".utf8)
        var table = Data()
        for object in objects {
            table += [UInt8(data.count >> 8), UInt8(data.count & 255)]
            data += object
        }
        let trailer: [UInt8] = [0, 0, 0, 0, 0, 0, 2, 2]
        let numbers = [objects.count, 0, data.count].flatMap { number in
            (0..<8).map { UInt8(number >> (56 - $0 * 8) & 255) }
        }
        return data + table + trailer + numbers
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func `a property list has the same depth limit as JSON`(format: PropertyListSerialization.PropertyListFormat) throws
    {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format

        let deep = try encoder.encode(Nest(depth: JSONDepth.standard))
        #expect(try Self.decoded(deep, as: Nest.self) == Nest(depth: JSONDepth.standard))
        let deeper = try encoder.encode(Nest(depth: JSONDepth.standard + 1))
        #expect(Self.reason(deeper) == .tooDeep(limit: JSONDepth.standard))
    }

    @Test func `property lists that would overflow the stack are errors`() {
        let limit = DecodingFailure.Kind.tooDeep(limit: JSONDepth.standard)
        let open = String(repeating: "<array>", count: 100_000)

        #expect(Self.reason(Self.markup(open)) == limit)
        #expect(Self.reason(Self.markup(open + String(repeating: "</array>", count: 100_000))) == limit)
        #expect(
            Self.reason(Self.binary((1...10_000).map { [0xA1, UInt8($0 >> 8), UInt8($0 & 255)] } + [[0xA0]])) == limit
        )
        #expect(Self.reason(Self.binary([[0xA1, 0, 0]])) == limit)
        #expect(Self.reason(Self.binary([[0xA1, 0, 1], [0xD1, 0, 2, 0, 0], [0x51, 0x61]])) == limit)
    }

    @Test(arguments: ["(())", " \n{a = b;}", "\u{FEFF}()", "a", "  "])
    func `a property list in the old ASCII form is rejected, because its depth is not checked`(text: String) {
        guard case .malformed = Self.reason(Data(text.utf8)) else {
            Issue.record("expected a malformed list")
            return
        }
    }

    @Test(arguments: ["\u{FEFF}", "\r\n\t "])
    func `an XML property list may start with a byte order mark or spaces`(start: String) throws {
        let list = Data("\(start)<plist><array><array/></array></plist>".utf8)

        #expect(try Self.decoded(list, as: [[Int]].self) == [[]])
    }

    @Test func `a property list with exponentially repeated references is rejected`() {
        let doubling: [[UInt8]] = (1...60).map { [0xA2, 0, UInt8($0), 0, UInt8($0)] } + [[0xA0]]

        #expect(Self.reason(Self.binary(doubling)) == .corrupted)
    }

    @Test func `property lists with every kind of value are decoded`() throws {
        struct Model: Codable, Sendable, Equatable {
            var text = "<array>&amp; é"
            var numbers = Array(0..<1_000)
            var dates = [Date(timeIntervalSinceReferenceDate: 5)]
            var bytes = Data([0, 255])
            var same = [["a": 1], ["a": 1], [:]]
            var empty: [String: [Int]] = ["x": [], "y": []]
        }
        for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
            let encoder = PropertyListEncoder()
            encoder.outputFormat = format
            #expect(try Self.decoded(encoder.encode(Model()), as: Model.self) == Model())
        }
        let content = "<!-- <array> --><array><array/><string><![CDATA[</array><array>]]></string><array /></array>"
        let siblings = "<array>\(String(repeating: "<array/>", count: 1_000))</array>"
        #expect(throws: Never.self) { try Self.decoded(Self.markup(siblings), as: [[Int]].self) }
        #expect(Self.reason(Self.markup(content)) != .malformed(offset: nil))
    }

    @Test func `a truncated or damaged property list never crashes the decoder`() throws {
        let encoder = PropertyListEncoder()
        for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
            encoder.outputFormat = format
            let whole = try encoder.encode(["a": [[1, 2], []], "b": [[3]]])
            // The line end after the last tag is optional.
            for length in 1..<(whole.count - 1) { #expect(Self.reason(whole[..<length]) != nil) }
        }
        encoder.outputFormat = .binary
        let whole = try encoder.encode(Nest(depth: 5))
        for index in whole.indices {
            for byte in [UInt8(0), 1, 0xA1, 0xAF, 0xD1, 0xFF] {
                var damaged = whole
                damaged[index] = byte
                _ = Self.reason(damaged)
            }
        }
    }
}
