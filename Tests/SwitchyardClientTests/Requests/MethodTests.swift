import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct MethodTests {
    @Test(arguments: [
        "GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS", "TRACE", "QUERY", "PURGE", "M-SEARCH",
    ])
    func `a method arrives at the server unchanged`(name: String) async throws {
        let server = LoopbackServer()
        server.setDefaultRoute { _ in .text("ok") }
        try server.start()
        defer { server.stop() }
        let client = try NetworkClient(service: .loopback([server]))
        defer { client.shutdown() }

        let configuration = APIConfiguration(path: "x", method: try #require(HTTPMethod(name)))
        let response = try await client.send(configuration)

        #expect(response.status == 200)
        #expect(server.requests.map(\.method.name) == [name])
    }

    @Test(arguments: ["", "GET ", "G\r\nT", "GÉT", "GET/1"])
    func `creating an HTTP method from an invalid name returns nil`(name: String) {
        #expect(HTTPMethod(name) == nil)
    }

    @Test(
        arguments: [
            ("HEAD", .head("x", query: ["a": 1])), ("POST", .post("x", query: ["a": 1], body: .json(["b": 2]))),
            ("PUT", .put("x", query: ["a": 1], body: .json(["b": 2]))),
            ("PATCH", .patch("x", query: ["a": 1], body: .json(["b": 2]))),
            ("DELETE", .delete("x", query: ["a": 1], body: .json(["b": 2]))),
        ] as [(String, APIConfiguration)]
    )
    func `a call made by the name of its method has that method, the query and the body`(
        name: String,
        configuration: APIConfiguration
    ) throws {
        let request = try BuiltRequest.request(configuration)

        #expect(request.method.name == name)
        #expect(request.url.text.hasSuffix("x?a=1"))
        let body: Data? = if case .data(let data) = request.body { data } else { nil }
        #expect(body == (name == "HEAD" ? nil : Data(#"{"b":2}"#.utf8)))
    }

    @Test func `HTTP methods are case-sensitive`() throws {
        #expect(try #require(HTTPMethod("get")) != .get)
        #expect(HTTPMethod("CONNECT")?.name == "CONNECT")
    }

    @Test func `a call without a method is a GET`() throws {
        #expect(APIConfiguration(path: "x").method == .get)
        #expect(try BuiltRequest.request(APIConfiguration(path: "x")).method == .get)
    }
}
