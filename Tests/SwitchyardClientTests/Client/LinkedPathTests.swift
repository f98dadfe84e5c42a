import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// The path of a URL from a response, so that the call can be sent to every server.
@Suite(.timeLimit(.minutes(5)), .prompt) struct LinkedPathTests {
    private func client(
        _ bases: [String] = ["https://a.example/api/", "https://b.example", "https://b.example/v2"],
        _ change: (inout RequestGenerator) -> Void = { _ in }
    ) throws -> NetworkClient {
        let servers = try bases.enumerated().map { index, base in
            Server(name: "s\(index)", baseURLs: ["test": try ServerURL(base)])
        }
        var options = NetworkClient.Options()
        change(&options.generator)
        return try NetworkClient(
            service: try Service(name: "topics", servers: servers, defaultEnvironment: "test"),
            transport: StubTransport { _ in .status(200) },
            options: options,
            time: ManualClock()
        )
    }

    @Test(
        arguments: [
            ("https://a.example/api/topics?page=2&q=%20x", "topics?page=2&q=%20x"),
            ("https://A.example:443/api/topics", "topics"), ("https://a.example/apis/topics", nil),
            ("HTTPS://a.EXAMPLE/%61p%69/%74opics?q=%7e", "%74opics?q=%7e"), ("https://a.example./api/topics", nil),
            ("https://a.example:8443/api/topics", nil), ("https://a.example/a%2Fpi/topics", nil),
            ("https://u:p@a.example/api/topics", nil),
            ("https://a.example/other", nil), ("http://a.example/api/topics", nil),
            ("https://b.example/topics/7", "topics/7"), ("https://b.example/v2/topics", "topics"),
            ("https://c.example/api/topics", nil), ("topics?page=2", nil), ("", nil),
            ("https://a.example/api/{id}", "%7Bid%7D"), ("https://a.example/api//topics", "//topics"),
            ("https://b.example/https://c.example/x", "/https://c.example/x"), ("https://a.example/api/../x", nil),
            ("https://b.example/v2/?page=2", "/?page=2"), ("https://b.example/?page=2", "/?page=2"),
            ("https://a.example/api/?page=2", "?page=2"), ("https://b.example/a:b?u=http://x//y", "a:b?u=http://x//y"),
        ] as [(String, String?)]
    )
    func `client.path(of:) returns the part of a URL after the longest matching base URL`(url: String, path: String?)
        throws
    {
        #expect(try client().path(of: url) == path)
    }

    @Test(
        arguments: [
            ("https://a.example/v3/topics?page=2", "topics?page=2"), ("https://a.example/v3?page=2", "?page=2"),
            ("https://a.example/v30/topics", nil), ("https://a.example/topics", nil),
            ("https://a.example/v3/?page=2", "/?page=2"), ("https://a.example/v3//topics", "//topics"),
            ("https://a.example/v3/https://c.example/x", "/https://c.example/x"),
        ] as [(String, String?)]
    )
    func `client.path(of:) omits the API version, because the client adds it again`(url: String, path: String?)
        async throws
    {
        let client = try client(["https://a.example"]) { $0.apiVersion = "v3" }

        #expect(client.path(of: url) == path)
        guard let path else { return }
        #expect(try await client.send(APIConfiguration(path: path)).context.url?.text == url)
    }

    @Test(arguments: ["https://bücher.example/v1/topics?page=2", "https://XN--bcher-KVA.example:443/v1/topics?page=2"])
    func `client.path(of:) treats a host in Unicode and its Punycode form as equal`(url: String) async throws {
        let client = try client(["https://bücher.example/v1"])

        #expect(client.path(of: url) == "topics?page=2")
        let answer = try await client.send(APIConfiguration(path: "topics"))
        #expect(answer.context.url?.text == "https://xn--bcher-kva.example/v1/topics")
    }

    @Test(
        arguments: [
            ("https://a.example/v3/topics", "topics"), ("https://A.example:443/%763/topics", "topics"),
            ("https://a.example/v%2F3/topics", nil),
        ] as [(String, String?)]
    )
    func `client.path(of:) omits the API version, however host, port and version are spelled`(
        url: String,
        path: String?
    ) throws {
        #expect(try client(["https://a.example"]) { $0.apiVersion = "v3" }.path(of: url) == path)
    }

    @Test func `client.path(of:) returns nil if the client has path filters or a URL rule`() throws {
        let url = "https://a.example/topics"
        let filter = PathFilter { path, _ in "\(path).json" }

        #expect(try client(["https://a.example"]).path(of: url) == "topics")
        #expect(try client(["https://a.example"]) { $0.pathFilters = [filter] }.path(of: url) == nil)
        #expect(try client(["https://a.example"]) { $0.urlRule = { _, _ in nil } }.path(of: url) == nil)
    }
}
