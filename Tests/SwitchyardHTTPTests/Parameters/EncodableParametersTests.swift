import Foundation
import SwitchyardClient
import SwitchyardHTTP
import Testing

@Suite struct EncodableParametersTests {
    struct Search: Encodable, Sendable {
        var text = "swift"
        var page: Int? = 2
        var author: String?
        var since = Date(timeIntervalSince1970: 0)
        var cursor = Data([1, 2])
        var price = Decimal(string: "1.10")
        var site = URL(string: "https://example.com/")
        var filter = ["b": [true], "a": [false, true]]
    }

    @Test func `parameters from an Encodable structure keep dates, bytes and decimals`() throws {
        let parameters = try Parameters(encoding: Search())

        #expect(parameters["text"] == .string("swift"))
        #expect(parameters["page"] == .integer(2))
        #expect(parameters["author"] == .null)
        #expect(parameters["since"] == .date(Date(timeIntervalSince1970: 0)))
        #expect(parameters["cursor"] == .data(Data([1, 2])))
        #expect(parameters["price"] == .decimal(try #require(Decimal(string: "1.10"))))
        #expect(parameters["site"] == .string("https://example.com/"))
        let filter = try #require(parameters["filter"])
        guard case .dictionary(let members) = filter else { return #expect(Bool(false)) }
        #expect(members["a"] == .array([.bool(false), .bool(true)]))
    }

    @Test func `numbers of every type keep their value, and an absent number of any type becomes null`() throws {
        struct Numbers: Encodable, Sendable {
            var flag: Bool?
            var double: Double?
            var float: Float?
            var int8: Int8?
            var int16: Int16?
            var int32: Int32?
            var int64: Int64?
            var uint: UInt?
            var uint8: UInt8?
            var uint16: UInt16?
            var uint32: UInt32?
            var uint64: UInt64?
        }
        let full = Numbers(
            flag: true,
            double: 0.5,
            float: 0.25,
            int8: .min,
            int16: .min,
            int32: .min,
            int64: .min,
            uint: 7,
            uint8: .max,
            uint16: .max,
            uint32: .max,
            uint64: .max
        )

        #expect(
            try Parameters(encoding: full) == [
                "flag": true, "double": 0.5, "float": 0.25, "int8": -128, "int16": -32_768, "int32": -2_147_483_648,
                "int64": Int64.min, "uint": 7, "uint8": 255, "uint16": 65_535, "uint32": 4_294_967_295,
                "uint64": UInt64.max,
            ]
        )
        #expect(try Parameters(encoding: Numbers()).items.allSatisfy { $0.value == .null })
        #expect(try Parameters(encoding: Numbers()).count == 12)
    }

    // Equal structures give equal requests.
    @Test func `encoding a structure as parameters sorts the elements of its sets`() throws {
        struct Filter: Encodable, Sendable {
            var tags: Set<String>
            var ids: [Set<Int>]
            var scores: Set<Double>?
        }
        let tags = (0..<50).map { "t\($0)" }
        var roomy = Set<String>(minimumCapacity: 10_000)
        for tag in tags.reversed() { roomy.insert(tag) }

        let parameters = try Parameters(encoding: Filter(tags: roomy, ids: [[10, 9, 1]], scores: [2.5, 1, -1]))

        #expect(parameters["tags"] == .array(tags.sorted().map { .string($0) }))
        #expect(parameters["ids"] == .array([.array([1, 9, 10])]))
        #expect(parameters["scores"] == .array([-1.0, 1.0, 2.5]))
        #expect(try ParameterValue(encoding: Set(tags)) == .array(tags.sorted().map { .string($0) }))
    }

    // Data that is stored under a request, such as a partial download, is found by an equal
    // request.
    @Test func `encoding a dictionary as parameters sorts its keys at every level`() throws {
        let names = (0..<50).map { "n\($0)" }
        var roomy: [String: Int] = Dictionary(minimumCapacity: 10_000)
        for name in names.reversed() { roomy[name] = 1 }

        let ordered = Parameters(names.sorted().map { Parameters.Item(key: $0, value: 1) })
        #expect(try Parameters(encoding: roomy) == ordered)
        #expect(try Parameters(encoding: ["in": [roomy]])["in"] == .array([.dictionary(ordered)]))
    }

    @Test func `encoding a dictionary as parameters sorts its pairs if its keys are not strings`() throws {
        enum Field: String, Codable, CaseIterable { case a, b, c, d, e, f, g, h }
        let order = Dictionary(uniqueKeysWithValues: Field.allCases.map { ($0, $0.rawValue) })

        let pairs = Field.allCases.flatMap { [ParameterValue.string($0.rawValue), .string($0.rawValue)] }
        #expect(try ParameterValue(encoding: order) == .array(pairs))
    }

    @Test func `parameters can be encoded from a subclass, nested containers and a super encoder`() throws {
        class Base: Encodable {
            let one = 1
        }
        final class Derived: Base, @unchecked Sendable {
            enum Keys: CodingKey { case two, list, inner }
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode(2, forKey: .two)
                var list = container.nestedUnkeyedContainer(forKey: .list)
                try list.encode("x")
                try list.encodeNil()
                var inner = container.nestedContainer(keyedBy: Keys.self, forKey: .inner)
                try inner.encode(UInt8(3), forKey: .two)
                try super.encode(to: container.superEncoder())
            }
        }

        let parameters = try Parameters(encoding: Derived())

        #expect(parameters["list"] == .array([.string("x"), .null]))
        #expect(parameters["inner"] == .dictionary(["two": 3]))
        #expect(parameters["super"] == .dictionary(["one": 1]))
    }

    @Test func `the error for a value that fails to encode names its path`() {
        struct Failing: Encodable, Sendable {
            func encode(to encoder: any Encoder) throws {
                throw EncodingError.invalidValue(0, .init(codingPath: encoder.codingPath, debugDescription: "no"))
            }
        }

        #expect(throws: RequestError.parameter(keyPath: "a[1]", reason: .conversionFailed("no"))) {
            _ = try Parameters(encoding: ["a": [Failing?.none, Failing()]])
        }
    }

    @Test func `encoding a value without keys as parameters is an error`() {
        #expect(throws: RequestError.parameter(keyPath: "", reason: .notKeyed)) {
            _ = try Parameters(encoding: [1, 2])
        }
    }

    @Test func `a value that is nested too deeply is an error and not a crash`() {
        struct Chain: Encodable, Sendable {
            var depth: Int
            enum Keys: CodingKey { case next }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode(Chain(depth: depth + 1), forKey: .next)
            }
        }

        #expect(throws: RequestError.self) { _ = try Parameters(encoding: Chain(depth: 0)) }
    }

    @Test func `parameters can be encoded by any encoder`() throws {
        let parameters: Parameters = ["a": [1, 2], "b": ["c": nil] as Parameters, "d": true]
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys

        let text = String(decoding: try encoder.encode(parameters), as: UTF8.self)

        #expect(text == #"{"a":[1,2],"b":{"c":null},"d":true}"#)
    }
}
