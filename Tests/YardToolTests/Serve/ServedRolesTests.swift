import Foundation
import Switchyard
import SwitchyardFixtures
import SwitchyardTesting
import Testing

@testable import yard

/// The servers of a service file whose servers have roles.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ServedRolesTests {
    private static let json = """
        {"service": "shop", "defaultEnvironment": "test", "servers": [
        {"name": "primary", "priority": 1, "zone": "eu",
        "baseURLs": {"test": "http://127.0.0.1:9001/v1", "release": "https://api.example.com"}},
        {"name": "mirror", "priority": 2, "serves": ["GET /topics", "GET /catalog/**"],
        "rewrites": {"/topics": "/topics.json", "/catalog/**": "/static/**"},
        "baseURLs": {"test": "http://localhost:9002/cdn/"}}]}
        """

    private static func machines(_ environment: ServiceEnvironment? = nil) async throws -> [ServedMachine] {
        try await withTemporaryFolder { folder in
            try folder.write(json, to: "shop.json")
            return try ServedMachine.all(in: folder.appendingPathComponent("shop.json"), environment)
        }
    }

    private static func yard() async throws -> ServedYard { try ServedYard(await machines(), firstPort: 0) }

    @Test func `the servers of yard serve have the names, ports and folders of the service file`() async throws {
        let machines = try await Self.machines()

        #expect(machines.map(\.name) == ["shop/primary", "shop/mirror"])
        #expect(machines.map(\.site.port) == [9001, 9002])
        #expect(machines.map(\.site.folder) == ["/v1", "/cdn"])
    }

    @Test
    func `yard serve rejects an environment whose servers are not on this machine, and names the key in the file`()
        async
    {
        let error = await #expect(throws: CatalogError.self) { _ = try await Self.machines(.release) }

        #expect(error?.keyPath == "servers[0].baseURLs.release")
        #expect(
            error?.description.hasPrefix("shop.json: servers[0].baseURLs.release: expected an http URL on 127.") == true
        )
    }

    @Test(arguments: [
        (0, HTTPMethod.get, "/v1/topics", 200), (0, .get, "/v1/topics/58", 404), (0, .post, "/v1/orders", 200),
        (0, .post, "/v1/topics", 405), (0, .get, "/topics", 404), (1, .get, "/cdn/topics.json", 200),
        (1, .get, "/cdn/topics.json?page=2", 200), (1, .get, "/cdn/topics", 404), (1, .get, "/cdn/static/7", 200),
        (1, .get, "/cdn/st%61tic/7", 200), (1, .get, "/cdn/catalog/7", 404), (1, .post, "/cdn/static/7", 404),
        (1, .head, "/cdn/static/7", 404), (1, .get, "/cdn/users/1", 404), (1, .get, "/static/7", 404),
    ])
    func `a server of yard serve responds with 404 to a request that it does not serve`(
        place: Int,
        method: HTTPMethod,
        path: String,
        status: Int
    ) async throws {
        let yard = try await Self.yard()
        defer { yard.stop() }
        let transport = try Transports.systemDefault()
        defer { transport.shutdown() }
        let url = try RequestURL(validating: yard.machines[place].server.baseURL + path)

        #expect(try await transport.send(HTTPRequest(method: method, url: url)).status == status)
    }

    @Test func `a client with the service file of yard serve fails over to the mirror and uses the mirror's paths`()
        async throws
    {
        let yard = try await Self.yard()
        defer { yard.stop() }
        var servers = try ServiceCatalog.service(from: Data(Self.json.utf8), named: "shop").servers
        for (index, machine) in yard.machines.enumerated() {
            servers[index].baseURLs = [.test: try ServerURL(machine.baseURL)]
        }
        let client = try NetworkClient(
            service: Service(name: "shop", servers: servers, defaultEnvironment: .test)
        )
        defer { client.shutdown() }
        yard.faults.carryOut(try FaultOrder(query: [], json: Data(#"{"server": "primary", "fault": "refuse"}"#.utf8)))

        let response = try await client.send(APIConfiguration(path: "catalog/7"))
        let failure = await client.failure(of: APIConfiguration(path: "orders"))

        let echo = try JSONValue(parsing: #require(response.data))["data"]
        #expect(echo?["server"]?.string == "shop/mirror")
        #expect(echo?["path"]?.string == "/catalog/7")
        #expect(failure != nil)
        #expect(yard.machines[1].requestCount == 1)
    }

    @Test func `the printed instructions name what each server serves`() async throws {
        let yard = try await Self.yard()
        defer { yard.stop() }

        let lines = yard.instructions.split(separator: "\n")
        #expect(lines[1].hasPrefix("shop/primary") && lines[1].hasSuffix("everything"))
        #expect(lines[2].hasPrefix("shop/mirror") && lines[2].hasSuffix("GET /topics, GET /catalog/**"))
    }
}
