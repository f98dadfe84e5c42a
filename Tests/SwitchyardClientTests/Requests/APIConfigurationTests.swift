import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import Testing

@Suite struct APIConfigurationTests {
    @Test(arguments: [
        (HTTPMethod.get, IdempotencyKey.none, true), (.put, .none, true), (.delete, .none, true), (.post, .none, false),
        (.patch, .none, false), (.post, .automatic, true), (.post, .given("k"), true),
    ])
    func `a request is idempotent because of its method or because it has an idempotency key`(
        method: HTTPMethod,
        key: IdempotencyKey,
        expected: Bool
    ) {
        var configuration = APIConfiguration(method: method)
        configuration.idempotencyKey = key

        #expect(configuration.isIdempotent == expected)
    }

    @Test func `mayBeRepeated overrides the method and the idempotency key`() {
        var configuration = APIConfiguration(method: .post)
        configuration.mayBeRepeated = true
        #expect(configuration.isIdempotent)

        configuration.method = .get
        configuration.idempotencyKey = .automatic
        configuration.mayBeRepeated = false
        #expect(!configuration.isIdempotent)
    }

    @Test func `an automatic idempotency key is the same for every attempt of a request`() throws {
        var configuration = APIConfiguration(method: .post)
        configuration.idempotencyKey = .automatic
        let snapshot = configuration.snapshot()

        let first = try BuiltRequest.request(snapshot).headers["Idempotency-Key"]
        let second = try BuiltRequest.request(snapshot, on: "https://b.example").headers["Idempotency-Key"]
        let other = try BuiltRequest.request(configuration.snapshot()).headers["Idempotency-Key"]

        #expect(first != nil && first == second)
        #expect(other != first)
    }

    @Test func `a given idempotency key is sent in the service's header field`() throws {
        var configuration = APIConfiguration(method: .post)
        configuration.idempotencyKey = .given("abc")

        let request = try BuiltRequest.request(configuration) { $0.idempotencyHeader = "X-Request-Key" }

        #expect(request.headers["X-Request-Key"] == "abc")
    }

    @Test func `an idempotency key with control characters is rejected`() {
        var configuration = APIConfiguration(method: .post)
        configuration.idempotencyKey = .given("a\r\nb")

        let expected = RequestError.header(name: "Idempotency-Key", reason: .controlCharacterInValue)
        #expect(BuiltRequest.failure(configuration) == expected)
    }

    @Test func `an app can attach values to a call under its own keys`() {
        enum Screen: ConfigurationKey { static let defaultValue = "none" }
        var configuration = APIConfiguration()
        #expect(configuration[Screen.self] == "none")

        configuration[Screen.self] = "home"

        #expect(configuration[Screen.self] == "home")
    }

    @Test func `request priorities are ordered from low to high`() {
        #expect(APIConfiguration().priority == .normal)
        #expect([RequestPriority.high, .low, .normal].sorted() == [.low, .normal, .high])
    }

    // Pipelining is not offered, because HTTP/2 is better and HTTP/1.1 servers often implement it incorrectly.
    @Test func `a call's traffic class is passed to its request`() throws {
        var configuration = APIConfiguration(path: "x")
        configuration.traffic = .background

        #expect(try BuiltRequest.request(configuration).traffic == .background)
        #expect(try BuiltRequest.request(APIConfiguration()).traffic == .standard)
    }

    @Test(arguments: [(nil, false), (Duration.zero, false), (.seconds(-1), false), (.seconds(1), true)])
    func `only a positive lifetime enables the cache`(lifetime: Duration?, expected: Bool) {
        var configuration = APIConfiguration()
        configuration.cacheLifetime = lifetime

        #expect(configuration.usesCache == expected)
    }

    @Test func `a copy of a configuration does not change when the original changes`() throws {
        var configuration = APIConfiguration(path: "a", query: ["k": 1], headers: ["X": "1"])
        let copy = configuration

        configuration.path = "b"
        configuration.query["k"] = .integer(2)
        configuration.headers.set("X", "2")

        let request = try BuiltRequest.request(copy)
        #expect(request.url.text == "https://api.example.com/v1/a?k=1")
        #expect(request.headers["X"] == "1")
    }
}
