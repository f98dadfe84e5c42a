import Switchyard
import SwitchyardFixtures
import SwitchyardTesting
import Testing

@testable import yard

@Suite(.timeLimit(.minutes(5)), .prompt) struct PatternCheckTests {
    private func check(_ patterns: [String]) throws -> PatternCheck {
        let url = try ServerURL("http://localhost")
        return PatternCheck(
            [Server(name: "mirror", baseURLs: [.release: url], serves: .matching(patterns))],
            in: "a.json"
        )
    }

    @Test(arguments: [
        ("GET /users/{id}", "GET /users/*"), ("* users/{id}/posts/{post}", "* /users/*/posts/*"),
        ("GET /a/../b", "GET /b"), ("GET /./a/*", "GET /a/*"), ("GET /%61/**", "GET /a/**"),
        ("GET /caf%c3%a9", "GET /caf%C3%A9"), ("PUT /a|b", "PUT /a%7Cb"),
    ])
    func `the error for a pattern that matches no request suggests a pattern that matches`(
        text: String,
        correct: String
    )
        throws
    {
        let check = try check(["GET /other", text])

        #expect(
            check.problems.map(\.description) == [
                "a.json: servers[0].serves[1]: expected a pattern that matches requests, such as \(correct), "
                    + "found \(text), which matches no request"
            ]
        )
        #expect(check.warnings.isEmpty)
        #expect(try self.check([correct]).problems.isEmpty)
    }

    @Test func `yard check reports an invalid pattern even if no correction is known`() throws {
        #expect(
            try check(["GET /a/../b?"]).problems.map(\.description) == [
                "a.json: servers[0].serves[0]: expected a path without placeholders, dot segments or unnecessary percent "
                    + "escapes, found GET /a/../b?, which matches no request"
            ]
        )
    }

    @Test(arguments: [
        (
            ["GET /content/"],
            "serves[0]: GET /content/ matches only paths that end with a slash; GET /content/** also matches the paths below"
        ),
        (
            ["HEAD /**", "GET /search?q=*"],
            "serves[1]: the ? in GET /search?q=* matches one character and does not begin a query; GET /search matches "
                + "requests with any query"
        ),
    ])
    func `yard check warns about a pattern that matches fewer requests than expected`(patterns: [String], text: String)
        throws
    {
        let check = try check(patterns)

        #expect(check.warnings == ["a.json: servers[0].\(text)"])
        #expect(check.problems.isEmpty)
    }

    @Test(arguments: [
        ["GET /"], ["* /**"], ["GET /a/*/b?/**"], ["GET /content", "GET /content/"], ["GET /café/*.json"],
        ["GET /%2F/%25*"], ["GET catalog"], ["GET /**/posts", "GET /a*"], ["GET /.well-known/*", "GET /a/.?"],
    ])
    func `yard check prints no message for patterns that match the expected requests`(patterns: [String]) throws {
        let check = try check(patterns)

        #expect(check.problems.isEmpty)
        #expect(check.warnings.isEmpty)
    }

    @Test(arguments: [
        ("GET /v1/topics", "GET /topics"), ("GET v1/**", "GET /**"), ("* /v1", "* /"), ("GET /v1/", "GET /"),
    ])
    func `yard check warns about a pattern that begins with the path of a base URL and names the correct pattern`(
        text: String,
        correct: String
    ) throws {
        let servers = try [
            Server(name: "primary", baseURLs: [.release: ServerURL("https://api.test/v1")]),
            Server(name: "mirror", baseURLs: [.release: ServerURL("https://cdn.test")], serves: [text]),
        ]

        let check = PatternCheck(servers, in: "a.json")

        #expect(
            check.warnings == [
                "a.json: servers[1].serves[0]: \(text) begins with /v1, the path of a base URL of primary, but patterns "
                    + "are relative to the base URL; \(correct) matches the requests below the base URL"
            ]
        )
    }

    @Test func `yard check warns about a rewrite whose path begins with the path of a base URL`() throws {
        let servers = try [
            Server(name: "primary", baseURLs: [.release: ServerURL("https://api.test/v1/")]),
            Server(
                name: "mirror",
                baseURLs: [.release: ServerURL("https://cdn.test")],
                rewrites: ["/v1/**": "/static/**", "/v2/**": "/v1/**"]
            ),
        ]

        #expect(
            PatternCheck(servers, in: "a.json").warnings == [
                "a.json: servers[1].rewrites./v1/**: /v1/** begins with /v1, the path of a base URL of primary, but "
                    + "paths are relative to the base URL; /** matches the requests below the base URL"
            ]
        )
    }

    @Test(arguments: ["GET /v1beta/topics", "GET /**/v1/a", "GET /v2/v1", "GET /topics"])
    func `yard check does not warn about a pattern that does not begin with a whole base path`(text: String) throws {
        let url = try ServerURL("https://api.test/v1")
        let servers = [Server(name: "primary", baseURLs: [.release: url], serves: [text])]

        #expect(PatternCheck(servers).warnings.isEmpty)
    }

    @Test func `yard check reports mistakes in the patterns of service files`() async throws {
        let server = try LoopbackServer.started()
        let json = """
            {"service": "shop", "defaultEnvironment": "test", "servers": [
            {"name": "primary", "baseURLs": {"test": "\(server.baseURL)"}},
            {"name": "mirror", "baseURLs": {"test": "\(server.baseURL)"}, "serves": ["GET /news/", "GET /a/{id}"]}]}
            """

        let report = try await withTemporaryFolder { folder in
            try folder.write(json, to: "shop.json")
            return try await ServiceCheck(environment: nil, timeout: .seconds(30)).report(on: [folder])
        }

        #expect(report.problems.count == 1)
        #expect(report.problems.first?.hasPrefix("shop.json: servers[1].serves[1]: expected ") == true)
        #expect(report.text { text, _ in text }.contains("shop.json: servers[1].serves[0]: GET /news/ matches only "))
    }
}
