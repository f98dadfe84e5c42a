import Foundation
import SwitchyardAPI
import Testing

@Suite struct LossyArrayTests {
    private static func decoded<Element: Decodable>(
        _ text: String,
        of type: Element.Type = Element.self,
        using decoding: JSONDecoding = .standard
    ) throws -> LossyArray<Element> {
        try decoding.decode(LossyArray<Element>.self, from: Data(text.utf8))
    }

    @Test func `the decoder's date, data and key strategies apply to the elements of a lossy array`() throws {
        let dates = try Self.decoded(#"["1970-01-01T00:00:10Z", "soon"]"#, of: Date.self)
        #expect(dates.elements == [Date(timeIntervalSince1970: 10)])
        #expect(dates.failures.map(\.index) == [1])

        let urls = try Self.decoded(#"["https://a.example/x"]"#, of: URL.self)
        #expect(urls.elements.map(\.absoluteString) == ["https://a.example/x"])
        #expect(try Self.decoded("[12.5]", of: Decimal.self).elements == [12.5])
        #expect(try Self.decoded(#"["AQI="]"#, of: Data.self).elements == [Data([1, 2])])

        let snake = JSONDecoding { $0.keyDecodingStrategy = .convertFromSnakeCase }
        #expect(try Self.decoded(#"[{"a_b": 1}]"#, of: [String: Int].self, using: snake).elements == [["a_b": 1]])
    }

    @Test func `a null element of a lossy array is kept only if the element type is optional`() throws {
        #expect(try Self.decoded("[1, null, 3]", of: Int?.self).elements == [1, nil, 3])

        let strict = try Self.decoded("[1, null, 3]", of: Int.self)
        #expect(strict.elements == [1, 3])
        #expect(strict.failures.map(\.failure) == [DecodingFailure(.missingValue, keyPath: "[1]")])
    }

    @Test func `a page made from a lossy array reports the number of broken elements`() throws {
        let page = try Self.decoded(#"[1, "x", 3]"#, of: Int.self).page

        #expect(page.items == [1, 3])
        #expect(page.brokenItems == 1)
    }

    @Test func `an element of a lossy array counts as broken if its decoding throws a custom error`() throws {
        let array = try Self.decoded("[1, -2, 3]", of: Positive.self)

        #expect(array.elements.map(\.value) == [1, 3])
        #expect(array.failures.map(\.failure) == [DecodingFailure(.corrupted, keyPath: "[1]")])
    }

    private struct Positive: Decodable {
        struct TooSmall: Error {}

        let value: Int

        init(from decoder: any Decoder) throws {
            value = try decoder.singleValueContainer().decode(Int.self)
            if value < 0 { throw TooSmall() }
        }
    }

    @Test func `the decoding failure of an element in a lossy array has the whole key path`() throws {
        struct Item: Decodable { var sizes: [Int] }

        let items = try Self.decoded(#"[{"sizes": [1]}, {"sizes": [1, "x"]}, {}]"#, of: Item.self)

        #expect(items.elements.map(\.sizes) == [[1]])
        #expect(items.failures.map(\.failure.keyPath) == ["[1].sizes[1]", "[2].sizes"])
    }
}
