import Foundation
import Switchyard
import SwitchyardTesting

/// A benchmark that sends requests of every kind to servers with every fault, with completion handlers and with
/// `async`, under all policies.
///
/// No request may hang, leak memory, or end more than once. Three quarters of the requests use a transport with
/// scripted responses, because such a transport is fast and can produce every error. The other requests use real
/// connections to servers that refuse connections, hang, reset connections, truncate responses and send wrong data.
struct SoakBenchmark {
    let count: Int
    let isJSON: Bool

    private static let policies: [SwitchPolicy] = [
        .recommended, .stickyErrorRatio, .errorRatio(threshold: 0.5), .consecutiveFailures(5), .off,
    ]

    func run() async throws {
        // The first requests allocate memory that is kept: stacks, queues and allocator pools. These requests are
        // therefore sent before the measurement starts.
        for policy in Self.policies { _ = try await rounds(policy, count / 20) }
        let before = ProcessFootprint.now
        var runs: [SoakReport] = []
        for policy in Self.policies {
            for report in try await rounds(policy, count / Self.policies.count) {
                runs.append(report)
                if !isJSON { print(report.text) }
            }
        }
        let summary = SoakSummary(runs: runs, before: before, after: await .settled(to: before))
        print(isJSON ? String(decoding: try JSONEncoder().encode(summary), as: UTF8.self) : summary.text)
        guard summary.breaches.isEmpty else { throw BenchmarkError(summary.breaches.joined(separator: "; ")) }
    }

    private func rounds(_ policy: SwitchPolicy, _ count: Int) async throws -> [SoakReport] {
        [try await scripted(policy, count * 3 / 4), try await connected(policy, count - count * 3 / 4)]
    }

    private func scripted(_ policy: SwitchPolicy, _ count: Int) async throws -> SoakReport {
        let transport = StubTransport(
            completion: .inline,
            time: SystemTime.shared,
            recordLimit: 0,
            SoakScript.answer(to:)
        )
        let client = try NetworkClient(
            service: SoakScript.service(policy),
            transport: transport,
            options: SoakScript.options
        )
        var report = await drive(client, count, SoakScript.configuration)
        await transport.waitUntilIdle()
        (report.policy, report.transport, report.open) = (policy.name, "a script", transport.openExchanges)
        return report
    }

    private func connected(_ policy: SwitchPolicy, _ count: Int) async throws -> SoakReport {
        let servers = try SoakServers()
        let client = try NetworkClient(
            service: servers.service(policy),
            transport: servers.transport,
            options: SoakScript.options
        )
        let mischief = Task { await servers.misbehave() }
        var report = await drive(client, count, SoakScript.configuration)
        mischief.cancel()
        await mischief.value
        (report.policy, report.transport, report.open) = (policy.name, "connections", await servers.stop())
        return report
    }

    private func drive(
        _ client: NetworkClient,
        _ count: Int,
        _ configuration: @escaping @Sendable (Int) -> APIConfiguration
    ) async -> SoakReport {
        let tally = SoakTally(count)
        let start = Date()
        let watchdog = Watchdog(seconds: 120 + count / 100) { "\(tally.ended) of \(count) completed" }
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<64 {
                group.addTask {
                    for number in stride(from: worker, to: count, by: 64) {
                        await Self.send(number, configuration(number), client, tally)
                    }
                }
            }
        }
        await tally.waitForAll()
        let isIdle = await client.waitUntilIdle()
        watchdog.stop()
        return SoakReport(
            policy: "",
            transport: "",
            requests: count,
            ended: tally.ended,
            doubled: tally.doubled,
            answered: tally.kinds.answered,
            cancelled: tally.kinds.cancelled,
            left: isIdle ? client.activeRequests.count : -1,
            open: 0,
            seconds: Date().timeIntervalSince(start)
        )
    }

    /// Sends a request with a completion handler or with `async`.
    ///
    /// Cancels some requests immediately, during the exchange, or in the callback.
    private static func send(
        _ number: Int,
        _ configuration: APIConfiguration,
        _ client: NetworkClient,
        _ tally: SoakTally
    ) async {
        if number.isMultiple(of: 2) {
            let id = client.send(configuration, on: .global()) { result in
                tally.end(number, result)
                if number.isMultiple(of: 50) { client.cancel { $0.configuration.tags.contains("tag 3") } }
            }
            switch Int.random(in: 0..<10) {
            case 0: client.cancel(id)
            case 1:
                await Task.yield()
                client.cancel(id)
            default: break
            }
            return
        }
        let task = Task {
            do throws(RequestFailure) {
                tally.end(number, .success(try await client.send(configuration)))
            } catch {
                tally.end(number, .failure(error))
            }
        }
        if Int.random(in: 0..<9) == 0 { task.cancel() }
        await task.value
    }
}
