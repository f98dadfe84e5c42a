import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import Testing

@Suite struct RequestURLTests {
    @Test(arguments: [
        ("https://h", "https://h"), ("HTTPS://H/x", "https://H/x"), ("https://h/a b", "https://h/a%20b"),
        ("https://h/ü?ü#ü", "https://h/%C3%BC?%C3%BC"), ("https://h/%2F%zz", "https://h/%2F%25zz"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"), ("http://h:8080", "http://h:8080"),
        ("http://h:", "http://h"), ("https://[::1]:1/x", "https://[::1]:1/x"),
        ("https://h/a/./b/../c", "https://h/a/c"),
        ("https://u:p@h/", "https://u:p@h/"),
    ])
    func `a URL is stored in the form in which it is sent`(text: String, expected: String) throws {
        #expect(try RequestURL(validating: text).text == expected)
    }

    @Test func `a query is sent with the characters that the options allow`() throws {
        var configuration = APIConfiguration(path: "x", query: ["a": ["|1"]])
        var options = ParameterEncodingOptions()
        options.allowedCharacters = .parameter.union(URLCharacters("[]|"))
        configuration.parameterOptions = options

        let url = try BuiltRequest.request(configuration).url

        #expect(url.text.hasSuffix("/x?a[]=|1"))
        #expect(url.query == "a[]=|1")
    }

    @Test func `a URL can be created from Foundation's types`() throws {
        let url = try #require(URL(string: "https://h/a?b#c"))
        let components = try #require(URLComponents(string: "https://h/a?b"))

        #expect(RequestURL(url)?.text == "https://h/a?b")
        #expect(RequestURL(components)?.text == "https://h/a?b")
        #expect(RequestURL(URL(fileURLWithPath: "/tmp")) == nil)
    }

    @Test(arguments: [
        ("http://h", "http://h:80/x", true), ("https://h", "https://H:443", true), ("http://h", "https://h", false),
        ("https://h", "https://h:8443", false), ("https://a.h", "https://h", false),
    ])
    func `an origin consists of scheme, host and port`(first: String, second: String, isSame: Bool) throws {
        let origins = try [first, second].map { try RequestURL(validating: $0).origin }

        #expect((origins[0] == origins[1]) == isSame)
    }

    @Test func `random text never crashes the URL parser`() {
        var generator = SplitMix(state: 0x5EED)
        let alphabet =
            Array("ab:/?#[]@%2e.\\ üé\u{0}\r\n&=+{}*,;1-~").map(String.init) + [
                "http://", "https://", "//", "..", "%zz",
            ]
        for _ in 0..<2000 {
            let text = (0..<Int(generator.next() % 12)).map { _ in
                alphabet[Int(generator.next() % UInt64(alphabet.count))]
            }.joined()
            for join in [PathJoin.append, .relative] {
                var requests = RequestGenerator(headers: [])
                requests.join = join
                var configuration = APIConfiguration(path: text, query: ["a": text])
                configuration.pathValues = ["a": text]
                guard let base = try? BaseURL("https://h/v1"),
                    let request = try? requests.request(for: configuration, on: base)
                else { continue }
                // A built URL parses to itself, and has neither spaces nor control characters.
                #expect(RequestURL(request.url.text)?.text == request.url.text)
                #expect(request.url.text.utf8.allSatisfy { $0 > 32 && $0 < 127 })
                #expect(request.url.origin.host.isEmpty == false)
            }
            _ = RequestURL(text)
            _ = Parameters(parsing: text)
        }
    }
}

/// A small seeded generator of random numbers.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
