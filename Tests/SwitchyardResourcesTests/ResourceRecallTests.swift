import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI
@testable import SwitchyardResources

/// A value on disk that arrives after the resource was changed.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ResourceRecallTests {
    @Test(arguments: [("wiped", 2), ("overridden", 3)])
    func `a resource does not show a stored value if the resource was changed while the disk was read`(
        change: String,
        shown: Int
    ) async throws {
        let door = Gate()
        let resource = APIResource<Int>(
            nil,
            expiration: .seconds(60),
            retryDelay: .zero,
            time: ManualClock(),
            completed: { $0 },
            isPresent: { true },
            recall: {
                await door.pass()
                return CachedValue(value: 1, age: .zero, isFresh: true, tags: [], cost: 1)
            },
            outdate: {},
            fetch: { .success(APIResponse(value: 2, status: 200)) }
        )
        let load = Task { try await resource.loadIfNeeded() }
        await door.waitForArrivals(1)

        if change == "wiped" { resource.wipe() } else { resource.override(with: 3) }
        door.open()

        #expect(try await load.value == shown)
        #expect(resource.value == shown)
    }
}
