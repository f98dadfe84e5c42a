import Foundation
import Switchyard
import SwitchyardTesting

/// Requests of every kind against servers with every fault, both forms, all policies: nothing may hang, leak, or end
/// other than once.
struct SoakBenchmark {
    let count: Int
    let isJSON: Bool

    func run() async throws {
        let policies: [SwitchPolicy] = [
            .recommended, .published, .errorRatio(threshold: 0.5), .consecutiveFailures(5), .off,
        ]
        var reports: [SoakReport] = []
        for policy in policies {
            reports.append(try await run(policy, count / policies.count))
            if !isJSON, let report = reports.last { print(report.text) }
        }
        if isJSON { print(String(decoding: try JSONEncoder().encode(reports), as: UTF8.self)) }
        guard reports.allSatisfy(\.isSound) else { throw BenchmarkError("not every request ended exactly once") }
    }

    private func run(_ policy: SwitchPolicy, _ count: Int) async throws -> SoakReport {
        let (client, transport) = try SoakScript.client(policy)
        let limit = RateLimit(.bucket(perSecond: 50_000, burst: 500))
        let tally = SoakTally(count)
        let start = Date()
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<64 {
                group.addTask {
                    for number in stride(from: worker, to: count, by: 64) {
                        await Self.send(number, SoakScript.configuration(number, limit: limit), client, tally)
                    }
                }
            }
        }
        let isIdle = await client.waitUntilIdle()
        await tally.waitForAll()
        return SoakReport(
            policy: policy.name,
            requests: count,
            ended: tally.ended,
            doubled: tally.doubled,
            left: isIdle ? client.activeRequests.count : -1,
            open: transport.openExchanges,
            seconds: Date().timeIntervalSince(start)
        )
    }

    private static func send(
        _ number: Int,
        _ configuration: APIConfiguration,
        _ client: NetworkClient,
        _ tally: SoakTally
    ) async {
        if number.isMultiple(of: 2) {
            let id = client.send(configuration, on: .global()) { _ in tally.end(number) }
            if number.isMultiple(of: 10) { client.cancel(id) }
            return
        }
        let task = Task {
            _ = try? await client.send(configuration)
            tally.end(number)
        }
        if number.isMultiple(of: 9) { task.cancel() }
        await task.value
    }
}

/// Notes which requests have ended.
final class SoakTally: Sendable {
    private struct State {
        var ends: [UInt8]
        var ended = 0
        var doubled = 0
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state: Locked<State>

    init(_ count: Int) {
        state = Locked(State(ends: [UInt8](repeating: 0, count: count)))
    }

    var ended: Int { state.withLock { $0.ended } }
    var doubled: Int { state.withLock { $0.doubled } }

    func end(_ number: Int) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.ends[number] > 0 { state.doubled += 1 } else { state.ended += 1 }
            state.ends[number] = 1
            guard state.ended == state.ends.count else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Waits until every request has ended.
    func waitForAll() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.ended < state.ends.count { state.waiter = continuation }
                return state.ended == state.ends.count
            }
            if isDone { continuation.resume() }
        }
    }
}

/// What came of a soak under one policy.
struct SoakReport: Codable {
    var policy: String
    var requests: Int
    var ended: Int
    var doubled: Int
    var left: Int
    var open: Int
    var seconds: Double

    var isSound: Bool { ended == requests && doubled == 0 && left == 0 && open == 0 }

    var text: String {
        let rate = Int(Double(requests) / seconds)
        return "\(policy): \(ended) of \(requests) ended, \(doubled) twice, \(left) left, \(open) exchanges open, "
            + "\(rate) requests/s"
    }
}
