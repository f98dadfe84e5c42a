import Foundation
import SwitchyardHTTP
import Testing

@testable import SwitchyardClient

/// The encoding can be used alone.
@Suite struct ParameterEncodingTests {
    static func encode(
        _ parameters: Parameters,
        _ change: (inout ParameterEncodingOptions) -> Void = { _ in }
    ) throws(RequestError) -> String {
        var options = ParameterEncodingOptions()
        change(&options)
        var output = ByteBuffer(capacity: 16)
        var serializer = ParameterSerializer(ParameterSerializerPlan(options))
        try serializer.write(parameters, to: &output)
        return output.text()
    }

    @Test func `reserved characters in parameters are escaped except ? and /`() throws {
        let text = try Self.encode(["k": ":#[]@!$&'()*+,;=?/ %"])

        #expect(text == "k=%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D?/%20%25")
    }

    @Test func `an emoji of several scalars in a parameter is escaped completely`() throws {
        #expect(try Self.encode(["k": "👨‍👩‍👧"]) == "k=%F0%9F%91%A8%E2%80%8D%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7")
    }

    @Test func `parameter names are sorted at every level unless sorting is off`() throws {
        let parameters: Parameters = ["b": ["d": 1, "c": 2] as Parameters, "a": 3, "b": 0]

        #expect(try Self.encode(parameters) == "a=3&b%5Bc%5D=2&b%5Bd%5D=1&b=0")
        #expect(try Self.encode(parameters) { $0.sortsKeys = false } == "b%5Bd%5D=1&b%5Bc%5D=2&a=3&b=0")
    }

    @Test func `arrays in parameters are written in each style of the options`() throws {
        let list: Parameters = ["l": ["a,b", "c"]]

        #expect(try Self.encode(list) == "l%5B%5D=a%2Cb&l%5B%5D=c")
        #expect(try Self.encode(list) { $0.arrays = .repeated } == "l=a%2Cb&l=c")
        #expect(try Self.encode(list) { $0.arrays = .indexed } == "l%5B0%5D=a%2Cb&l%5B1%5D=c")
        #expect(try Self.encode(list) { $0.arrays = .commaSeparated } == "l=a%2Cb,c")
        #expect(try Self.encode(list) { $0.arrays = .custom { "\($0).\($1)" } } == "l.0=a%2Cb&l.1=c")
    }

    @Test func `nested parameters are written in each style of the options`() throws {
        let nested: Parameters = ["a": ["b": ["c": 1]]]

        #expect(try Self.encode(nested) == "a%5Bb%5D%5Bc%5D=1")
        #expect(try Self.encode(nested) { $0.nesting = .dots } == "a.b.c=1")
        #expect(try Self.encode(nested) { $0.nesting = .custom { "\($0)-\($1)" } } == "a-b-c=1")
    }

    @Test func `null parameters are written in each style of the options`() throws {
        let null: Parameters = ["a": nil, "b": 1]

        #expect(try Self.encode(null) == "b=1")
        #expect(try Self.encode(null) { $0.nulls = .empty } == "a=&b=1")
        #expect(try Self.encode(null) { $0.nulls = .bare } == "a&b=1")
        #expect(try Self.encode(null) { $0.nulls = .literal("null") } == "a=null&b=1")
    }

    @Test func `Boolean parameters are written as numbers or words`() throws {
        #expect(try Self.encode(["a": true, "b": false]) == "a=1&b=0")
        #expect(try Self.encode(["a": true, "b": false]) { $0.booleans = .literal } == "a=true&b=false")
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"), (-62_167_219_200, "0000-01-01T00:00:00Z"),
        (4_102_444_799, "2099-12-31T23:59:59Z"),
    ])
    func `dates in parameters are written as ISO 8601 in UTC`(seconds: Double, expected: String) throws {
        let text = try Self.encode(["d": Date(timeIntervalSince1970: seconds)]) { $0.allowedCharacters = .printable }

        #expect(text == "d=\(expected)")
    }

    @Test func `dates in parameters are written in each style of the options`() throws {
        let date: Parameters = ["d": Date(timeIntervalSinceReferenceDate: 123.456)]

        #expect(try Self.encode(date) { $0.dates = .deferred } == "d=123.456")
        #expect(try Self.encode(date) { $0.dates = .secondsSince1970 } == "d=978307323.456")
        #expect(try Self.encode(date) { $0.dates = .millisecondsSince1970 } == "d=978307323456.0")
        #expect(try Self.encode(date) { $0.dates = .iso8601WithMilliseconds } == "d=2001-01-01T00%3A02%3A03.456Z")
        #expect(try Self.encode(date) { $0.dates = .pattern("yyyy-MM-dd") } == "d=2001-01-01")
        #expect(try Self.encode(date) { $0.dates = .custom { _ in "x" } } == "d=x")
    }

    // A value that a server sent in milliseconds is sent back unchanged.
    @Test(arguments: [Int64(-2_208_988_800_000), 2_469_134, 951_782_400_000, 1_767_225_600_000, 2_199_000_863_864])
    func `a date parameter with whole milliseconds keeps its milliseconds`(start: Int64) throws {
        let all = start..<start + 1000

        let written = try all.map { milliseconds in
            let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            return try Self.encode(["d": date]) { $0.dates = .iso8601WithMilliseconds }.suffix(4)
        }

        #expect(written == all.map { "\(($0 % 1000 + 1000) % 1000 + 1000)Z".suffix(4) })
    }

    @Test func `a date parameter outside the format's range is an error`() {
        #expect(throws: RequestError.self) { try Self.encode(["d": Date.distantFuture.addingTimeInterval(1e15)]) }
    }

    @Test func `bytes are written in each style of ParameterEncodingOptions.data`() throws {
        let data: Parameters = ["d": Data([0xFB, 0xFF])]

        #expect(try Self.encode(data) == "d=%2B/8%3D")
        #expect(try Self.encode(data) { $0.data = .base64URL } == "d=-_8")
        #expect(try Self.encode(data) { $0.data = .deferred } == "d%5B%5D=251&d%5B%5D=255")
        #expect(try Self.encode(data) { $0.data = .custom { "\($0.count)" } } == "d=2")
    }

    @Test(arguments: [
        (ParameterEncodingOptions.KeyCase.snakeCase, "my_url_property"), (.kebabCase, "my-url-property"),
        (.capitalized, "MyURLProperty"),
        (.uppercased, "MYURLPROPERTY"), (.lowercased, "myurlproperty"), (.custom { "x\($0)" }, "xmyURLProperty"),
    ])
    func `parameter names are converted to each key case`(keyCase: ParameterEncodingOptions.KeyCase, expected: String)
        throws
    {
        #expect(try Self.encode(["myURLProperty": 1]) { $0.keyCase = keyCase } == "\(expected)=1")
    }

    // Digits are treated as in Alamofire and in Foundation's JSON encoder. Names that begin with capitals are
    // split into words.
    @Test(arguments: [
        ("isB2B", "is_b2b"), ("isP2PAllowed", "is_p2p_allowed"), ("user2FA", "user2_fa"), ("aB2Cd", "a_b2_cd"),
        ("sha256Sum", "sha256_sum"), ("useMP3File", "use_mp3_file"), ("URLPath", "url_path"), ("ID", "id"),
        ("one_Two", "one_two"), ("_id", "_id"),
    ])
    func `a digit between capitals does not start a new word in a key case`(name: String, expected: String) throws {
        let parameters = Parameters([.init(key: name, value: 1)])

        #expect(try Self.encode(parameters) { $0.keyCase = .snakeCase } == "\(expected)=1")
    }

    @Test func `parameter names are converted to the key case at every level`() throws {
        let nested: Parameters = ["outerName": ["innerName": 1]]

        #expect(try Self.encode(nested) { $0.keyCase = .snakeCase } == "outer_name%5Binner_name%5D=1")
    }

    @Test func `the options set the spaces, allowed characters, separator and character set of a query`() throws {
        #expect(try Self.encode(["a b": "c d"]) { $0.spaces = .plus } == "a+b=c+d")
        #expect(try Self.encode(["a": "*~"]) { $0.allowedCharacters = .form } == "a=*%7E")
        #expect(try Self.encode(["a": 1, "b": 2]) { $0.separator = ";" } == "a=1;b=2")
        #expect(try Self.encode(["a": "é"]) { $0.characterSet = .isoLatin1 } == "a=%E9")
    }

    @Test func `the error for a parameter that cannot be written names its key`() {
        func failure(_ parameters: Parameters, _ change: (inout ParameterEncodingOptions) -> Void = { _ in })
            -> RequestError?
        {
            do throws(RequestError) { _ = try Self.encode(parameters, change) } catch { return error }
            return nil
        }

        #expect(failure(["a": ["b": [Double.nan]]]) == .parameter(keyPath: "a[b][]", reason: .notFinite))
        #expect(
            failure(["a": "漢"]) { $0.characterSet = .isoLatin1 } == .parameter(keyPath: "a", reason: .notInCharacterSet)
        )
        #expect(
            failure(["a": [["b"]]]) { $0.arrays = .commaSeparated }
                == .parameter(keyPath: "a", reason: .nestedInJoinedList)
        )
    }

    @Test func `infinite numbers and NaN in parameters can be written as chosen literals`() throws {
        let text = try Self.encode(["a": Double.infinity, "b": -Double.infinity, "c": Double.nan]) {
            $0.nonFiniteNumbers = .literals(positive: "inf", negative: "-inf", notANumber: "nan")
        }

        #expect(text == "a=inf&b=-inf&c=nan")
    }

    @Test func `parameters that are nested too deeply are an error and not a crash`() {
        var value = ParameterValue.null
        for _ in 0..<1000 { value = .array([value]) }

        #expect(throws: RequestError.self) { try Self.encode(["deep": value]) }
    }

    @Test func `very many lists and objects side by side in parameters do not count as nested too deeply`() throws {
        let list = ParameterValue.array((0..<100).map { .array([.integer($0)]) })
        let objects = ParameterValue.array((0..<100).map { .dictionary(["x": $0]) })

        #expect(try Self.encode(["list": list]).split(separator: "&").count == 100)
        #expect(try Self.encode(["objects": objects]).split(separator: "&").count == 100)
    }

    @Test func `a hundred thousand parameters are written`() throws {
        var parameters = Parameters()
        for number in 0..<100_000 { parameters.append("k\(number)", number) }

        let text = try Self.encode(parameters)

        #expect(text.utf8.split(separator: UInt8(ascii: "&")).count == 100_000)
    }
}
