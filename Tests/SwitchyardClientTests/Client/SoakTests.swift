import Dispatch
import Foundation
import SwitchyardClient
import SwitchyardServices
import SwitchyardTesting
import Testing

/// A short run of what the benchmark `soak` does at length: every fault, both forms, all policies, cancels at random.
@Suite(.timeLimit(.minutes(2))) struct SoakTests {
    @Sendable private static func answer(to request: HTTPRequest) -> StubAnswer {
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
        SwitchPolicy.recommended, .published, .errorRatio(threshold: 0.5), .consecutiveFailures(5), .off,
    ])
    func `every request ends exactly once, and nothing is left`(policy: SwitchPolicy) async throws {
        let count = 400
        let transport = StubTransport(Self.answer(to:))
        var options = NetworkClient.Options(seed: 1)
        options.limits = [ConcurrencyLimit(total: 50)]
        let client = try NetworkClient(
            service: try Service.topics(switching: policy),
            transport: transport,
            options: options
        )
        let ends = Locked([Int](repeating: 0, count: count))

        await withTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask {
                    let end: @Sendable () -> Void = { ends.withLock { $0[number] += 1 } }
                    if number.isMultiple(of: 2) {
                        let id = client.send(Self.configuration(number), on: .global()) { _ in end() }
                        if number.isMultiple(of: 6) { client.cancel(id) }
                    } else {
                        let task = Task {
                            _ = try? await client.send(Self.configuration(number))
                            end()
                        }
                        if number.isMultiple(of: 7) { task.cancel() }
                        await task.value
                    }
                }
            }
        }
        #expect(await client.waitUntilIdle())
        await until { ends.withLock { !$0.contains(0) } }

        #expect(ends.withLock { $0 } == [Int](repeating: 1, count: count))
        #expect(client.activeRequests == [])
        #expect(await transport.waitUntilIdle())
    }
}
