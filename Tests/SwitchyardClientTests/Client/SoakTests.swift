import Dispatch
import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// A short version of the benchmark `soak`: all faults, both forms, all policies and random cancels.
@Suite(.timeLimit(.minutes(5)), .prompt) struct SoakTests {
    @Sendable private static func answer(to request: HTTPRequest) -> StubResponse {
        switch Int.random(in: 0..<16) {
        case 0: .failure(.connectionRefused)
        case 1: .failure(.connectionReset)
        case 2: .failure(.truncated)
        case 3: .failure(.timeout)
        case 4: .status([429, 500, 503, 404].randomElement() ?? 500)
        case 5: .never
        case 6: .chunks([Data("one".utf8)], failing: TransportError(.truncated, message: "cut"))
        case 7, 8: .delayed(by: .milliseconds(1), on: SystemTime.shared, .json("[1]"))
        default: .json("[1]")
        }
    }

    private static func configuration(_ number: Int) -> APIConfiguration {
        var configuration = APIConfiguration(path: "list/\(number % 20)", timeout: .milliseconds(200))
        configuration.method = number.isMultiple(of: 4) ? .post : .get
        configuration.sharing = number.isMultiple(of: 5) ? .identical : .off
        if number.isMultiple(of: 3) { configuration.retry = .standard }
        return configuration
    }

    @Test(arguments: [
        SwitchPolicy.recommended, .stickyErrorRatio, .errorRatio(threshold: 0.5), .consecutiveFailures(5), .off,
    ])
    func `under a random load, every request ends exactly once and leaves no exchange open`(policy: SwitchPolicy)
        async throws
    {
        let count = 400
        let transport = StubTransport(time: SystemTime.shared, Self.answer(to:))
        var options = NetworkClient.Options(seed: 1)
        options.limits = [ConcurrencyLimit(total: 50)]
        let client = try NetworkClient(
            service: try Service.topics(switching: policy),
            transport: transport,
            options: options
        )
        let tally = EndTally(count)

        await withTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask {
                    if number.isMultiple(of: 2) {
                        let id = client.send(Self.configuration(number), on: .global()) { _ in tally.end(number) }
                        if number.isMultiple(of: 6) { client.cancel(id) }
                    } else {
                        let task = Task {
                            _ = try? await client.send(Self.configuration(number))
                            tally.end(number)
                        }
                        if number.isMultiple(of: 7) { task.cancel() }
                        await task.value
                    }
                }
            }
        }
        await tally.waitForAll()
        #expect(await client.waitUntilIdle())

        #expect(tally.ends == [Int](repeating: 1, count: count))
        #expect(client.activeRequests == [])
        #expect(await transport.waitUntilIdle())
    }

    @Test func `requests that eight tasks send and cancel at random end exactly once`()
        async throws
    {
        let count = 4_000
        let transport = StubTransport(completion: .inline, recordLimit: 0) { _ in
            switch Int.random(in: 0..<4) {
            case 0: .never
            case 1: .delayed(by: .microseconds(Int64.random(in: 0...2_000)), on: SystemTime.shared, .json("[1]"))
            default: .json("[1]")
            }
        }
        let client = try NetworkClient(service: .topics(servers: 1), transport: transport)
        let tally = EndTally(count)

        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var running: Set<RequestID> = []
                    for number in stride(from: worker, to: count, by: 8) {
                        let id = client.send(APIConfiguration(path: "x"), on: .global()) { _ in tally.end(number) }
                        running.insert(id)
                        guard running.count > 32 || Bool.random(), let victim = running.randomElement() else {
                            continue
                        }
                        running.remove(victim)
                        client.cancel(victim)
                    }
                }
            }
        }
        client.cancelAll()
        await tally.waitForAll()

        #expect(tally.ends == [Int](repeating: 1, count: count))
        #expect(client.activeRequests == [])
        #expect(await transport.waitUntilIdle())
    }
}
