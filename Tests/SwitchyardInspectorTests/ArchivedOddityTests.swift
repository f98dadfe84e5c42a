import Foundation
import SwitchyardDiagnostics
import SwitchyardFixtures
import SwitchyardInspector
import Testing

/// Archives of other programs are shown as far as possible, whatever they lack.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ArchivedOddityTests {
    private static let entry: [String: String] = [
        "startedDateTime": #""2024-05-06T07:08:09.123Z""#, "time": "12.5", "cache": "{}",
        "timings": #"{"send": 0.5, "wait": 4, "receive": 1}"#,
        "request": """
        {"method": "GET", "url": "https://shop.example/a", "httpVersion": "h2", "cookies": [], "headers": [],
        "queryString": [], "headersSize": -1, "bodySize": 0}
        """,
        "response": """
        {"status": 200, "statusText": "", "httpVersion": "h2", "cookies": [], "headers": [],
        "content": {"size": 2, "mimeType": "text/plain", "text": "ok"}, "redirectURL": "", "headersSize": -1,
        "bodySize": 2}
        """,
    ]

    private static func object(_ members: [String: String]) -> String {
        "{" + members.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ", ") + "}"
    }

    /// An entry with changed members.
    ///
    /// `nil` removes a member.
    private static func entry(_ changes: [String: String?] = [:]) -> String {
        var members = entry
        for (name, value) in changes { members[name] = value }
        return object(members)
    }

    private static func record(_ entries: String...) throws -> InspectorRecord {
        let text =
            #"{"log": {"version": "1.2", "creator": {"name": "x"}, "entries": [\#(entries.joined(separator: ","))]}}"#
        return InspectorRecord(of: try HARArchive(data: Data(text.utf8)), name: "a")
    }

    @Test(
        arguments: [
            ("timings", "{}"), ("timings", nil), ("timings", "null"), ("timings", #"{"send": null, "wait": "4 ms"}"#),
            ("timings", "[]"), ("time", "null"), ("time", nil), ("time", #""12,5""#), ("time", "1e300"), ("time", "-1"),
            ("time", "true"), ("cache", nil), ("cache", "null"),
            ("request", #"{"method": "GET", "url": "https://shop.example/a"}"#),
            ("request", #"{"method": "GET", "url": "https://shop.example/a", "bodySize": 12.0, "headersSize": "12"}"#),
            ("request", #"{"method": "GET", "url": "https://shop.example/a", "headers": {"A": 1}, "cookies": null}"#),
            ("request", #"{"method": "GET", "url": "https://shop.example/a", "headers": [null, {"value": "x"}, 7]}"#),
            ("request", #"{"method": "GET", "url": "https://shop.example/a", "postData": null, "queryString": ""}"#),
            ("request", #"{"method": "GET", "url": "https://shop.example/a", "postData": {"params": null}}"#),
            ("response", #"{"status": 200}"#), ("response", #"{"status": "200", "content": {"text": "ok"}}"#),
            ("response", #"{"status": 200.0, "content": {"size": 2.5, "mimeType": null}, "bodySize": null}"#),
            ("response", #"{"status": 200, "content": null, "statusText": 7, "httpVersion": 2}"#),
            ("comment", "7"), ("_priority", "null"), ("pageref", "[]"),
        ] as [(String, String?)]
    )
    func `an archive entry with an invalid member is shown`(member: String, value: String?) throws {
        let record = try Self.record(Self.entry([member: value]), Self.entry())

        #expect(record.feed.calls.map(\.path) == ["/a", "/a"])
        #expect(record.feed.calls.map(\.outcome?.status) == [200, 200])
        #expect(record.leftOut == nil)
        #expect(try InspectorPage().html(showing: record).contains("shop.example"))
    }

    @Test(arguments: [nil, "null", "{}", #"{"status": 0}"#, "[]", #"{"status": -1, "_error": "net::ERR_ABORTED"}"#])
    func `an archive entry without a response is shown as a failed call`(response: String?) throws {
        let call = try #require(try Self.record(Self.entry(["response": response])).feed.calls.first)

        #expect(call.path == "/a")
        #expect(call.outcome?.status == nil && call.outcome?.error != nil)
    }

    @Test func `an archive entry that has no request shows the data of its response`() throws {
        let record = try Self.record(Self.entry(["request": nil]))

        #expect(record.feed.calls.map(\.outcome?.status) == [200])
        #expect(record.details["1"]?.attempts.first?.curl == nil)
    }

    @Test(
        arguments: [
            #"{"log": {"entries": [E]}}"#, #"{"log": {"version": 1.2, "creator": null, "entries": [E]}}"#,
            #"{"log": {"version": null, "creator": {}, "browser": 7, "pages": null, "entries": [E]}}"#,
            #"{"log": {"creator": "Proxy", "comment": [], "entries": [E]}}"#, #"{"log": {"entries": E}}"#,
            #"{"entries": [E]}"#, "\u{FEFF}{\"log\": {\"entries\": [E]}}",
        ]
    )
    func `a HAR archive whose log has invalid members is shown`(text: String) throws {
        let data = Data(text.replacing("E", with: Self.entry()).utf8)

        #expect(InspectorRecord(of: try HARArchive(data: data), name: "a").feed.calls.map(\.path) == ["/a"])
    }

    @Test(arguments: ["", "{", "[]", "7", "{}", #"{"log": {}}"#, #"{"log": []}"#, #"{"log": {"entries": null}}"#])
    func `data that is not a HAR archive is rejected`(text: String) {
        #expect(throws: DecodingError.self) { try HARArchive(data: Data(text.utf8)) }
    }

    @Test func `unreadable entries of a HAR archive are counted, and the message names the first such entry`() throws {
        let record = try Self.record("null", Self.entry(), "7", "{}", Self.entry(["startedDateTime": #""soon""#]))

        #expect(record.feed.calls.count == 2)
        #expect(record.leftOut?.count == 4)
        #expect(record.leftOut?.first == "entry 1 must be an object")
        #expect(try InspectorPage().html(showing: record).contains("entry 1 must be an object"))
    }

    @Test(
        arguments: [
            ("2024-05-06T07:08:09.123Z", 123), ("2024-05-06T07:08:09,123Z", 123), ("2024-05-06 07:08:09.123Z", 123),
            ("2024-05-06T07:08:09.123", 123), ("2024-05-06 07:08:09", 0), ("2024-05-06, 07:08:09", 0),
            (" 2024-05-06T07:08:09.1234567Z ", 123.4567), ("2024-05-06T09:08:09.123+02:00", 123),
            ("2024-05-06T09:08:09.123 +0200", 123), ("2024-05-06T09:08:09+02", 0), ("2024-05-06t07:08:09z", 0),
            ("2024-05-06T02:08:09.5\u{2212}05:00", 500), ("2024-05-06 07:08:09 UTC", 0), ("2024/05/06 07:08:09", 0),
            ("2024-5-6T7:08:09Z", 0), ("20240506T070809Z", 0), ("2024-05-06T09:08:09+02:00[Europe/Berlin]", 0),
            ("Mon, 06 May 2024 07:08:09 GMT", 0), ("1714979289123", 123), ("1714979289.123", 123),
        ]
    )
    func `dates in a HAR archive are parsed in many forms`(text: String, milliseconds: Double) throws {
        let record = try Self.record(Self.entry(["startedDateTime": "\"\(text)\""]))

        let start = try #require(record.feed.calls.first?.start)
        #expect(abs(start - 1_714_979_289_000 - milliseconds) < 0.01)
        #expect(record.leftOut == nil)
    }

    @Test(arguments: [
        "soon", "", "2024-13-01T00:00:00Z", "2024-05-06T25:00:00Z", "07:08:09", "2024-05-06T07:08:09 CEST",
    ])
    func `a HAR entry with an invalid date is shown at the time of the previous entry`(text: String) throws {
        let record = try Self.record(Self.entry(), Self.entry(["startedDateTime": "\"\(text)\""]))

        #expect(record.feed.calls.map(\.start) == [1_714_979_289_123, 1_714_979_289_123])
        #expect(
            record.leftOut?.words
                == "items not shown as recorded: 1 (first problem: entry 2 has an invalid start date \"\(text)\")"
        )
    }
}
