import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardTesting
import Testing

/// Runs the cURL commands in a shell against a real server.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")), .timeLimit(.minutes(5)), .prompt)
struct CurlCommandTests {
    /// The request that the server received from the command, and the original request.
    private func replayed(_ configuration: APIConfiguration) async throws -> (RecordedRequest, HTTPRequest) {
        let server = LoopbackServer()
        server.setDefaultRoute { _ in .text("ok") }
        try server.start()
        defer { server.stop() }
        let request = try BuiltRequest.request(configuration, on: server.baseURL)
        let command = request.curlDescription(redaction: .none).dropFirst(2)
        let process = try ChildCommand(["/bin/sh", "-c", "\(command) --silent --max-time 20"])
        await server.waitForRequests(1)
        await server.waitUntilIdle()
        process.wait()
        return (try #require(server.requests.first), request)
    }

    static let bodies: [RequestBody] = [
        .json(["q": "\"'`$HOME\\ !&\n", "u": "漢👍"]), .form(["a b": "c&d", "e": "@f"]),
        .data(Data([0, 255, 10, 13]), contentType: nil),
        .text("@not-a-file"), .text("@\u{301}"), .text("line 1\nline 2\r\n"),
        .multipart(MultipartForm(parts: [.field("a", "b")])),
    ]

    @Test(arguments: bodies.indices)
    func `the curl command sends the same body as the request`(index: Int) async throws {
        let configuration = APIConfiguration(path: "x", method: .post, body: Self.bodies[index])

        let (received, request) = try await replayed(configuration)

        #expect(received.method == .post)
        #expect(received.body == (try await request.body.collected(upTo: 10_000)))
        #expect(received.headers["Content-Type"] == request.headers["Content-Type"])
    }

    @Test func `the curl command sends the same URL and header fields as the request`() async throws {
        let configuration = APIConfiguration(
            path: "a b/{id}?x=[1]",
            query: ["$q": "`'\"\\ &#"],
            headers: ["X-Quote": "\"'`$PATH\\", "X-Empty": "", "X-List": "1", "Cookie": "a=1; b=\"2\""]
        )
        var filled = configuration
        filled.pathValues = ["id": "c/d"]

        let (received, request) = try await replayed(filled)

        #expect(
            "http://127.0.0.1\(received.target)" == "http://127.0.0.1\(request.url.path)?\(request.url.query ?? "")"
        )
        for field in request.headers { #expect(received.headers[field.name] == field.value) }
    }

    @Test func `the curl command sends a URL with characters that curl treats as a pattern`() async throws {
        var configuration = APIConfiguration(path: "x", query: ["a": ["{b,c}", "[1-3]"]])
        var options = ParameterEncodingOptions()
        options.allowedCharacters = .parameter.union(URLCharacters("[]{},"))
        configuration.parameterOptions = options

        let (received, request) = try await replayed(configuration)

        #expect(received.target == "\(request.url.path)?\(request.url.query ?? "")")
    }

    @Test(arguments: [HTTPMethod.get, .head, .put, .delete, .patch, .options])
    func `the curl command sends the same method as the request`(method: HTTPMethod) async throws {
        let (received, _) = try await replayed(APIConfiguration(path: "x", method: method))

        #expect(received.method == method)
        #expect(received.bodyCount == 0)
    }

    @Test(arguments: ["X`id`", "A|B&C", "$HOME!", "M-SEARCH", "#'"])
    func `the curl command sends a method with characters that a shell would interpret`(name: String) async throws {
        let method = try #require(HTTPMethod(name))

        let (received, _) = try await replayed(APIConfiguration(path: "x", method: method))

        #expect(received.method == method)
    }

    @Test func `the curl command sends a cookie without an equals sign`() async throws {
        let (received, _) = try await replayed(APIConfiguration(path: "x", headers: [.cookie("a-word")]))

        #expect(received.headers["Cookie"] == "a-word")
    }

    @Test func `the curl command contains no shell history expansion`() throws {
        let configuration = APIConfiguration(path: "x", method: .post, body: .text("it's !1 \"$2\""))

        let command = try BuiltRequest.request(configuration).curlDescription()

        #expect(command.contains(#"-d 'it'\''s !1 "$2"'"#))
    }

    @Test func `the curl command sends a file from disk`() async throws {
        let folder = try MultipartFormTests.Folder()
        let file = try folder.file("a b\"$.bin", Data([0, 1, 2, 10]))

        let (received, _) = try await replayed(APIConfiguration(method: .put, body: .file(file)))

        #expect(received.body == Data([0, 1, 2, 10]))
    }
}
