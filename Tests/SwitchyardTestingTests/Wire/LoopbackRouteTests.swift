import SwitchyardClient
import Testing

@testable import SwitchyardTesting

@Suite struct LoopbackRouteTests {
    @Test(arguments: [
        ("/topics", "/topics", true), ("/topics", "/topics/", false), ("/topics", "/topics/1", false),
        ("/users/*/posts", "/users/7/posts", true), ("/users/*/posts", "/users/7/8/posts", false),
        ("/files/*", "/files/a", true), ("/files/*", "/files/a/b", true), ("/files/*", "/files", false),
        ("*", "/anything/at/all", true), ("*", "*", true),
    ])
    func `a pattern matches paths`(pattern: String, path: String, matches: Bool) {
        #expect(LoopbackRoute(nil, pattern).matches(path: path) == matches)
    }

    @Test func `the most exact route wins, then the one with the method`() {
        var router = Router()
        for pattern in ["*", "/a/*", "/a/b", "/*/b"] { router.set(.response(.text(pattern)), for: .init(nil, pattern)) }
        router.set(.response(.text("GET")), for: .init(.get, "/a/b"))

        #expect(router.text(.get, "/a/b") == "GET")
        #expect(router.text(.head, "/a/b") == "GET")
        #expect(router.text(.post, "/a/b") == "/a/b")
        #expect(router.text(.get, "/a/c") == "/a/*")
        #expect(router.text(.get, "/x/b") == "/*/b")
        #expect(router.text(.get, "/x/y/z") == "*")
    }

    @Test func `of patterns with as many exact segments, the one with the method wins`() {
        var router = Router()
        router.set(.response(.text("any")), for: .init(nil, "/*/b"))
        router.set(.response(.text("GET")), for: .init(.get, "/a/*"))

        #expect(router.text(.get, "/a/b") == "GET")
        #expect(router.text(.post, "/a/b") == "any")
    }

    @Test func `HEAD prefers a route of its own`() {
        var router = Router()
        router.set(.response(.text("GET")), for: .init(.get, "/"))
        router.set(.response(.text("HEAD")), for: .init(.head, "/"))

        #expect(router.text(.head, "/") == "HEAD")
    }
}

extension Router {
    fileprivate func text(_ method: HTTPMethod, _ path: String) -> String? {
        guard case .response(let response) = action(method: method, path: path), case .data(let bytes) = response.body
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
