import Foundation
import SwitchyardServices
import Testing

@Suite struct RoleDecodingTests {
    private func service(_ servers: String, switching: String = "{}") throws -> Service {
        let rest = #""servers": [\#(servers)], "switching": \#(switching)"#
        let json = #"{"service": "a", "defaultEnvironment": "test", \#(rest)}"#
        return try ServiceCatalog.service(from: Data(json.utf8), named: "a")
    }

    private static func server(_ name: String, _ keys: String = "") -> String {
        #"{"name": "\#(name)", "baseURLs": {"test": "http://\#(name)"}\#(keys)}"#
    }

    @Test(arguments: [
        ("", ServedRequests.everything), (#", "serves": "everything""#, .everything), (#", "serves": "reads""#, .reads),
        (#", "serves": ["GET /a/**", "* b"]"#, .matching(["GET /a/**", "* b"])),
    ])
    func `the requests that a server serves are read from a service file`(keys: String, expected: ServedRequests) throws
    {
        #expect(try service(Self.server("a", keys)).servers.first?.serves == expected)
    }

    @Test func `rewrites, priority and zone of a server are read from a service file`() throws {
        let keys = #", "rewrites": {"/v1/**": "/static/**", "/a": "b.json"}, "priority": 1, "zone": "eu""#

        let server = try #require(try service(Self.server("a", keys)).servers.first)

        #expect(server.rewrites == ["/v1/**": "/static/**", "/a": "b.json"])
        #expect(server.priority == 1)
        #expect(server.zone == "eu")
    }

    @Test(arguments: [
        (#""serves": []"#, "serves"), (#""serves": "writes""#, "serves"), (#""serves": 1"#, "serves"),
        (#""serves": [1]"#, "serves[0]"), (#""serves": ["GET /a", "get /b"]"#, "serves[1]"),
        (#""serves": ["/a"]"#, "serves[0]"), (#""serves": ["GET  /a"]"#, "serves[0]"),
        (#""serves": ["GET https://a/b"]"#, "serves[0]"), (#""serves": ["GET //a"]"#, "serves[0]"),
        (#""serves": ["GET /a#b"]"#, "serves[0]"), (#""serves": ["GET /a", "GET a"]"#, "serves[1]"),
        (#""rewrites": []"#, "rewrites"), (#""rewrites": {"/a": 1}"#, "rewrites./a"),
        (#""rewrites": {"/a/**": "/b"}"#, "rewrites./a/**"), (#""rewrites": {"/a": "/b/**"}"#, "rewrites./a"),
        (#""rewrites": {"/a/*": "/b"}"#, "rewrites./a/*"), (#""rewrites": {"/a": "http://b/"}"#, "rewrites./a"),
        (#""rewrites": {"/a": "/b?c"}"#, "rewrites./a"), (#""rewrites": {"/a": "/../b"}"#, "rewrites./a"),
        (#""rewrites": {"/a": "/b", "a": "/c"}"#, "rewrites.a"), (#""rewrites": {"": "/b"}"#, "rewrites."),
        (#""priority": 0"#, "priority"), (#""priority": 1.5"#, "priority"), (#""priority": 2"#, "priority"),
        (#""zone": """#, "zone"), (#""zone": 1"#, "zone"), (#""weight": -1"#, "weight"), (#""role": "a""#, "role"),
    ])
    func `the error for a mistake in a server's role names the key of the mistake`(keys: String, place: String) throws {
        let error = #expect(throws: CatalogError.self) { try service(Self.server("a", ", \(keys)")) }

        #expect(error?.keyPath == "servers[0].\(place)")
    }

    @Test(arguments: [
        (["1", nil], "servers[1].priority"), (["1", "3"], "servers[1].priority"), (["2", "2"], "servers[0].priority"),
    ])
    func `a missing server priority or a gap between server priorities is an error`(
        priorities: [String?],
        place: String
    ) {
        let servers = zip(["a", "b"], priorities).map { name, priority in
            Self.server(name, priority.map { #", "priority": \#($0)"# } ?? "")
        }

        let error = #expect(throws: CatalogError.self) { try service(servers.joined(separator: ",")) }

        #expect(error?.keyPath == place)
    }

    @Test func `servers of equal priority need a policy that returns to preferred servers`() throws {
        let servers = ["a", "b"].map { Self.server($0, #", "priority": 1"#) }.joined(separator: ",")

        let error = #expect(throws: CatalogError.self) { try service(servers, switching: #"{"failsBack": false}"#) }

        #expect(error?.keyPath == "switching.failsBack")
        #expect(throws: Never.self) { try service(servers) }
    }
}
