import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import Testing

/// A request that cannot be sent ends with one typed error that names the problem and its place.
@Suite(.timeLimit(.minutes(5)), .prompt) struct BadInputTests {
    struct Mistake: Sendable, CustomTestStringConvertible {
        var name: String
        var configuration: APIConfiguration
        /// The texts that the message must contain.
        var what: String
        var place: String
        var testDescription: String { name }

        init(
            _ name: String,
            what: String,
            place: String,
            path: String = "x",
            _ change: (inout APIConfiguration) -> Void = { _ in }
        ) {
            self.name = name
            self.what = what
            self.place = place
            configuration = APIConfiguration(path: path)
            change(&configuration)
        }
    }

    struct Unencodable: Encodable, Sendable {
        var price = Double.nan
    }

    static let paths = [
        Mistake(
            "a path that climbs",
            what: "must stay within the base URL's path",
            place: "../admin",
            path: "../admin"
        ),
        Mistake("an encoded climb", what: "leaves it with “..”", place: "a/%2e%2E/../b", path: "a/%2e%2E/../b"),
        Mistake("a line break in a path", what: "line break", place: #"a\r\nHost: evil"#, path: "a\r\nHost: evil"),
        Mistake("a NUL in a path", what: "NUL", place: #"a\0"#, path: "a\u{0}"),
        Mistake("a full URL of another scheme", what: "ftp", place: "ftp://h/x", path: "ftp://h/x"),
        Mistake("a full URL without a host", what: "no valid host", place: "https:///x", path: "https:///x"),
        Mistake("a URL of 100 kB", what: "100023 bytes", place: "aaaa", path: String(repeating: "a", count: 100_000)),
        Mistake("a template without a value", what: "no value for {id}", place: "users/{id}", path: "users/{id}"),
        Mistake("a template that breaks off", what: "byte 9", place: "users/{id", path: "users/{id"),
    ]

    static let headers = [
        Mistake("a line break in a value", what: "line break", place: "X-Name") { $0.headers = ["X-Name": "a\r\nb"] },
        Mistake("a line feed alone", what: "line break", place: "X-Name") { $0.headers = ["X-Name": "a\nb"] },
        Mistake("a line break in a name", what: "must be a token", place: #"X\r\nY"#) { $0.headers = ["X\r\nY": "a"] },
        Mistake("another control character", what: "control character U+0001", place: "X-Name") {
            $0.headers = ["X-Name": "a\u{1}b"]
        },
        Mistake("a delete character", what: "control character U+007F", place: "X-Name") {
            $0.headers = ["X-Name": "a\u{7f}"]
        },
        Mistake("a colon in a user's name", what: "colon", place: "Authorization") {
            $0.credential = .basic(user: "a:b", password: "p")
        },
        Mistake("an empty name", what: "must be a token", place: "“”") { $0.headers = ["": "a"] },
    ]

    static let values = [
        Mistake("a number that is none", what: "not a number", place: "a[b]") {
            $0.query = ["a": ["b": Double.nan] as Parameters]
        },
        Mistake("a body that fails to encode", what: "could not be encoded", place: "price") {
            $0.method = .post
            $0.body = .json(Unencodable())
        },
        Mistake("text outside its character set", what: "character set", place: "text") {
            $0.method = .post
            $0.body = .text("漢", encoding: .isoLatin1)
        },
        Mistake("a file that is not there", what: "no such file", place: "/missing/file") {
            $0.method = .put
            $0.body = .file(URL(fileURLWithPath: "/missing/file"))
        },
        Mistake("a body where none belongs", what: "must not have a body", place: "GET") { $0.body = .json(["a": 1]) },
    ]

    @Test(arguments: paths + headers + values)
    func `an invalid request ends once with invalidRequest`(mistake: Mistake) async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .status(200) }

        let reason = await client.failure(of: mistake.configuration)

        guard case .invalidRequest(let error) = reason else {
            Issue.record("expected invalidRequest, got \(String(describing: reason))")
            return
        }
        #expect(error.message.contains(mistake.what), "\(error.message)")
        #expect(error.message.contains(mistake.place), "\(error.message)")
        #expect(error.message.utf8.count < 300)
        #expect(transport.requestCount == 0)
        #expect(client.activeRequests.isEmpty)
    }

    @Test(arguments: [
        ("api.example.com", "not absolute"), ("http://", "no valid host"), ("http:///v1", "no valid host"),
        ("ftp://h", "scheme ftp"), ("http://h:99999", "port"), ("", "not absolute"),
    ])
    func `the error for a base URL without a host names the URL`(base: String, what: String) {
        let error = #expect(throws: RequestError.self) { try BaseURL(base) }

        #expect(error?.message.contains("“\(base)”") == true)
        #expect(error?.message.contains(what) == true)
    }

    // A space is not an error, because it is encoded. An absolute http or https URL replaces the base
    // URL.
    @Test(arguments: [("a b", "http://primary.test/v1/a%20b"), ("https://o.example/x y", "https://o.example/x%20y")])
    func `a path with unusual but unambiguous characters is encoded and sent`(path: String, expected: String)
        async throws
    {
        let (client, transport) = try NetworkClient.stubbed { _ in .status(200) }

        _ = try await client.send(APIConfiguration(path: path))

        #expect(transport.requests.map(\.url.text) == [expected])
    }

    @Test func `a parameter whose name contains brackets or arbitrary text remains one parameter`() throws {
        let odd = "a[b]=c&d[]\u{FFFD}\u{0}"

        let request = try BuiltRequest.request(APIConfiguration(query: [odd: odd]))

        #expect(Parameters(parsing: request.url.query ?? "").items == [.init(key: odd, value: .string(odd))])
    }

    @Test func `invalid UTF-8 is repaired before it is sent`() throws {
        let broken = String(decoding: [0x61, 0xFF, 0xC3], as: UTF8.self)

        let request = try BuiltRequest.request(APIConfiguration(path: broken, query: ["k": broken]))

        #expect(request.url.text.hasSuffix("/a%EF%BF%BD%EF%BF%BD?k=a%EF%BF%BD%EF%BF%BD"))
    }
}
