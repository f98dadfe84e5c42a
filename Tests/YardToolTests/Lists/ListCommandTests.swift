import Foundation
import Switchyard
import SwitchyardFixtures
import SwitchyardServerLists
import SwitchyardTesting
import Testing

@testable import yard

/// The commands that make keys, and sign, check and show server lists.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ListCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try .made()
    }

    private func path(_ name: String) -> String { folder.url.appendingPathComponent(name).path }

    /// Makes a key and returns it as an app trusts it.
    private func key(_ name: String) async throws -> String {
        #expect(await Yard.run(["list", "keys", "--name", name, "--output", path("\(name).key")]) == 0)
        let key = try SigningKeyFile(contentsOf: path("\(name).key"))
        return "\(name):\(key.publicKey.base64EncodedString())"
    }

    private func service(_ url: String = "https://api.example.com") throws -> String {
        let text = """
            { "service": "topics", "defaultEnvironment": "release",
              "servers": [{ "name": "primary", "weight": 2, "baseURLs": { "release": "\(url)" } }] }
            """
        return try folder.file("topics.json", Data(text.utf8)).path
    }

    /// Signs a list and returns its file.
    private func sign(_ service: String, _ keys: String, version: Int = 7, days: String = "30") async
        -> String
    {
        let files = keys.split(separator: ",").map { path("\($0).key") }.joined(separator: ",")
        let words = [
            "--keys", files, "--version", "\(version)", "--days", days, "--output", path("list.json"),
            service,
        ]
        #expect(await Yard.run(["list", "sign"] + words) == 0)
        return path("list.json")
    }

    private func check(
        _ list: String,
        _ service: String,
        trust: String,
        hosts: String = "*.example.com"
    ) async -> Int32 {
        await Yard.run([
            "list", "check", "--service", service, "--trust", trust, "--hosts", hosts, list,
        ])
    }

    @Test func `a server list that was signed with a new key passes the check of an app`() async throws {
        let (key, service) = (try await key("k1"), try service())
        let list = await sign(service, "k1")

        #expect(await check(list, service, trust: key) == 0)
        #expect(await Yard.run(["list", "show", list]) == 0)
        let document = try ServerListDocument(unverified: Data(contentsOf: URL(fileURLWithPath: list)))
        #expect((document.version, document.signers) == (7, ["k1"]))
        #expect(document.servers.map(\.weight) == [2])
        #expect(document.expires.timeIntervalSince(document.issued) == 30 * 86_400)
    }

    @Test func `the summary of a server list shows the URLs and roles of the servers, and mistakes in the roles`()
        async throws
    {
        _ = try await key("k1")
        let servers = """
            { "service": "topics", "defaultEnvironment": "release", "servers": [
              { "name": "primary", "priority": 1, "weight": 0.5, "zone": "eu",
                "baseURLs": { "test": "http://127.0.0.1:8080", "release": "https://api.example.com" },
                "cdnURLs": { "release": "https://cdn.example.com" } },
              { "name": "mirror", "priority": 2, "serves": ["GET /catalog/**", "HEAD /users/{id}", "GET /news/"],
                "rewrites": { "/catalog/**": "/static/**" }, "baseURLs": { "release": "https://mirror.example.com" } }
            ] }
            """
        let list = await sign(try folder.file("topics.json", Data(servers.utf8)).path, "k1")
        let document = try ServerListDocument(unverified: Data(contentsOf: URL(fileURLWithPath: list)))

        let text = ListText(document).text

        let expected = """

            server   environment    URL
            primary  release        https://api.example.com
            primary  release (CDN)  https://cdn.example.com
            primary  test           http://127.0.0.1:8080
            mirror   release        https://mirror.example.com

            server   priority  weight  zone  serves
            primary         1     0.5  eu    everything
            mirror          2       1  -     GET /catalog/**, HEAD /users/{id}, GET /news/

            server  path of the service  path of the server
            mirror  /catalog/**          /static/**

            warning: servers[1].serves[1]: expected a pattern that matches requests, such as HEAD /users/*, found \
            HEAD /users/{id}, which matches no request

            warning: servers[1].serves[2]: GET /news/ matches only paths that end with a slash; GET /news/** also \
            matches the paths below

            """
        #expect(text.hasPrefix("service:   topics\nversion:   7\nissued:    "))
        #expect(text.hasSuffix("\nsigned by: k1\n" + expected))
    }

    @Test func `after signing, the list command prints version, expiry, servers and environments of the server list`()
        async throws
    {
        _ = try await key("k1")
        let list = await sign(try service(), "k1")
        let document = try Data(contentsOf: URL(fileURLWithPath: list))

        let text = try ListSignCommand.summary(of: document)

        #expect(text.hasPrefix("service:   topics\nversion:   7\nissued:    "))
        #expect(text.contains("\nexpires:   "))
        #expect(text.contains("\nprimary  release      https://api.example.com\n"))
        #expect(text.hasSuffix("\nAn app whose service has an environment other than release refuses the list.\n"))
    }

    @Test func `a signed server list replaces an existing file only with the option that allows it`() async throws {
        _ = try await key("k1")
        let (service, output) = (try service(), path("list.json"))
        let words = ["list", "sign", "--keys", path("k1.key"), "--output", output, service, "--version"]
        func version() throws -> Int {
            try ServerListDocument(unverified: Data(contentsOf: URL(fileURLWithPath: output))).version
        }

        #expect(await Yard.run(words + ["1"]) == 0)
        #expect(await Yard.run(words + ["2"]) == 1)
        #expect(try version() == 1)
        #expect(await Yard.run(words + ["3", "--force"]) == 0)
        #expect(try version() == 3)
    }

    @Test func `during a key rotation, a server list is signed with both keys`() async throws {
        let (old, new, service) = (try await key("k1"), try await key("k2"), try service())
        let list = await sign(service, "k1,k2")

        #expect(await check(list, service, trust: old) == 0)
        #expect(await check(list, service, trust: new) == 0)
        #expect(await check(list, service, trust: "\(old),\(new)") == 0)
    }

    @Test func `the check of the list command refuses every server list that an app refuses`() async throws {
        let (key, service) = (try await key("k1"), try service())
        let other = try await self.key("k2")
        let list = await sign(service, "k1")

        #expect(await check(list, service, trust: other) == 1)
        #expect(await check(list, service, trust: key, hosts: "*.example.net") == 1)
        #expect(await check(path("missing.json"), service, trust: key) == 1)
        let after = [
            "--after", "7", "--service", service, "--trust", key, "--hosts", "*.example.com", list,
        ]
        #expect(await Yard.run(["list", "check"] + after) == 1)
    }

    @Test func `the file of a private key is readable only for its owner and is never replaced`()
        async throws
    {
        _ = try await key("k1")
        let file = path("k1.key")
        let before = try Data(contentsOf: URL(fileURLWithPath: file))
        let attributes = try FileManager.default.attributesOfItem(atPath: file)

        #expect(await Yard.run(["list", "keys", "--name", "k1", "--output", file]) == 1)

        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test(arguments: [
        ["list"], ["list", "dance"], ["list", "keys"], ["list", "keys", "--name", "a:b"],
        ["list", "show"],
        ["list", "sign", "a.json"], ["list", "sign", "--keys", "k", "--version", "0", "a.json"],
        ["list", "sign", "--keys", ",", "--version", "1", "a.json"],
        ["list", "sign", "--keys", "k", "--version", "1", "--force", "a.json"],
        ["list", "check", "--service", "a", "--trust", "k1", "--hosts", "h", "l"],
        ["list", "check", "--service", "a", "--trust", "k1:AAAA", "--hosts", "h", "l"],
    ])
    func `invalid arguments end with exit code 2`(words: [String]) async {
        #expect(await Yard.run(words) == 2)
    }

    @Test func `yard check validates a server list and sends a request to each of its servers`()
        async throws
    {
        let server = LoopbackServer()
        server.route(.get, "/", answering: .text("hello"))
        try server.start()
        defer { server.stop() }
        _ = try await key("k1")
        let list = await sign(try service(server.baseURL), "k1")

        let report = try await ServiceCheck(timeout: .seconds(30)).report(on: [
            URL(fileURLWithPath: list)
        ])

        #expect(report.isGood)
        #expect(report.rows.map(\.state) == ["200"])
        #expect(report.lists.count == 1)
        #expect(report.text { text, _ in text }.contains("list.json: server list 7 of the service topics"))
    }

    @Test func `yard check reports an expired and a malformed server list`() async throws {
        _ = try await key("k1")
        let list = try ListSignCommand(
            Arguments(
                ["--keys", path("k1.key"), "--version", "1", "--days", "1", service()],
                options: ListSignCommand.options,
                maximumPositional: 1
            )
        )
        let old = try folder.file("old.json", list.document(at: Date() - 2 * 86_400))
        let bad = try folder.file("bad.json", Data(#"{"payload":"?","signatures":[]}"#.utf8))

        let report = try await ServiceCheck(timeout: .seconds(30)).report(on: [old, bad])

        #expect(report.rows.isEmpty)
        #expect(report.problems.count == 2)
        #expect(
            report.problems.first?.hasPrefix("old.json: payload.expires: expected a time in the future")
                == true
        )
        #expect(report.problems.last?.hasPrefix("bad.json: expected a valid server list") == true)
    }
}
