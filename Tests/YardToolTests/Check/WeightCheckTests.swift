import Switchyard
import SwitchyardFixtures
import SwitchyardTesting
import Testing

@testable import yard

@Suite(.timeLimit(.minutes(5)), .prompt) struct WeightCheckTests {
    private func warnings(_ servers: [String], _ switching: String = "{}") async throws -> [String] {
        let live = try LoopbackServer.started()
        let list = servers.enumerated().map { index, members in
            #"{"name": "s\#(index)", "baseURLs": {"test": "\#(live.baseURL)"}\#(members)}"#
        }
        let json = """
            {"service": "shop", "defaultEnvironment": "test", "switching": \(switching),
            "servers": [\(list.joined(separator: ","))]}
            """
        let report = try await withTemporaryFolder { folder in
            try folder.write(json, to: "shop.json")
            return try await ServiceCheck(environment: nil, timeout: .seconds(30)).report(on: [folder])
        }
        #expect(report.problems.isEmpty)
        return report.roleWarnings
    }

    @Test(arguments: ["{}", #"{"selection": "roundRobin"}"#, #"{"selection": "lowestLatency"}"#])
    func `yard check warns about weights in a service file that have no effect`(switching: String) async throws {
        let text = try await warnings([#", "weight": 3"#, ""], switching)

        #expect(
            text == [
                "shop.json: servers[0].weight: has no effect, because no servers have equal priority and "
                    + "switching.selection ignores weights; the selection weighted shares the traffic by weight"
            ]
        )
    }

    @Test func `yard check warns about weights of servers with different priorities`() async throws {
        let text = try await warnings([#", "priority": 1"#, #", "weight": 0, "priority": 2"#])

        #expect(text.first?.hasPrefix("shop.json: servers[1].weight: has no effect, ") == true)
    }

    @Test(arguments: [
        ([#", "weight": 3"#, ""], #"{"selection": "weighted"}"#),
        ([#", "weight": 3"#, ""], #"{"selection": "sticky"}"#),
        ([#", "weight": 3, "priority": 1"#, #", "priority": 1"#], "{}"), (["", ""], "{}"),
    ])
    func `yard check does not warn about weights that have an effect, or about equal weights`(
        servers: [String],
        switching: String
    )
        async throws
    {
        #expect(try await warnings(servers, switching).isEmpty)
    }
}
