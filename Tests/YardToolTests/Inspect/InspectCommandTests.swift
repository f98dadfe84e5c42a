import Foundation
import Switchyard
import SwitchyardDiagnostics
import SwitchyardFixtures
import SwitchyardInspector
import SwitchyardTesting
import Testing

@testable import yard

@Suite(.timeLimit(.minutes(5)), .prompt) struct InspectCommandTests {
    /// Traffic of two calls: one with a failover, and one with a redirect after a retry.
    private func archive() async throws -> HARArchive {
        let recorder = HARRecorder()
        let transport = StubTransport { request in
            if request.url.text.hasSuffix("/list") {
                return request.url.text.contains("primary") ? .failure(.connectionRefused) : .json("[1]")
            }
            return request.url.text.hasSuffix("/old")
                ? .status(302, headers: ["Location": "new"]) : .status(200, body: Data([0, 255]))
        }
        let client = try NetworkClient(service: .topics(), transport: transport) { options in
            options.interceptors = [recorder.interceptor]
        }
        _ = try await client.send(APIConfiguration(path: "list", headers: ["Authorization": "Bearer secret"]))
        _ = try await client.send(APIConfiguration(path: "old"))
        await until { recorder.archive.entries.count == 4 }
        var archive = recorder.archive
        // As on an idle machine.
        for index in archive.entries.indices {
            archive.entries[index].startedDateTime = "2024-05-06T07:08:09.\(index + 1)00Z"
            archive.entries[index].time = 1
        }
        return archive
    }

    private func shown(inPage file: URL) throws -> InspectorRecord {
        let html = try String(contentsOf: file, encoding: .utf8)
        let begin = try #require(html.range(of: #"id="record">"#)).upperBound
        let end = try #require(html.range(of: "</script>", range: begin..<html.endIndex)).lowerBound
        return try JSONDecoder().decode(InspectorRecord.self, from: Data(html[begin..<end].utf8))
    }

    @Test func `the inspect command turns a recorded archive into a page with its calls`() async throws {
        let archive = try await archive()
        let record = try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("forum.har")
            try archive.data().write(to: file)
            #expect(await Yard.run(["inspect", file.path]) == 0)
            return try shown(inPage: folder.appendingPathComponent("forum.har.html"))
        }

        #expect(record.name == "forum.har")
        #expect(record.feed.client.service == "topics" && record.feed.client.environment == "test")
        #expect(record.feed.client.servers.map(\.name) == ["primary", "secondary"])
        #expect(record.feed.calls.map(\.path) == ["/v1/list", "/v1/old"])
        #expect(record.feed.calls[0].attempts.map(\.kind) == [.first, .failover])
        #expect(record.feed.calls[0].outcome?.status == 200)
        #expect(record.feed.calls[1].attempts.map(\.redirects.count) == [1])
        #expect(record.details["1"]?.attempts.map(\.response?.body.text) == [nil, "[1]"])
        #expect(record.details["2"]?.attempts.first?.response?.body.base64 == "AP8=")
    }

    @Test func `each entry of another program's archive becomes a call without secrets on the page`() async throws {
        let json = """
            {"log": {"version": "1.2", "creator": {"name": "Browser", "version": "1"}, "entries": [
            {"startedDateTime": "2024-05-06T07:08:09.123456+02:00", "time": 12.5, "cache": {},
            "timings": {"blocked": 1, "dns": 2, "connect": 4, "ssl": 3, "send": 0.5, "wait": 4, "receive": 1},
            "request": {"method": "GET", "url": "https://shop.example/a?token=secret", "httpVersion": "h2",
            "cookies": [], "headers": [{"name": "Cookie", "value": "sid=secret"}], "queryString": [],
            "headersSize": -1, "bodySize": 0},
            "response": {"status": 404, "statusText": "", "httpVersion": "h2", "cookies": [], "headers": [],
            "content": {"size": 20, "mimeType": "application/json", "text": "{\\"password\\":\\"secret\\"}"},
            "redirectURL": "", "headersSize": -1, "bodySize": 9}}]}}
            """
        let record = try InspectorRecord(of: HARArchive(data: Data(json.utf8)), name: "a")
        let call = try #require(record.feed.calls.first)

        #expect(call.start == 1_714_972_089_123.456)
        #expect(call.path == "/a?token=***")
        #expect(call.outcome?.status == 404)
        #expect(call.attempts[0].phases.map(\.name) == [.lookup, .connect, .tls, .send, .wait, .receive])
        #expect(call.attempts[0].version == "HTTP/2")
        #expect(record.feed.client.servers.map(\.name) == ["https://shop.example"])
        #expect(try !InspectorPage().html(showing: record).contains("secret"))
    }

    @Test func `the inspect command turns the output of a load run into calls and switches on the page`() async throws {
        let lines = """
            {"attempts":1,"done":1700000000.5,"due":1700000000,"error":null,"load":"open","ok":true,"server":"a","status":200}
            {"at":1700000000.6,"cause":"errorRatio","event":"switch","from":"a","to":"b"}
            {"attempts":2,"done":1700000001.5,"due":1700000001,"error":"timeout","load":"open","ok":false,"server":"b","status":null}

            """
        let record = try await withTemporaryFolder { folder in
            let (file, page) = (folder.appendingPathComponent("run.jsonl"), folder.appendingPathComponent("page.html"))
            try Data(lines.utf8).write(to: file)
            #expect(await Yard.run(["inspect", file.path, "--report", page.path]) == 0)
            return try shown(inPage: page)
        }

        #expect(record.feed.calls.map(\.outcome) == [.init(status: 200), .init(error: "timeout")])
        #expect(record.feed.calls.map(\.start) == [1_700_000_000_000, 1_700_000_001_000])
        #expect(record.feed.events.map(\.text) == ["switched from a to b (errorRatio)"])
        #expect(record.feed.client.servers.map(\.name) == ["a", "b"])
    }

    @Test(
        arguments: [
            ("a.har", "", "is not an HTTP Archive: it is not JSON"),
            ("a.har", "{}", "is not an HTTP Archive: it lacks \"log\""),
            (
                "a.har", #"{"log":{"version":"1.2","creator":{"name":"a","version":"1"},"entries":[{}]}}"#,
                "has no calls, items not shown as recorded: 1 "
                    + "(first problem: entry 1 has neither a request nor a response)"
            ),
            ("a.har", #"{"log":{"version":"1.2","creator":{"name":"a","version":"1"},"entries":[]}}"#, "has no calls"),
            ("a.jsonl", "{}\n", "line 1 must be a line that yard load has printed"),
            ("a.jsonl", "\n[", "line 2: it is not JSON"),
            ("a.jsonl", "", "has no calls"),
        ]
    )
    func `the error for an invalid file names the file and the problem`(
        name: String,
        text: String,
        problem: String
    ) async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent(name)
            try Data(text.utf8).write(to: file)

            #expect(throws: TrafficFileError(path: file.path, problem: problem)) {
                try RecordedTraffic(at: file.path)
            }
            #expect(await Yard.run(["inspect", file.path]) == 1)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [name])
        }
    }

    @Test(arguments: [["inspect"], ["inspect", "a.har", "b.har"], ["inspect", ""], ["demo", "--json", "--inspect"]])
    func `invalid arguments end with exit code 2`(words: [String]) async {
        #expect(await Yard.run(words) == 2)
    }

    @Test func `the error for a missing file names the file`() async {
        #expect(await Yard.run(["inspect", "/no-such-folder/a.har", "--report", "/dev/null"]) == 1)
        let error = #expect(throws: TrafficFileError.self) { try RecordedTraffic(at: "/no-such-folder/a.har") }
        #expect(error?.description.hasPrefix("/no-such-folder/a.har cannot be read") == true)
    }
}
