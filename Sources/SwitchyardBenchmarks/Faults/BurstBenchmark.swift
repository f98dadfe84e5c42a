import Foundation
import Switchyard
import SwitchyardTesting

/// A benchmark of a burst of calls when an app opens, while the first server or the first two of three servers are
/// faulty.
///
/// Each burst makes all its reads at the same time with a new client and a deadline of 2 s.
struct BurstBenchmark {
    var calls = 20
    /// The number of faulty servers.
    var bad = 1
    var only: Set<String> = []
    var isJSON = false
    /// The number of bursts for each fault, each with a new client.
    var rounds = 11

    func run() async throws {
        let scenarios = try FaultScenario.chosen(only)
        guard bad < 3 else { throw BenchmarkError("--bad \(bad) is invalid: must be 1 or 2") }
        let servers = try (0..<3).map { _ in try Self.startServer() }
        let service = try Self.service(of: servers)
        var sheet = FigureSheet(isJSON: isJSON)
        for scenario in scenarios {
            var (failed, last) = ([Double](), [Double]())
            for _ in 0..<rounds {
                for server in servers.prefix(bad) { scenario.begin(server) }
                let outcome = await burst(on: try NetworkClient(service: service))
                for server in servers { server.clearFaults() }
                failed.append(Double(outcome.failed))
                last.append(outcome.last / .milliseconds(1))
            }
            let section = "\(scenario.name) on \(bad) of 3, \(calls) concurrent calls"
            sheet.add(section, "failed", Spread(failed), "calls")
            sheet.add(section, "time until the last call completed", Spread(last), "ms")
        }
        try sheet.finish()
        for server in servers { server.stop() }
    }

    /// Makes all calls of a burst at the same time.
    ///
    /// Returns the number of failed calls, and the time from the start of the burst to the end of its last call.
    private func burst(on client: NetworkClient) async -> (failed: Int, last: Duration) {
        let start = ContinuousClock.now
        let failed = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<calls {
                group.addTask {
                    let answer = try? await client.send(APIConfiguration(path: "items/\(number)", timeout: .seconds(2)))
                    return answer?.status == 200
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 0 : 1 }
        }
        return (failed, ContinuousClock.now - start)
    }

    private static func startServer() throws -> LoopbackServer {
        let server = LoopbackServer()
        server.route(nil, "/items/*") { .json(#"{"path":"\#($0.path)","items":[1,2,3,4,5,6,7,8]}"#) }
        try server.start()
        return server
    }

    private static func service(of servers: [LoopbackServer]) throws -> Service {
        try Service(
            name: "burst",
            servers: zip(["primary", "secondary", "tertiary"], servers).map { name, server in
                Server(name: name, baseURLs: [.test: try ServerURL(server.baseURL)])
            },
            defaultEnvironment: .test
        )
    }
}
