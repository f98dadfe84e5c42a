import Switchyard
import SwitchyardFixtures
import SwitchyardTesting
import Testing

@testable import yard

@Suite(.timeLimit(.minutes(5)), .prompt) struct RoleCheckTests {
    @Test func `yard check warns about requests that no server of an environment serves`() throws {
        let url = try ServerURL("http://localhost")
        let service = try Service(
            name: "shop",
            servers: [
                Server(name: "primary", baseURLs: [.release: url]),
                Server(name: "replica", baseURLs: [.release: url, .test: url], serves: .reads),
                Server(name: "mirror", baseURLs: [.release: url, .develop: url], serves: ["GET /catalog/**"]),
                Server(name: "events", baseURLs: [.release: url], serves: ["POST /events"]),
            ],
            defaultEnvironment: .release
        )

        #expect(
            RoleCheck(service: service).warnings == [
                "shop: environment develop: no server serves everything; requests other than GET /catalog/** fail",
                "shop: environment develop: no server serves everything, which primary serves in other environments",
                "shop: environment develop: no server serves reads, which replica serves in other environments",
                "shop: environment develop: no server serves POST /events, which events serves in other environments",
                "shop: environment test: no server serves everything; requests other than reads fail",
                "shop: environment test: no server serves everything, which primary serves in other environments",
                "shop: environment test: no server serves POST /events, which events serves in other environments",
            ]
        )
    }

    @Test func `yard check sends each server a request that it serves`() async throws {
        let server = try LoopbackServer.started()
        let json = """
            {"service": "shop", "defaultEnvironment": "test", "servers": [
            {"name": "primary", "baseURLs": {"test": "\(server.baseURL)"}},
            {"name": "mirror", "baseURLs": {"test": "\(server.baseURL)"}, "serves": ["POST /b", "HEAD /catalog/**/*.json"]},
            {"name": "events", "baseURLs": {"test": "\(server.baseURL)"}, "serves": ["POST /events"]}]}
            """

        let report = try await withTemporaryFolder { folder in
            try folder.write(json, to: "shop.json")
            return try await ServiceCheck(environment: nil, timeout: .seconds(30)).report(on: [folder])
        }

        #expect(report.isGood)
        #expect(report.rows.map(\.state) == ["404", "404", "writes only"])
        #expect(Set(server.requests.map { "\($0.method) \($0.path)" }) == ["GET /", "HEAD /catalog/x/x.json"])
    }
}
