import SwitchyardAPI
import SwitchyardFixtures
import Testing

/// The error that a page recorder keeps for the app.
@Suite(.timeLimit(.minutes(5)), .prompt) struct PageErrorTests {
    @Test func `a page load that a refresh superseded does not record its failure`() async throws {
        let server = PagedServer(count: 30)
        let pages = PageRecorder<PagedServer.Item>()
        try await pages.refresh(server.page)

        let error = await #expect(throws: APIError.self) {
            try await pages.loadMore { _ -> Page<PagedServer.Item> in
                try await pages.refresh(server.page)
                throw APIError(.status(500))
            }
        }

        #expect(error?.reason == .cancelled(.superseded))
        #expect(pages.snapshot.lastError == nil && pages.items.count == 10)
    }

    @Test func `a cancelled page load does not replace the error of the previous page load`() async throws {
        let pages = PageRecorder<Int>()
        await #expect(throws: APIError.self) { try await pages.refresh { _ -> [Int] in throw APIError(.status(500)) } }

        await #expect(throws: APIError.self) { try await pages.refresh { _ -> [Int] in throw CancellationError() } }

        #expect(pages.snapshot.lastError?.reason == .status(500))
    }
}
