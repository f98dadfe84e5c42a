import Foundation
import Switchyard
import SwitchyardTesting

/// A benchmark of many requests that all receive a 401 at the same time.
///
/// These requests must cause exactly one token refresh, and then succeed.
///
/// The policy never sends a request to a second server, so that the requests at the server can be counted.
struct RefusalsBenchmark {
    let count: Int
    let isJSON: Bool

    func run() async throws {
        let report = try await measure()
        print(isJSON ? String(decoding: try JSONEncoder().encode(report), as: UTF8.self) : report.text)
        guard report.isSound else { throw BenchmarkError("expected one refresh and only successes") }
    }

    private func measure() async throws -> RefusalsReport {
        let door = RefusalDoor()
        let credentials = Credentials { _ in door.refresh() }
        credentials.set(.bearer("old"), in: "release")
        var options = NetworkClient.Options()
        options.credentials = credentials
        let transport = StubTransport(recordLimit: 0) { door.answer($0) }
        let client = try NetworkClient(service: SoakScript.service(.off), transport: transport, options: options)
        let watchdog = Watchdog(seconds: 60) { "\(door.refusals) refusals, \(door.refreshes) refreshes" }
        let start = Date()
        let successes = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<count {
                group.addTask { (try? await client.send(APIConfiguration(path: "list")))?.status == 200 }
            }
            await door.refuse(count)
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        watchdog.stop()
        return RefusalsReport(
            requests: count,
            refusals: door.refusals,
            refreshes: door.refreshes,
            successes: successes,
            seconds: Date().timeIntervalSince(start)
        )
    }
}

/// A scripted server that accepts requests with the new token.
///
/// It returns a 401 to all other requests at the same time.
private final class RefusalDoor: Sendable {
    private let counts = Locked((refusals: 0, refreshes: 0))
    private let clock = ManualClock()

    var refusals: Int { counts.withLock { $0.refusals } }
    var refreshes: Int { counts.withLock { $0.refreshes } }

    func answer(_ request: HTTPRequest) -> StubResponse {
        guard request.headers["Authorization"] != "Bearer new" else { return .status(200) }
        counts.withLock { $0.refusals += 1 }
        return .delayed(by: .seconds(1), on: clock, .status(401))
    }

    func refuse(_ count: Int) async {
        await clock.waitForTimers(count)
        clock.advance(by: .seconds(1))
    }

    func refresh() -> Credential {
        counts.withLock { $0.refreshes += 1 }
        return .bearer("new")
    }
}

/// The results of the benchmark.
struct RefusalsReport: Codable {
    var requests: Int
    var refusals: Int
    var refreshes: Int
    var successes: Int
    var seconds: Double

    var isSound: Bool { refusals == requests && refreshes == 1 && successes == requests }

    var text: String {
        "\(requests) requests, \(refusals) refused, \(refreshes) refreshes, \(successes) successes in "
            + String(format: "%.2f s", seconds)
    }
}
