import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardDiagnostics

/// HAR archives.
@Suite(.timeLimit(.minutes(5)), .prompt) struct HARArchiveTests {
    private static let binary = Data([0, 255, 1, 254, 0x0A])

    private func record(
        _ configurations: [APIConfiguration],
        redaction: Redaction = .standard,
        _ answer: @escaping @Sendable (HTTPRequest) -> StubResponse
    ) async throws -> HARArchive {
        let recorder = HARRecorder(redaction: redaction)
        let client = try NetworkClient.watched([recorder.interceptor], answer)
        for configuration in configurations { _ = try? await client.send(configuration) }
        await until { recorder.archive.entries.count == configurations.count }
        return recorder.archive
    }

    /// The members that version 1.2 of the format requires, by their path.
    private static let required: [(path: [String], names: [String])] = [
        ([], ["version", "creator", "entries"]),
        (["creator"], ["name", "version"]),
        (["entries"], ["startedDateTime", "time", "request", "response", "cache", "timings"]),
        (
            ["entries", "request"],
            ["method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"]
        ),
        (["entries", "request", "headers"], ["name", "value"]),
        (["entries", "request", "queryString"], ["name", "value"]),
        (["entries", "request", "postData"], ["mimeType", "params", "text"]),
        (
            ["entries", "response"],
            [
                "status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize",
                "bodySize",
            ]
        ),
        (["entries", "response", "content"], ["size", "mimeType"]),
        (["entries", "timings"], ["send", "wait", "receive"]),
    ]

    /// The objects at a path, including the elements of arrays.
    private func objects(at path: [String], in value: Any) -> [[String: Any]] {
        if let list = value as? [Any] { return list.flatMap { objects(at: path, in: $0) } }
        guard let object = value as? [String: Any] else { return [] }
        guard let first = path.first else { return [object] }
        return object[first].map { objects(at: Array(path.dropFirst()), in: $0) } ?? []
    }

    @Test func `a HAR archive has every member that HAR 1.2 requires, for every kind of exchange`() async throws {
        let archive = try await record([.login, APIConfiguration(path: "down"), APIConfiguration(path: "moved")]) {
            request in
            if request.method == .post { return .loggedIn }
            if request.url.text.hasSuffix("down") { return .failure(.connectionReset) }
            return .status(200, headers: ["Content-Type": "image/png"], body: Self.binary)
        }

        let json = try #require(try JSONSerialization.jsonObject(with: archive.data()) as? [String: Any])
        let log = try #require(json["log"])
        for (path, names) in Self.required {
            let found = objects(at: path, in: log)
            #expect(!found.isEmpty, "no object at \(path)")
            for object in found {
                for name in names { #expect(object[name] != nil, "\(path) lacks \(name)") }
            }
        }
        #expect((log as? [String: Any])?["version"] as? String == "1.2")
    }

    @Test func `binary bodies are encoded in Base64 in a HAR archive`() async throws {
        var upload = APIConfiguration(path: "up", method: .post)
        upload.body = .data(Self.binary)

        let archive = try await record([upload]) { _ in .status(200, headers: [:], body: Self.binary) }

        let entry = try #require(archive.entries.first)
        #expect(entry.response.content.encoding == "base64")
        #expect(entry.response.content.text == Self.binary.base64EncodedString())
        #expect(entry.response.body == Self.binary)
        #expect(entry.request.postData?.encoding == "base64")
        #expect(entry.request.body == Self.binary)
    }

    @Test(arguments: ["", "text", "\u{FEFF}with a mark", "a\r\nb\u{0}", "\u{2028}"])
    func `a body is the same, byte for byte, after its HAR archive is written and read`(text: String) async throws {
        let data = Data(text.utf8)
        var upload = APIConfiguration(path: "up", method: .post)
        upload.body = .data(data, contentType: "text/plain")

        let archive = try HARArchive(data: try await record([upload]) { _ in .status(200, body: data) }.data())

        let entry = try #require(archive.entries.first)
        #expect(entry.response.body == data)
        #expect(entry.request.body ?? Data() == data)
    }

    @Test func `credentials in a HAR archive are redacted unless redaction is turned off`() async throws {
        let hidden = try await record([.login]) { _ in .loggedIn }
        let shown = try await record([.login], redaction: .none) { _ in .loggedIn }

        #expect(!String(decoding: try hidden.data(), as: UTF8.self).contains("secret"))
        let text = String(decoding: try shown.data(), as: UTF8.self)
        for secret in ["query", "header", "cookie", "body", "set", "answer"] {
            #expect(text.contains("secret-\(secret)"), "secret-\(secret)")
        }
    }

    @Test func `a HAR archive does not change when it is written and read again`() async throws {
        let archive = try await record([.login]) { _ in .loggedIn }

        #expect(try HARArchive(data: archive.data()) == archive)
        #expect(archive.entries.first?.startedDateTime.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
    }

    @Test func `a HAR archive of another program is read, including unknown members`() throws {
        let text = """
            {"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "pages": [], "browser": {"name": "b",
            "version": "2"}, "entries": [{"startedDateTime": "2026-01-01T00:00:00.000Z", "time": 1.5, "_priority": "High",
            "request": {"method": "GET", "url": "http://a/", "httpVersion": "h2", "cookies": [], "headers": [],
            "queryString": [], "headersSize": -1, "bodySize": 0}, "response": {"status": 204, "statusText": "No Content",
            "httpVersion": "h2", "cookies": [], "headers": [], "content": {"size": 0, "mimeType": ""}, "redirectURL": "",
            "headersSize": -1, "bodySize": 0}, "cache": {}, "timings": {"blocked": 1, "dns": -1, "connect": -1, "ssl": -1,
            "send": 0, "wait": 1, "receive": 0}}]}}
            """

        #expect(try HARArchive(data: Data(text.utf8)).entries.first?.response.status == 204)
        #expect(throws: DecodingError.self) { try HARArchive(data: Data("{}".utf8)) }
    }

    /// An archive of another program with the given post data and timings.
    private static func foreign(postData: String, timings: String) -> Data {
        let text = """
            {"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": [{
            "startedDateTime": "2026-01-01T00:00:00.000Z", "time": 1.5, "cache": {}, "timings": {\(timings)},
            "request": {"method": "POST", "url": "http://a/", "httpVersion": "h2", "cookies": [], "headers": [],
            "queryString": [], "headersSize": -1, "bodySize": 0, "postData": {\(postData)}},
            "response": {"status": 204, "statusText": "", "httpVersion": "h2", "cookies": [], "headers": [],
            "content": {"size": 0, "mimeType": ""}, "redirectURL": "", "headersSize": -1, "bodySize": 0}}]}}
            """
        return Data(text.utf8)
    }

    @Test(arguments: [
        (#""mimeType": "application/json", "text": "{}""#, "{}"),
        (
            #""mimeType": "x", "params": [{"name": "b c", "value": "d&e"}, {"name": "a", "value": "é"}]"#,
            "b+c=d%26e&a=%C3%A9"
        ),
        (#""mimeType": "x", "params": [{"name": "file", "fileName": "f.txt"}], "text": "--x""#, "--x"),
    ])
    func `a HAR archive without the optional members is read`(postData: String, body: String) throws {
        let data = Self.foreign(postData: postData, timings: #""send": 1, "wait": 2, "receive": 3, "ssl": 4"#)

        let entry = try #require(try HARArchive(data: data).entries.first)

        #expect(entry.request.body == Data(body.utf8))
        let timings = entry.timings
        #expect([timings.blocked, timings.dns, timings.connect, timings.ssl] == [-1, -1, -1, 4])
        #expect([timings.send, timings.wait, timings.receive] == [1, 2, 3])
    }

    @Test func `members that another program omits from a HAR archive become unknown or empty`() throws {
        let text = """
            {"log": {"entries": {"request": {"headers": {"name": "Accept", "value": "*/*"}},
            "_webSocketMessages": [{}]}}}
            """

        let entry = try #require(try HARArchive(data: Data(text.utf8)).entries.first)

        #expect([entry.request.method, entry.request.url, entry.startedDateTime] == ["-", "-", ""])
        #expect(entry.request.headers == [HARField(name: "Accept", value: "*/*")])
        #expect(entry.webSocketMessages?.map { "\($0.opcode) \($0.time) \($0.data)" } == ["1 0.0 "])
    }

    @Test func `an entry of a HAR archive is rejected if it has neither a request nor a response`() {
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(HARArchive.Entry.self, from: Data(#"{"time": 1}"#.utf8))
        }

        #expect("\(error.map(String.init(describing:)) ?? "")".contains("neither a request nor a response"))
    }

    @Test func `a HAR recorder keeps the newest exchanges up to its limit`() async throws {
        let recorder = HARRecorder(limit: 3)
        let client = try NetworkClient.watched([recorder.interceptor]) { _ in .status(200) }
        for number in 0..<10 { _ = await client.failure(of: .path("\(number)")) }
        await until { recorder.archive.entries.last?.request.url.hasSuffix("/9") == true }

        #expect(recorder.archive.entries.map { $0.request.url.suffix(2) } == ["/7", "/8", "/9"])
        recorder.clear()
        #expect(recorder.archive.entries.isEmpty)
    }

    @Test func `a HAR recorder without a limit keeps every exchange`() async throws {
        let recorder = HARRecorder(limit: .max)
        let client = try NetworkClient.watched([recorder.interceptor]) { _ in .status(200) }

        for _ in 0..<3 { _ = try await client.send(APIConfiguration(path: "list")) }
        await until { recorder.archive.entries.count == 3 }
    }

    @Test func `a credential in a custom header field is hidden in archive, log and curl command`() async throws {
        var configuration = APIConfiguration(path: "x")
        configuration.credential = .header("X-Acme-Pass", "topsecret")
        let entries = Locked<[LogEntry]>([])
        let recorder = HARRecorder()
        let sink = ClosureSink { entry in entries.withLock { $0.append(entry) } }
        let log = RequestInterceptor.logging(to: sink, .verbose)
        let client = try NetworkClient.watched([recorder.interceptor, log]) { _ in .status(200) }

        _ = try await client.send(configuration)

        await until { recorder.archive.entries.count == 1 && entries.withLock { $0.count } >= 4 }
        let archive = String(decoding: try recorder.archive.data(), as: UTF8.self)
        let text = entries.withLock { $0 }.map { "\($0.message) \($0.metadata)" }.joined()
        #expect(archive.contains("X-Acme-Pass") && !archive.contains("topsecret"))
        #expect(text.contains("X-Acme-Pass") && !text.contains("topsecret"))
    }

    // Some programs omit the padding, so the bytes decide whether the label is right.
    @Test(arguments: [([0xFE, 0xFF], String.Encoding.utf16BigEndian), ([0xFF, 0xFE], .utf16LittleEndian)])
    func `in a HAR archive, base64 without padding is decoded if it holds UTF-16 text with a byte order mark`(
        mark: [UInt8],
        encoding: String.Encoding
    ) throws {
        let body = Data(mark) + (try #require("Grüße aus Bremen".data(using: encoding)))
        let text = body.base64EncodedString().replacingOccurrences(of: "=", with: "")
        #expect(text.count % 4 != 0)

        #expect(HARText.content(text, "base64", type: "text/plain").data == body)
    }
}
