import SwitchyardClient
import SwitchyardHTTP
import Testing

@testable import SwitchyardTesting

@Suite struct LoopbackRouteTests {
    @Test(arguments: [
        ("/topics", "/topics", true), ("/topics", "/topics/", false), ("/topics", "/topics/1", false),
        ("/users/*/posts", "/users/7/posts", true), ("/users/*/posts", "/users/7/8/posts", false),
        ("/files/*", "/files/a", true), ("/files/*", "/files/a/b", true), ("/files/*", "/files", false),
        ("*", "/anything/at/all", true), ("*", "*", true),
        ("/users/{id}", "/users/7", true), ("/users/{id}", "/users/7/8", false), ("/users/{id}", "/users", false),
        ("/users/{id}/*", "/users/7/8/9", true), ("/users/{}", "/users/7", false), ("/users/{}", "/users/{}", true),
        ("/users/{id", "/users/7", false),
    ])
    func `the pattern of a loopback route matches paths`(pattern: String, path: String, matches: Bool) {
        #expect(LoopbackRoute(nil, pattern).matches(path: path) == matches)
    }

    @Test func `the loopback route with the most exact segments is used, and a method decides between equal routes`() {
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

    @Test func `among routes with equally many exact segments, the route with a method is used`() {
        var router = Router()
        router.set(.response(.text("any")), for: .init(nil, "/*/b"))
        router.set(.response(.text("GET")), for: .init(.get, "/a/*"))

        #expect(router.text(.get, "/a/b") == "GET")
        #expect(router.text(.post, "/a/b") == "any")
    }

    @Test func `a named segment of a route ranks below exact text and above a trailing star`() {
        var router = Router()
        for pattern in ["/a/*", "/a/{id}", "/a/b"] {
            router.set(.response(.text(pattern)), for: .init(nil, pattern))
        }

        #expect(router.text(.get, "/a/b") == "/a/b")
        #expect(router.text(.get, "/a/c") == "/a/{id}")
        #expect(router.text(.get, "/a/c/d") == "/a/*")
    }

    @Test func `named segments of a route are percent-decoded, and the first value of a repeated name counts`() {
        let route = LoopbackRoute(.get, "/{a}/{b}/{a}/*")

        #expect(route.values(in: "/caf%C3%A9%2F/%zz/2/3") == ["a": "café/", "b": "%zz"])
    }

    @Test func `a HEAD request prefers a HEAD route over a GET route`() {
        var router = Router()
        router.set(.response(.text("GET")), for: .init(.get, "/"))
        router.set(.response(.text("HEAD")), for: .init(.head, "/"))

        #expect(router.text(.head, "/") == "HEAD")
    }
}

extension Router {
    fileprivate func text(_ method: HTTPMethod, _ path: String) -> String? {
        guard case .response(let response) = action(method: method, path: path).action,
            case .data(let bytes) = response.body
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
