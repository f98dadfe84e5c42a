import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct RoutingTests {
    let server: LoopbackServer

    init() throws {
        // Clients of other tests that probe a stopped server never reach this server.
        server = try .runningApart()
    }

    @Test func `a request to the loopback server for a path without a route gets a 404`() async throws {
        #expect(try await server.connect().get("/nowhere").status == 404)
    }

    @Test func `the loopback server responds with 405 if a path has routes only for other methods`() async throws {
        let response = try await server.connect().get("/topics", method: "DELETE")

        #expect(response.status == 405)
        #expect(response["Allow"] == "GET")
    }

    @Test func `a prefix route serves paths without an exact route`() async throws {
        server.route(nil, "/topics/*") { request in .text("\(request.method) \(request.path)") }
        let socket = try server.connect()

        #expect(try await socket.get("/topics/7/replies?x=1", method: "PUT").text == "PUT /topics/7/replies")
        #expect(try await socket.get("/topics").text == #"{"page": 1}"#)
    }

    @Test func `if two routes have equally many exact segments, the route whose exact segments come earlier is used`()
        async throws
    {
        for number in 0..<8 {
            server.route(.get, "/a\(number)/*/c", answering: .text("earlier"))
            server.route(.get, "/*/b\(number)/c", answering: .text("later"))
        }
        let socket = try server.connect()

        for number in 0..<8 { #expect(try await socket.get("/a\(number)/b\(number)/c").text == "earlier") }
    }

    @Test func `an exact segment of a route wins over a star regardless of its first character`() async throws {
        server.route(.get, "/%C3%A9/*/c", answering: .text("earlier"))
        server.route(.get, "/*/b/c", answering: .text("later"))
        let socket = try server.connect()

        #expect(try await socket.get("/%C3%A9/b/c").text == "earlier")
    }

    @Test func `a handler can read the path values of its route`() async throws {
        server.route(.get, "/users/{id}/posts/{post}") { request in
            .text([request.pathValue("id"), request.pathValue("post"), request.pathValue("x")].debugDescription)
        }

        let response = try await server.connect().get("/users/a%20b/posts/7?id=8")

        #expect(response.text == #"[Optional("a b"), Optional("7"), nil]"#)
    }

    @Test func `a request whose target is an absolute URL finds the route of the path`() async throws {
        let socket = try server.connect()

        #expect(try await socket.get("http://a.example/topics?page=7").text == #"{"page": 7}"#)
        #expect(server.requests.map(\.path) == ["/topics"])
    }

    @Test(arguments: [
        ("bytes=2-99999999999999999999", ByteRanges.ranges([2..<10])), ("bytes=99999999999999999999-", .unsatisfiable),
        ("bytes=-99999999999999999999", .ranges([0..<10])), ("bytes=-", .invalid),
    ])
    func `a requested range may extend beyond the content`(field: String, expected: ByteRanges) {
        #expect(ByteRanges(field, length: 10) == expected)
    }

    @Test func `a LoopbackContent with a negative length is treated as empty`() {
        var content = LoopbackContent(Data("0123456789".utf8))

        content.length = -1

        #expect(content.length == 0)
    }

    @Test(arguments: ["HEAD", "POST"])
    func `a Range field applies to GET only`(method: String) async throws {
        let content = LoopbackContent(Data("0123456789".utf8))
        server.route(nil, "/film") { content.response(to: $0) }
        let socket = try server.connect()

        #expect(try await socket.get("/film", fields: ["Range: bytes=2-3"]).text == "23")
        #expect(try await socket.get("/film", method: method, fields: ["Range: bytes=2-3"]).status == 200)
    }

    @Test func `the default route of a server serves all paths without a route`() async throws {
        server.setDefaultRoute { request in .text("default \(request.target)") }
        let socket = try server.connect()

        #expect(try await socket.get("/nowhere?a").text == "default /nowhere?a")
        server.setDefaultRoute(nil)
        #expect(try await socket.get("/nowhere").status == 404)
    }

    @Test func `routes can be replaced and removed while the server runs`() async throws {
        let socket = try server.connect()

        let route = server.route(.get, "/fixed", answering: .text("other"))
        #expect(try await socket.get("/fixed").text == "other")
        server.removeRoute(route)
        #expect(try await socket.get("/fixed").status == 404)
    }

    @Test func `a handler can read the query items of its request`() async throws {
        server.route(.get, "/search") { request in
            .text(request.queryItems.map { "\($0.name)=\($0.value ?? "nil")" }.joined(separator: ";"))
        }

        let response = try await server.connect().get("/search?q=a+b%26c&flag&empty=&e=%C3%A9")

        #expect(response.text == "q=a b&c;flag=nil;empty=;e=é")
    }
}
