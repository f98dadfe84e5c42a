import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// Whether writes are counted for the reads of the same path.
@Suite(.timeLimit(.minutes(5)), .prompt) struct WriteCounterTests {
    /// Writes to the same path in different spellings.
    private static let writes: [APIConfiguration] = {
        var escaped = APIConfiguration(path: "topics/%31", method: .put)
        escaped.query = ["notify": true]
        var template = APIConfiguration(path: "topics/{id}", method: .delete)
        template.pathValues = ["id": 1]
        var prebuilt = APIConfiguration()
        let url = RequestURL("http://primary.test/v1/topics/1")
        prebuilt.prebuiltRequest = url.map { HTTPRequest(method: .put, url: $0) }
        var versioned = APIConfiguration(path: "1", method: .put)
        versioned.apiVersion = "topics"
        return [
            APIConfiguration(path: "/topics/1", method: .put), APIConfiguration(path: "topics/./1", method: .put),
            APIConfiguration(path: "topics/1?x=1#y", method: .patch), escaped, template, prebuilt,
            APIConfiguration(path: "http://secondary.test/v1/topics/1", method: .put), versioned,
        ]
    }()

    @Test(arguments: writes.indices)
    func `a write increases the counter of writes to its path`(number: Int) async throws {
        let (client, _) = try NetworkClient.stubbed { _ in .status(204) }
        let read = client.pathCounters.writes(at: APIConfiguration(path: "topics/1"))
        let before = read?.count

        _ = try await client.send(Self.writes[number])

        #expect(read?.count != before)
    }

    @Test(arguments: ["topics/1", "/topics/1", "http://secondary.test/v1/v3/topics/1"])
    func `a write increases the counter of writes to its path even if the request generator adds the API version`(
        path: String
    )
        async throws
    {
        let (client, _) = try NetworkClient.stubbed(servers: 2, options: { $0.generator.apiVersion = "v3" }) { _ in
            .status(204)
        }
        let read = client.pathCounters.writes(at: APIConfiguration(path: "topics/1"))
        let before = read?.count

        _ = try await client.send(APIConfiguration(path: path, method: .put))

        #expect(read?.count != before)
    }

    // The redirect does not show that its server has changed nothing.
    @Test(arguments: ["topics/1", "topics/2"])
    func `a redirected write increases the write counters of both paths, even if the target returns 404`(path: String)
        async throws
    {
        let (client, _) = try NetworkClient.stubbed { request in
            request.url.path == "/v1/topics/1" ? .status(307, headers: ["Location": "2"]) : .status(404)
        }
        let read = client.pathCounters.writes(at: APIConfiguration(path: path))
        let before = read?.count

        #expect(try await client.send(APIConfiguration(path: "topics/1", method: .put)).status == 404)

        #expect(read?.count != before)
    }
}
