import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardServices
import Testing

@Suite struct CookieJarTests {
    static let start = Date(timeIntervalSince1970: 1_800_000_000)

    private func jar(_ fields: [String], from url: String = "https://api.example.com/v1/login") throws -> CookieJar {
        let jar = CookieJar(now: { Self.start })
        let headers = HTTPHeaders(fields.map { HTTPHeaders.Field(name: "Set-Cookie", value: $0) })
        jar.store(from: headers, of: try RequestURL(validating: url))
        return jar
    }

    private func header(_ jar: CookieJar, _ url: String) throws -> String? {
        jar.header(for: try RequestURL(validating: url))
    }

    @Test func `a cookie is sent only to its host, path and scheme`() throws {
        let jar = try jar(["a=1", "b=2; Path=/", "c=3; Domain=example.com; Path=/", "d=4; Secure; Path=/"])

        #expect(try header(jar, "https://api.example.com/v1/x") == "a=1; b=2; c=3; d=4")
        #expect(try header(jar, "http://api.example.com/") == "b=2; c=3")
        #expect(try header(jar, "https://www.example.com/") == "c=3")
        #expect(try header(jar, "https://badexample.com/") == nil)
    }

    @Test func `cookies are ordered by path length and then by age`() throws {
        let jar = try jar(["x=1; Path=/", "y=2; Path=/v1/deep", "z=3; Path=/"])

        #expect(try header(jar, "https://api.example.com/v1/deep/er") == "y=2; x=1; z=3")
    }

    @Test func `cookies of a request follow the stored cookies and replace stored cookies of the same name`() throws {
        let jar = try jar(["a=1; Path=/", "b=2; Path=/"])
        let url = try RequestURL(validating: "https://api.example.com/")

        #expect(jar.header(for: url, adding: ["b=own; c=3"]) == "a=1; b=own; c=3")
        #expect(jar.header(for: url, adding: ["a", " b =x"]) == nil)
    }

    @Test func `a cookie can be replaced and removed`() throws {
        let jar = try jar(["a=1; Path=/; Max-Age=10"])
        let url = try RequestURL(validating: "https://api.example.com/")
        jar.store(from: [.init(name: "Set-Cookie", value: "a=2; Path=/")], of: url)
        #expect(jar.header(for: url) == "a=2")

        jar.store(from: [.init(name: "Set-Cookie", value: "a=3; Path=/; Max-Age=0")], of: url)
        #expect(jar.header(for: url) == nil)
        #expect(jar.cookies.isEmpty)
    }

    // RFC 6265 section 5.3: a replacement keeps the creation time, which decides the order of cookies.
    @Test func `a cookie that replaces a valid cookie keeps its place in the order`() throws {
        let jar = try jar(["a=1; Path=/", "b=1; Path=/", "a=2; Path=/"])

        #expect(try header(jar, "https://api.example.com/") == "a=2; b=1")
    }

    @Test func `a cookie that replaces an expired cookie counts as new`() throws {
        let time = Locked(Self.start)
        let jar = CookieJar(now: { time.withLock { $0 } })
        let url = try RequestURL(validating: "https://h/")
        func set(_ cookie: String) { jar.store(from: [.init(name: "Set-Cookie", value: cookie)], of: url) }
        set("a=1; Max-Age=10")
        set("b=1")
        time.withLock { $0 += 20 }
        set("a=1")

        #expect(jar.header(for: url) == "b=1; a=1")
    }

    @Test func `if one environment replaces or removes a shared cookie, other environments keep the cookie`()
        throws
    {
        let jar = try jar(["a=1; Path=/", "b=1; Path=/"])
        let url = try RequestURL(validating: "https://api.example.com/")
        let test = jar.scoped(to: "test")

        test.store(from: [.init(name: "Set-Cookie", value: "a=2; Path=/")], of: url)
        test.store(from: [.init(name: "Set-Cookie", value: "b=; Path=/; Max-Age=0")], of: url)

        #expect(test.header(for: url) == "a=2")
        #expect(test.cookies.map(\.value) == ["2"])
        #expect(jar.scoped(to: "release").header(for: url) == "a=1; b=1")
        #expect(jar.header(for: url) == "a=1; b=1")
    }

    @Test func `an expired cookie is not sent`() throws {
        let jar = CookieJar(now: { Self.start })
        jar.store(Cookie(name: "a", value: "1", domain: "h", expires: Self.start.addingTimeInterval(-1)))

        #expect(jar.cookies.isEmpty)
    }

    @Test(arguments: [
        "a=1; Domain=other.example", "a=1; Domain=com", "a=1; Domain=é@example.com", "__Host-a=1; Path=/", "=1", "a",
        "a=1\u{1}",
    ])
    func `a cookie that the host may not set is ignored`(field: String) throws {
        #expect(try jar([field]).cookies.isEmpty)
    }

    @Test func `a secure cookie from localhost is sent to localhost over http`() throws {
        let jar = try jar(["a=1; Secure; Path=/"], from: "http://localhost:8080/login")

        #expect(try header(jar, "http://localhost:8080/x") == "a=1")
        #expect(try self.jar(["a=1; Secure; Path=/"], from: "http://api.example.com/").cookies.isEmpty)
    }

    @Test(arguments: [
        "a=2; Path=/", "a=; Path=/; Max-Age=0", "a=2; Path=/v1/deep", "a=2; Domain=example.com; Path=/",
    ])
    func `a cookie that was set over http does not replace a secure cookie`(field: String) throws {
        let jar = try jar(["a=1; Secure; Path=/", "b=1; Path=/"])
        let fields = HTTPHeaders([field, "b=2; Path=/"].map { HTTPHeaders.Field(name: "Set-Cookie", value: $0) })

        jar.store(from: fields, of: try RequestURL(validating: "http://api.example.com/v1/deep/x"))
        #expect(try header(jar, "https://api.example.com/v1/deep/x") == "a=1; b=2")
        #expect(try header(jar, "http://api.example.com/v1/deep/x") == "b=2")

        jar.store(from: fields, of: try RequestURL(validating: "https://api.example.com/v1/deep/x"))
        #expect(try header(jar, "https://api.example.com/v1/deep/x") != "a=1; b=2")
    }

    @Test func `a cookie whose domain is only a dot belongs to the host itself`() throws {
        let jar = try jar(["a=1; Domain=other.example; Domain=.; Path=/"])

        #expect(try header(jar, "https://api.example.com/") == "a=1")
        #expect(try header(jar, "https://www.api.example.com/") == nil)
    }

    @Test func `a Unicode domain equals its Punycode form`() throws {
        let jar = try jar(["a=1; Domain=bücher.example; Path=/"], from: "https://shop.xn--bcher-kva.example/")

        #expect(try header(jar, "https://bücher.example/") == "a=1")
    }

    @Test func `a combining character after a separator in a cookie does not hide the separator`() throws {
        let jar = try jar(["a=\u{301}x; Path=/;\u{301}; Max-Age=5"])
        let cookie = try #require(jar.cookies.first)

        #expect(cookie.name == "a")
        #expect(cookie.value == "\u{301}x")
        #expect(cookie.expires != nil)
    }

    @Test func `a cookie jar above its limit removes the oldest cookies`() {
        let jar = CookieJar(limit: 2, now: { Self.start })
        for name in ["a", "b", "c"] { jar.store(Cookie(name: name, value: "1", domain: "h")) }

        #expect(jar.cookies.map(\.name) == ["b", "c"])
    }

    // RFC 6265 section 5.3.
    @Test func `an expired cookie is removed before an older valid cookie`() {
        let time = Locked(Self.start)
        let jar = CookieJar(limit: 2, now: { time.withLock { $0 } })
        jar.store(Cookie(name: "good", value: "1", domain: "h"))
        jar.store(Cookie(name: "short", value: "1", domain: "h", expires: Self.start.addingTimeInterval(1)))
        time.withLock { $0 += 2 }

        jar.store(Cookie(name: "new", value: "1", domain: "h"))

        #expect(jar.cookies.map(\.name) == ["good", "new"])
    }

    @Test func `a cookie that was removed in one environment does not return when the jar makes room for another`()
        throws
    {
        let jar = CookieJar(limit: 3, now: { Self.start })
        let test = jar.scoped(to: "test")
        jar.store(Cookie(name: "old", value: "1", domain: "h"))
        jar.store(Cookie(name: "a", value: "1", domain: "h"))
        test.store(Cookie(name: "a", value: "", domain: "h", expires: Self.start.addingTimeInterval(-1)))

        jar.store(Cookie(name: "new", value: "1", domain: "h"))

        #expect(try header(test, "http://h/") == "new=1")
    }

    @Test func `a response to an earlier request does not restore a removed cookie, even after many further removals`()
        throws
    {
        let jar = CookieJar(limit: 1, now: { Self.start })
        let url = try RequestURL(validating: "http://h/")
        let begun = jar.removals
        for name in ["a", "b"] {
            jar.store(Cookie(name: name, value: "1", domain: "h"))
            jar.removeAll { $0.name == name }
        }

        jar.store(from: ["Set-Cookie": "a=1; Path=/"], of: url, unlessRemovedSince: begun)
        #expect(jar.cookies.isEmpty)

        jar.store(from: ["Set-Cookie": "a=1; Path=/"], of: url, unlessRemovedSince: jar.removals)
        #expect(jar.cookies.map(\.name) == ["a"])
    }

    @Test func `a request has the cookies of the cookie jar unless its configuration does not use cookies`() throws {
        let jar = try jar(["a=1; Path=/"])
        var configuration = APIConfiguration(path: "x")
        #expect(try BuiltRequest.request(configuration) { $0.cookies = jar }.headers["Cookie"] == "a=1")

        configuration.headers = [.cookie("own=2")]
        #expect(
            try BuiltRequest.request(configuration) { $0.cookies = jar }.headers.values(of: "Cookie") == [
                "a=1; own=2"
            ]
        )

        configuration.headers = [.cookie("a=own")]
        #expect(try BuiltRequest.request(configuration) { $0.cookies = jar }.headers["Cookie"] == "a=own")

        configuration.headers = []
        configuration.usesCookies = false
        #expect(try BuiltRequest.request(configuration) { $0.cookies = jar }.headers["Cookie"] == nil)
    }

    @Test func `a cookie is not sent to another host`() throws {
        let jar = try jar(["a=1; Path=/"])
        let configuration = APIConfiguration(path: "https://other.example/x")

        #expect(try BuiltRequest.request(configuration) { $0.cookies = jar }.headers["Cookie"] == nil)
    }

    @Test func `if a server expires a shared cookie, the cookie is removed only in the server's environment`()
        throws
    {
        let jar = CookieJar()
        let url = try RequestURL(validating: "https://example.com/")
        jar.store(from: ["Set-Cookie": "session=x; path=/"], of: url)
        let release = jar.scoped(to: "release")

        release.store(from: ["Set-Cookie": "session=; path=/; max-age=0"], of: url)

        #expect(release.header(for: url) == nil)
        #expect(jar.scoped(to: "test").header(for: url) == "session=x")
    }
}
