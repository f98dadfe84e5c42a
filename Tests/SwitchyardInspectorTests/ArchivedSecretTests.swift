import Foundation
import SwitchyardDiagnostics
import SwitchyardFixtures
import SwitchyardInspector
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct ArchivedSecretTests {
    private static func archive(content: String, comment: String = "") throws -> HARArchive {
        let json = """
            {"log": {"version": "1.2", "creator": {"name": "Proxy", "version": "1"}, "entries": [
            {"startedDateTime": "2024-05-06T07:08:09.123Z", "time": 12.5, "cache": {}, "comment": "\(comment)",
            "timings": {"send": 0.5, "wait": 4, "receive": 1},
            "request": {"method": "GET", "url": "https://shop.example/a", "httpVersion": "h2",
            "cookies": [], "headers": [], "queryString": [], "headersSize": -1, "bodySize": 0},
            "response": {"status": 200, "statusText": "", "httpVersion": "h2", "cookies": [], "headers": [],
            "content": {"size": 20, "mimeType": "application/json", \(content)},
            "redirectURL": "", "headersSize": -1, "bodySize": 9}}]}}
            """
        return try HARArchive(data: Data(json.utf8))
    }

    @Test func `a body that others have recorded in base64 is shown without its secrets`() throws {
        let secret = Data(#"{"access_token":"s3cr3t-0123456789"}"#.utf8).base64EncodedString()
        let archive = try Self.archive(content: #""text": "\#(secret)", "encoding": "base64""#)

        let record = try InspectorRecord(of: archive, name: "a")

        let body = try #require(record.details["1"]?.attempts.first?.response?.body)
        let data = body.base64.flatMap { Data(base64Encoded: $0) }
        let shown = body.text ?? data.map { String(decoding: $0, as: UTF8.self) }
        #expect(shown?.contains("s3cr3t") == false)
        #expect(try !InspectorPage().html(showing: record).contains(secret))
    }

    // Where the time grows with the third power of the length, this does not end.
    @Test func `a comment of slashes is read`() throws {
        let comment = "#1 a" + String(repeating: "/", count: 20_000)
        let archive = try Self.archive(content: #""text": """#, comment: comment)

        #expect(try InspectorRecord(of: archive, name: "a").details.count == 1)
    }
}
