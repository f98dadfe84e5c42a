import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import SwitchyardTransport
import Testing

@testable import SwitchyardInspector

@Suite(.timeLimit(.minutes(5)), .prompt) struct AccessTests {
    @Test func `the inspector page is served only on this machine and must not be cached`() async throws {
        let lab = try InspectorLab()
        let address = lab.inspector.address

        #expect(address.wholeMatch(of: #/http://127\.0\.0\.1:\d+/[0-9a-f]{32}//#) != nil)
        let answer = try await lab.page.ask("")

        #expect(answer.status == 200)
        #expect(answer.headers["Content-Type"] == "text/html; charset=utf-8")
        #expect(answer.headers["Content-Security-Policy"] == InspectorPages.policy)
        #expect(answer.headers["Cache-Control"] == "no-store")
        #expect(answer.headers["X-Content-Type-Options"] == "nosniff")
        #expect(answer.headers["Referrer-Policy"] == "no-referrer")
        #expect(!answer.headers.fields.contains { $0.name.lowercased().hasPrefix("access-control") })
        #expect(answer.text?.hasPrefix("<!DOCTYPE html>") == true)
    }

    @Test func `two inspectors have different access tokens in their addresses`() throws {
        #expect(PageGuard.makeToken() != PageGuard.makeToken())
    }

    @Test(arguments: ["", "0123456789abcdef0123456789abcdef/feed", "short/", "feed?after=0"])
    func `a request without the inspector's access token gets a 404`(place: String) async throws {
        let lab = try InspectorLab()
        let origin = try #require(lab.inspector.address.firstMatch(of: #/http://[^/]+//#)?.output)

        let answer = try await lab.page.ask(origin + place)

        #expect(answer.status == 404)
        #expect(answer.data?.isEmpty == true)
        #expect(!lab.inspector.desk.isWatched)
    }

    @Test(arguments: ["evil.example", "127.0.0.1", "localhost:1", "evil.example:PORT", "127.0.0.1:PORT.evil.example"])
    func `a Host field that does not name this machine and the inspector's port gets a 403`(host: String) async throws {
        let lab = try InspectorLab()
        let port = try #require(RequestURL(lab.inspector.address)?.foundationURL?.port)
        let named = host.replacingOccurrences(of: "PORT", with: "\(port)")

        for place in ["", "feed?after=0", "calls/1"] {
            #expect(try await lab.page.ask(place, headers: ["Host": named]).status == 403)
        }
        #expect(try await lab.page.ask("", headers: ["Host": "localhost:\(port)"]).status == 200)
    }

    @Test func `a command that a page of another origin sends gets a 403`() async throws {
        let lab = try InspectorLab(inspector: .quiet { $0.allowsControl = true })
        let json = #"{"do":"server","name":"secondary"}"#
        let origin = String(lab.inspector.address.dropLast(34))

        #expect(try await lab.page.ask("command", method: .post, body: json).status == 403)
        #expect(try await lab.page.command(json, headers: ["X-Inspector": "2"]).status == 403)
        #expect(try await lab.page.command(json, headers: ["Origin": "http://evil.example"]).status == 403)
        #expect(try await lab.page.command(json, headers: ["Origin": "null"]).status == 403)
        #expect(try await lab.page.ask("command").status == 404)
        #expect(lab.client.currentServer == "primary")
        #expect(try await lab.page.command(json, headers: ["Origin": origin]).status == 204)
        #expect(lab.client.currentServer == "secondary")
    }

    @Test func `commands to the inspector are rejected unless the app allows control`() async throws {
        let lab = try InspectorLab()

        let answer = try await lab.page.command(#"{"do":"server","name":"secondary"}"#)

        #expect(answer.status == 403)
        #expect(answer.text?.contains(#""error":"#) == true)
        #expect(lab.client.currentServer == "primary")
    }
}
