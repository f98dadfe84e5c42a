import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardInspector

@Suite(.timeLimit(.minutes(5)), .prompt) struct CommandTests {
    private func lab() async throws -> InspectorLab {
        let lab = try InspectorLab(switching: .off, inspector: .quiet { $0.allowsControl = true })
        _ = try await lab.page.feed()
        return lab
    }

    @Test func `the inspector's page can switch the server and the environment of a client`() async throws {
        let lab = try await lab()

        #expect(try await lab.page.command(#"{"do":"server","name":"secondary"}"#).status == 204)
        #expect(lab.client.currentServer == "secondary")
        #expect(try await lab.page.command(#"{"do":"environment","name":"release"}"#).status == 204)
        #expect(lab.client.environment == .release)
    }

    @Test(
        arguments: [
            "", "[]", #"{"do":"dance"}"#, #"{"do":"server","name":"other"}"#, #"{"do":"environment","name":"other"}"#,
            #"{"do":"fault","kind":"other"}"#, #"{"do":"fault","kind":"status"}"#,
            #"{"do":"fault","kind":"status","status":99}"#, #"{"do":"fault","kind":"slow","calls":0}"#,
            #"{"do":"fault","kind":"slow","server":"other"}"#,
        ]
    )
    func `a command that cannot be carried out gets a 400 with the reason`(json: String) async throws {
        let lab = try await lab()

        let answer = try await lab.page.command(json)

        #expect(answer.status == 400)
        let error = try JSONDecoder().decode([String: String].self, from: try #require(answer.data))
        #expect(error["error"]?.isEmpty == false)
    }

    @Test func `a status fault that the inspector injects affects the chosen number of calls to one server`()
        async throws
    {
        let lab = try await lab()
        let order = #"{"do":"fault","kind":"status","status":503,"calls":2,"server":"primary"}"#

        #expect(try await lab.page.command(order).status == 204)
        #expect(try await lab.page.feed().client.fault == "status 503 for the next 2 calls to server primary")
        var call = APIConfiguration(path: "topics", method: .post)
        call.server = .named("primary")
        var statuses: [Int] = []
        for _ in 0..<3 { statuses.append(try await lab.client.send(call).status) }

        #expect(statuses == [503, 503, 200])
        #expect(try await lab.page.feed().client.fault == nil)
        #expect(lab.stub.requests.count == 1)
    }

    @Test func `a fault that the inspector injects for all servers applies to every attempt of a call`() async throws {
        let lab = try await lab()

        _ = try await lab.page.command(#"{"do":"fault","kind":"refused"}"#)

        #expect(await lab.client.failure(of: APIConfiguration(path: "topics")) != nil)
        #expect(lab.stub.requests.isEmpty)
        #expect(try await lab.client.send(APIConfiguration(path: "topics")).status == 200)
    }

    @Test
    func `an injected slow response takes three seconds, and an injected timeout ends the call at its deadline`()
        async throws
    {
        let lab = try await lab()
        _ = try await lab.page.command(#"{"do":"fault","kind":"slow"}"#)

        let slow = Task { try await lab.client.send(APIConfiguration(path: "topics", method: .post)) }
        await lab.clock.waitForTimers(1, in: .seconds(3))
        #expect(lab.stub.requests.isEmpty)
        lab.clock.advance(by: .seconds(3))
        #expect(try await slow.value.status == 200)

        _ = try await lab.page.command(#"{"do":"fault","kind":"timeout"}"#)
        let never = Task {
            await lab.client.failure(of: APIConfiguration(path: "topics", method: .post, timeout: .seconds(7)))
        }
        await lab.clock.waitForTimers(1, in: .seconds(7))
        lab.clock.advance(by: .seconds(7))
        #expect(await never.value == .deadlineExceeded)
    }

    @Test func `an injected fault is removed by a command or when the last inspector page is closed`() async throws {
        let lab = try await lab()

        _ = try await lab.page.command(#"{"do":"fault","kind":"refused","calls":9}"#)
        _ = try await lab.page.command(#"{"do":"fault","kind":"none"}"#)
        #expect(try await lab.page.feed().client.fault == nil)
        _ = try await lab.page.command(#"{"do":"fault","kind":"refused","calls":9}"#)
        await lab.clock.waitForTimers(1, in: .seconds(30))
        lab.clock.advance(by: .seconds(30))

        #expect(lab.inspector.desk.faults.words == nil)
        #expect(try await lab.client.send(APIConfiguration(path: "topics")).status == 200)
    }
}
