import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import Testing

@testable import SwitchyardInspector

@Suite(.timeLimit(.minutes(5)), .prompt) struct SecretTests {
    private static let evil = "</script><script>alert(1)</script><!-- &\u{2028}\"'"

    /// A login whose secrets must not be shown.
    private static var login: APIConfiguration {
        var configuration = APIConfiguration(
            path: "login",
            method: .post,
            query: ["token": "secret-query", "page": 1],
            headers: ["Authorization": "Bearer secret-header", "Cookie": "sid=secret-cookie", "X-Trace": "7"]
        )
        configuration.body = .json(["password": "secret-body", "user": "me"])
        return configuration
    }

    @Test func `no secret is in the inspector's feed, details or archives`() async throws {
        let lab = try InspectorLab { _, _ in
            .status(
                200,
                headers: ["Content-Type": "application/json", "Set-Cookie": "sid=secret-set"],
                body: Data(#"{"access_token":"secret-answer","name":"me"}"#.utf8)
            )
        }
        _ = try await lab.page.feed()

        _ = try await lab.client.send(Self.login)
        _ = try await lab.feed(ended: 1)

        for place in ["feed?after=0", "calls/1", "calls/1.har", "archive.har"] {
            let answer = try await lab.page.ask(place)
            let text = try #require(answer.text)
            #expect(answer.status == 200 && text.contains("login"), "\(place)")
            #expect(!text.contains("secret"), "\(place)")
        }
        let detail = try await lab.page.detail(of: "1")
        #expect(detail.attempts[0].request.body.text?.contains(#""user":"me""#) == true)
        #expect(detail.attempts[0].request.fields.contains(["X-Trace", "7"]))
        #expect(detail.attempts[0].response?.body.text == #"{"access_token":"***","name":"me"}"#)
        #expect(detail.attempts[0].curl?.hasPrefix("curl -v \\\n\t-X POST") == true)
    }

    @Test func `recorded text cannot break out of the page's script element`() throws {
        let evil = Self.evil
        var attempt = InspectedAttempt(number: 1, round: 1, method: "GET", url: evil, start: 0, kind: .first)
        attempt.server = evil
        var call = InspectedCall(number: 1, start: 0, method: "GET", path: evil)
        call.attempts = [attempt]
        let message = CallDetail.Message(line: evil, fields: [[evil, evil]], body: CallDetail.Body(text: evil))
        let kept = CallDetail.Attempt(number: 1, round: 1, curl: evil, request: message, response: message)
        let detail = CallDetail(call: call, attempts: [kept])
        let record = InspectorRecord(name: evil, place: (evil, evil), details: [detail])

        let html = try InspectorPage().html(showing: record)

        let begin = try #require(html.range(of: #"<script type="application/json" id="record">"#))
        let end = try #require(html.range(of: "</script>", range: begin.upperBound..<html.endIndex))
        let data = Data(html[begin.upperBound..<end.lowerBound].utf8)
        #expect(!html.contains("alert(1)</script>"))
        #expect(html.components(separatedBy: "</script>").count == 3)
        #expect(try JSONDecoder().decode(InspectorRecord.self, from: data) == record)
        #expect(try !InspectorPage().html.contains(#"id="record""#))
    }

    @Test func `the error for missing resources of the inspector page names the module`() {
        let error = #expect(throws: PageFolder.Missing.self) {
            try PageFolder(of: "Nowhere", besides: "/nowhere/File.swift")
        }

        #expect(error?.description.contains("Switchyard_Nowhere") == true)
    }
}
