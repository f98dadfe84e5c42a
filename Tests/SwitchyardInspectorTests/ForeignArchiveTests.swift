import Foundation
import SwitchyardClient
import SwitchyardDiagnostics
import Testing

@testable import SwitchyardInspector

/// Archives in the form in which browsers and proxies write them.
@Suite struct ForeignArchiveTests {
    private func record(request: String, response: String) throws -> InspectorRecord {
        let text = """
            {"log": {"entries": [{"startedDateTime": "2024-05-06T07:08:09Z", "time": 5, "request": \(request),
            "response": \(response)}]}}
            """
        return InspectorRecord(of: try HARArchive(data: Data(text.utf8)), name: "a.har")
    }

    private let get = #"{"method": "GET", "url": "https://shop.example:8443/a?b=c"}"#

    @Test func `the server of an archived call is the origin of its URL`() throws {
        let record = try record(request: get, response: #"{"status": 202}"#)

        #expect(record.feed.calls.first?.attempts.first?.server == "https://shop.example:8443")
        #expect(record.feed.client.servers.map(\.name) == ["https://shop.example:8443"])
        #expect(record.feed.client.servers.map(\.words) == ["0 of 1 requests failed"])
    }

    @Test(
        arguments: [
            ("net::ERR_CONNECTION_REFUSED", "connectionRefused"), ("net::ERR_NAME_NOT_RESOLVED", "dnsFailure"),
            ("net::ERR_CERT_DATE_INVALID", "certificateRejected"), ("net::ERR_ABORTED", "cancelled"),
            ("net::ERR_BLOCKED_BY_CLIENT", "net::ERR_BLOCKED_BY_CLIENT"), ("it did not work", "other"),
        ]
    )
    func `an error that a browser has archived is shown`(text: String, name: String) throws {
        let record = try record(request: get, response: "{\"status\": 0, \"_error\": \"\(text)\"}")

        #expect(record.feed.calls.first?.outcome?.error == name)
        #expect(record.feed.calls.first?.outcome?.words == text)
    }

    @Test func `the WebSocket messages that a browser has archived are shown without their texts`() throws {
        let messages = #"""
            "_webSocketMessages": [{"type": "send", "time": 1714979290.5, "opcode": 1, "data": "{\"token\": \"hunter2\"}"},
            {"type": "receive", "time": 1714979291, "opcode": 2, "data": "AAEC"}, 7]
            """#
        let text = """
            {"log": {"entries": [{"startedDateTime": "2024-05-06T07:08:09Z", "time": 5, "request": \(get),
            "response": {"status": 101}, \(messages)}]}}
            """

        let record = InspectorRecord(of: try HARArchive(data: Data(text.utf8)), name: "a.har")

        let shown = try #require(record.details["1"]?.messages)
        #expect(shown.map(\.direction) == [.sent, .received])
        #expect(shown.map(\.type) == ["text", "binary"])
        #expect(shown.allSatisfy { $0.text == nil })
        #expect(shown.map(\.size) == [20, 3])
        #expect(shown.map(\.time) == [1_714_979_290_500, 1_714_979_291_000])
        #expect(record.feed.calls.first?.stream?.end == 1_714_979_291_000)
    }

    @Test func `the curl command of an archived request has no pseudo header fields`() throws {
        let request = """
            {"method": "GET", "url": "https://shop.example/a", "bodySize": 0,
            "headers": [{"name": ":path", "value": "/a"}, {"name": "accept", "value": "*/*"}]}
            """
        let detail = try #require(record(request: request, response: #"{"status": 200}"#).details["1"])

        let curl = try #require(detail.attempts.first?.curl)
        #expect(!curl.contains(":path"))
        #expect(curl.contains("accept: */*"))
    }

    @Test(arguments: ["multipart/form-data; boundary=x", "text/plain", "application/x-www-form-urlencoded", ""])
    func `JSON that is labeled with another content type is redacted`(label: String) throws {
        let body = #"{\"user\": \"ada\", \"password\": \"hunter2\"}"#
        let request = """
            {"method": "POST", "url": "https://shop.example/a", "postData": {"mimeType": "\(label)", "text": "\(body)"}}
            """
        let response = "{\"status\": 200, \"content\": {\"mimeType\": \"\(label)\", \"text\": \"\(body)\"}}"
        let html = try InspectorPage().html(showing: record(request: request, response: response))

        #expect(!html.contains("hunter2"))
        #expect(html.contains("ada"))
    }

    private static let archives = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Browser/archives")

    @Test(
        arguments: [
            ("charles", ["503"]), ("chrome", ["201", "connectionRefused", "101"]), ("fiddler", ["404"]),
            ("firefox", ["200", "other"]), ("http-toolkit", ["200", "other"]), ("insomnia", ["204"]),
            ("mitmproxy", ["302", "other"]), ("playwright", ["200", "cancelled"]), ("proxyman", ["200"]),
            ("safari", ["304"]),
        ]
    )
    func `an archive that another program wrote shows the results of its calls and no credentials`(
        program: String,
        results: [String]
    ) throws {
        let data = try Data(contentsOf: Self.archives.appendingPathComponent("\(program).har"))

        let record = InspectorRecord(of: try HARArchive(data: data), name: "\(program).har")

        #expect(record.feed.calls.map(\.result) == results)
        #expect(record.leftOut == nil)
        #expect(record.feed.calls.allSatisfy { $0.route.contains("//") && record.details[$0.id] != nil })
        #expect(try !InspectorPage().html(showing: record).contains("hunter2"))
    }

    @Test func `the page of a recording shows the verdict and the calls even if scripts are disabled`() throws {
        let record = try record(request: get, response: #"{"status": 404}"#)

        let html = try InspectorPage().html(showing: record)
        let plain = html[..<(try #require(html.range(of: "<script")).lowerBound)]

        #expect(plain.contains("1 of 1 calls failed with a request error: 404 Not Found."))
        #expect(plain.contains("GET /a?b=c"))
    }
}
