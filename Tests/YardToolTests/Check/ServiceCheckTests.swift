import Foundation
import Switchyard
import SwitchyardFixtures
import SwitchyardTesting
import Testing

@testable import yard

@Suite(.timeLimit(.minutes(5)), .prompt) struct ServiceCheckTests {
    private let check = ServiceCheck(environment: nil, timeout: .seconds(30))

    @Test func `a server that returns any HTTP response counts as alive`() async throws {
        let servers = try [200, 404, 503].map { status in
            try LoopbackServer.started { $0.setDefaultRoute { _ in .text("", status: status) } }
        }

        let report = try await report(on: ["forum": servers.map(\.baseURL)])

        #expect(report.isGood)
        #expect(report.rows.map(\.state) == ["200", "404", "503"])
        #expect(report.rows.allSatisfy { $0.latency != nil })
    }

    @Test func `yard check names the file, the key and the URL of a dead server`() async throws {
        let dead = try LoopbackServer.started()
        let alive = try LoopbackServer.started()
        dead.fault = .refuse

        let report = try await report(on: ["forum": [alive.baseURL, dead.baseURL]])

        #expect(report.rows.map(\.state) == ["404", "connection refused"])
        #expect(
            report.problems == [
                "forum.json: servers[1].baseURLs.test: expected a response from \(dead.baseURL) within 30.0 s, found connection refused"
            ]
        )
    }

    @Test func `a server that hangs causes a timeout`() async throws {
        let server = try LoopbackServer.started()
        server.fault = .hang
        let check = ServiceCheck(environment: nil, timeout: .milliseconds(60))

        let report = try await report(on: ["forum": [server.baseURL]], with: check)

        #expect(report.rows.map(\.state) == ["no response in time"])
        #expect(!report.isGood)
    }

    @Test func `a response with an endless body counts as alive`() async throws {
        let server = try LoopbackServer.started {
            $0.setDefaultRoute { _ in
                .stream { writer in
                    while true { try await writer.write(Data(count: 65_536)) }
                }
            }
        }

        let report = try await report(on: ["forum": [server.baseURL]])

        #expect(report.rows.map(\.state) == ["200"])
    }

    @Test func `an invalid file is a problem, and the servers of the other files are still checked`() async throws {
        let server = try LoopbackServer.started()

        let report = try await withTemporaryFolder { folder in
            try folder.write("{}", to: "broken.json")
            try folder.write("{\"service\": ", to: "cut.json")
            try folder.write(Self.file("forum", [server.baseURL]), to: "forum.json")
            return try await check.report(on: [folder])
        }

        #expect(report.rows.map(\.service) == ["forum"])
        #expect(report.problems.count == 2)
        #expect(report.problems.first?.hasPrefix("broken.json: service: expected") == true)
        #expect(report.problems.last?.hasPrefix("cut.json: ") == true)
    }

    @Test func `files that are named one by one are all checked in order`() async throws {
        let server = try LoopbackServer.started()

        let report = try await withTemporaryFolder { folder in
            let names = ["users", "forum"]
            for name in names { try folder.write(Self.file(name, [server.baseURL]), to: "\(name).json") }
            return try await check.report(on: names.map { folder.appendingPathComponent("\($0).json") })
        }

        #expect(report.rows.map(\.service) == ["users", "forum"])
        #expect(report.isGood)
    }

    @Test func `a file that is named by several paths is checked once`() async throws {
        let server = try LoopbackServer.started()

        let report = try await withTemporaryFolder { folder in
            try folder.write(Self.file("forum", [server.baseURL]), to: "forum.json")
            try folder.write("{}", to: "broken.json")
            let file = folder.appendingPathComponent("forum.json")
            let roundabout = folder.appendingPathComponent("../\(folder.lastPathComponent)/./forum.json")
            return try await check.report(on: [file, folder, roundabout, folder])
        }

        #expect(report.rows.map(\.service) == ["forum"])
        #expect(report.problems.count == 1)
    }

    @Test func `an environment that is missing in a file is a problem`() async throws {
        let check = ServiceCheck(environment: "staging", timeout: .seconds(30))

        let report = try await report(on: ["forum": ["http://127.0.0.1:9"]], with: check)

        #expect(report.rows.isEmpty)
        let expected =
            "forum.json: servers[0].baseURLs.staging: expected a base URL for the requested environment, found only test"
        #expect(report.problems == [expected])
    }

    @Test func `only servers of the chosen environment are asked, and environments missing in some files are listed`()
        async throws
    {
        let server = try LoopbackServer.started()
        let report = try await withTemporaryFolder { folder in
            let json = """
                {"service": "shop", "defaultEnvironment": "test", "servers": [
                {"name": "a", "baseURLs": {"test": "\(server.baseURL)", "tset": "\(server.baseURL)"}},
                {"name": "b", "baseURLs": {"release": "\(server.baseURL)"}}]}
                """
            try folder.write(json, to: "shop.json")
            return try await check.report(on: [folder])
        }

        #expect(report.rows.map(\.server) == ["a"])
        #expect(report.isGood)
        let lines = report.text { text, _ in text }.split(separator: "\n").suffix(3)
        #expect(
            Array(lines) == [
                "shop: environment release has 1 of 2 servers: b",
                "shop: environment test has 1 of 2 servers: a",
                "shop: environment tset has 1 of 2 servers: a",
            ]
        )
    }

    @Test func `a public http URL is a problem only of the file that contains it`() async throws {
        let server = try LoopbackServer.started()

        let report = try await withTemporaryFolder { folder in
            try folder.write(Self.file("x", ["http://api.shop.com"]), to: "x.json")
            try folder.write(Self.file("y", [server.baseURL]), to: "y.json")
            try folder.write(Self.file("z", []), to: "z.json")
            return try await check.report(on: [folder])
        }

        #expect(report.rows.map(\.service) == ["y"])
        #expect(
            report.problems == [
                "x.json: servers[0].baseURLs.test: expected https, or http to a host on this machine or in the local "
                    + "network, found http://api.shop.com",
                "z.json: servers: expected at least one server",
            ]
        )
    }

    @Test func `the URLs of all environments are checked, but only one environment's servers get requests`()
        async throws
    {
        let server = try LoopbackServer.started()
        let other = try LoopbackServer.started()
        let json = """
            {"service": "shop", "defaultEnvironment": "test", "servers": [{"name": "a",
            "baseURLs": {"test": "\(server.baseURL)", "develop": "\(other.baseURL)", "release": "http://api.shop.com"},
            "cdnURLs": {"release": "http://cdn.shop.com/"}}]}
            """

        let report = try await withTemporaryFolder { folder in
            try folder.write(json, to: "shop.json")
            return try await check.report(on: [folder])
        }

        #expect(report.rows.map(\.url) == [server.baseURL])
        #expect(report.rows.map(\.state) == ["404"])
        #expect(other.requests.isEmpty)
        let rule = "expected https, or http to a host on this machine or in the local network, found"
        #expect(
            report.problems == [
                "shop.json: servers[0].baseURLs.release: \(rule) http://api.shop.com",
                "shop.json: servers[0].cdnURLs.release: \(rule) http://cdn.shop.com/",
            ]
        )
    }

    @Test func `a folder without files is a problem, and so is a missing folder`() async throws {
        try await withTemporaryFolder { folder in
            let empty = try await check.report(on: [folder])
            let missing = try await check.report(on: [folder.appendingPathComponent("nowhere")])

            #expect(empty.problems.map { $0.contains("at least one service file") } == [true])
            #expect(missing.problems.map { $0.contains("expected a file or a folder") } == [true])
        }
    }

    @Test func `the table of the check command shows service, server, URL, state and latency`() {
        var report = CheckReport()
        report.rows = [
            CheckReport.Row(service: "forum", server: "a", url: "http://a", state: "200", latency: .milliseconds(2)),
            CheckReport.Row(service: "forum", server: "b", url: "http://b", state: "refused", problem: "dead"),
        ]

        let lines = report.text { text, _ in text }.split(separator: "\n")

        #expect(lines.map { $0.split(separator: " ").first } == ["service", "forum", "forum"])
        #expect(lines[1].hasSuffix("200      2.00 ms"))
        #expect(lines[2].hasSuffix("refused        -"))
    }

    @Test func `a check that finds no problem ends with exit code 0, and one that finds a problem with exit code 1`()
        async throws
    {
        let server = try LoopbackServer.started()
        try await withTemporaryFolder { folder in
            try folder.write(Self.file("forum", [server.baseURL]), to: "forum.json")
            #expect(await Yard.run(["check", folder.path, "--environment", "test"]) == 0)
            server.fault = .refuse
            #expect(await Yard.run(["check", folder.path, "--timeout", "2"]) == 1)
        }
    }

    private func report(on services: [String: [String]], with check: ServiceCheck? = nil) async throws -> CheckReport {
        try await withTemporaryFolder { folder in
            for (name, urls) in services { try folder.write(Self.file(name, urls), to: "\(name).json") }
            return try await (check ?? self.check).report(on: [folder])
        }
    }

    private static func file(_ name: String, _ urls: [String]) -> String {
        let servers = urls.enumerated().map { number, url in
            "{\"name\": \"s\(number)\", \"baseURLs\": {\"test\": \"\(url)\"}}"
        }
        return
            "{\"service\": \"\(name)\", \"defaultEnvironment\": \"test\", \"servers\": [\(servers.joined(separator: ","))]}"
    }
}

extension URL {
    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: appendingPathComponent(name))
    }
}

extension LoopbackServer {
    static func started(_ prepare: (LoopbackServer) -> Void = { _ in }) throws -> LoopbackServer {
        let server = LoopbackServer()
        prepare(server)
        try server.start()
        return server
    }
}
