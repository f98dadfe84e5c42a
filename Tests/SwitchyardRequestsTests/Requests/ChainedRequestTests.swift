import Dispatch
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardRequests

/// Requests that choose a follow-up by their outcome.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ChainedRequestTests {
    private static let queue = DispatchQueue(label: "chained-request-tests")

    @Test func `a chained request may continue with another request, replace its response or keep its response`()
        async throws
    {
        let second = APIRequest<Int>.ready(2, on: Self.queue)

        let passed = APIRequest<Int>.ready(1, on: Self.queue).chained { _ in .pass(to: second) }
        let replaced = APIRequest<Int>.failing(on: Self.queue).chained { _ in
            .use(.success(APIResponse(value: 9, status: 200)))
        }
        let kept = APIRequest<Int>.ready(3, on: Self.queue).chained { _ in .useThis }

        #expect(try await passed.value() == 2)
        #expect(try await replaced.value() == 9)
        #expect(try await kept.value() == 3)
    }

    @Test func `repeating a chained request repeats both requests`() async throws {
        let count = Locked(0)
        let first = APIRequest<Int>(on: Self.queue) {
            count.withLock { count in
                count += 1
                return count
            }
        }
        let chained = first.chained { outcome in
            .pass(to: .ready(((try? outcome.get().value) ?? 0) * 10, on: Self.queue))
        }

        #expect(try await chained.value() == 10)
        #expect(try await chained.repeated().value() == 20)
        #expect(try await chained.repeated().value() == 30)
        #expect(try await first.value() == 1)
    }

    @Test func `cancelling a chained request cancels the active follow-up`() async throws {
        let gate = Gate()
        let second = APIRequest<Int>.gated(2, gate, on: Self.queue)
        let chained = APIRequest<Int>.ready(1, on: Self.queue).chained { _ in .pass(to: second) }
        chained.resume()
        await gate.waitForArrivals(1)

        chained.cancel()

        #expect(await chained.end() == .cancelled)
        #expect(await second.end() == .cancelled)
        gate.open()
    }
}
