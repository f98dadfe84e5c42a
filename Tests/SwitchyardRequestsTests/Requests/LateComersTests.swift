import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import Testing

@testable import SwitchyardRequests

/// What comes when a request or a group is over takes no part, and is not kept.
@Suite(.timeLimit(.minutes(5)), .prompt) struct LateComersTests {
    @Test func `J3: what is added to a group that is over keeps it no longer`() async {
        weak var released: RequestGroup?
        do {
            let group = RequestGroup(options: .test())
            released = group
            _ = await group.finished()
            group.onProgress { _ in _ = group.state }
            group.adding(ClosureAccessory(didStop: { _ in _ = group.state }))
        }

        while released != nil { await Task.yield() }
    }

    @Test func `D37: what is added to a request that is over keeps it no longer`() async throws {
        weak var released: APIRequest<Int>?
        do {
            let request = APIRequest<Int>.ready(1)
            released = request
            _ = try await request.value()
            request.onProgress { _ in _ = request.state }
            request.filtering { _ in _ = request.state }
        }

        while released != nil { await Task.yield() }
    }
}
