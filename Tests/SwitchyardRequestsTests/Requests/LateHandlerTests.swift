import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import Testing

@testable import SwitchyardRequests

/// Handlers that are added after a request or a group has ended are released.
@Suite(.timeLimit(.minutes(5)), .prompt) struct LateHandlerTests {
    @Test func `handlers that are added to an ended group do not keep it alive`() async {
        weak var released: RequestGroup?
        do {
            let group = RequestGroup(options: .test())
            released = group
            _ = await group.finished()
            group.onProgress { _ in _ = group.state }
            group.adding(ClosureAccessory(didStop: { _ in _ = group.state }))
        }

        await until { released == nil }
    }

    @Test func `handlers that are added to an ended request do not keep it alive`() async throws {
        weak var released: APIRequest<Int>?
        do {
            let request = APIRequest<Int>.ready(1)
            released = request
            _ = try await request.value()
            request.onProgress { _ in _ = request.state }
            request.filtering { _ in _ = request.state }
        }

        await until { released == nil }
    }
}
