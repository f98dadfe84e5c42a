import Foundation
import SwitchyardAPI
import SwitchyardFixtures
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct PageRecorderTests {
    typealias Item = PagedServer.Item

    @Test func `a page has ten items by default, the first page is 1, and the minimum size is 1`() async throws {
        let server = PagedServer(count: 25)
        let pages = PageRecorder<Item>()

        #expect(try await pages.refresh(server.page).map(\.id) == Array(0..<10))
        #expect(try await pages.loadMore(server.page).map(\.id) == Array(10..<20))
        #expect(try await pages.loadMore(server.page).map(\.id) == Array(20..<25))
        #expect(server.numbers == [1, 2, 3])
        #expect(PageRecorder<Item>(pageSize: 0).pageSize == 1)
        #expect(PageRecorder<Item>(pageSize: .min).pageSize == 1)
    }

    @Test func `a failed load of a list skips no page`() async throws {
        let server = PagedServer(count: 30)
        let pages = PageRecorder<Item>()
        try await pages.refresh(server.page)
        server.fail(2)

        await #expect(throws: APIError.self) { try await pages.loadMore(server.page) }
        await #expect(throws: APIError.self) { try await pages.loadMore(server.page) }
        try await pages.loadMore(server.page)

        #expect(server.numbers == [1, 2, 2, 2])
        #expect(pages.items.map(\.id) == Array(0..<20))
    }

    @Test func `a cancelled load of a list skips no page`() async throws {
        let server = PagedServer(count: 30)
        let pages = PageRecorder<Item>()
        try await pages.refresh(server.page)

        let error = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await #expect(throws: APIError.self) { try await pages.loadMore(server.page) }
        }.value

        #expect(error?.isCancellation == true)
        #expect(try await pages.loadMore(server.page).map(\.id) == Array(10..<20))
    }

    @Test func `if the page from a refresh has no total, the list's old total is discarded`() async throws {
        let pages = PageRecorder<Int>(pageSize: 2)
        try await pages.refresh { _ in Page([1, 2], total: 30) }
        #expect(pages.snapshot.total == 30)

        try await pages.refresh { _ in Page([3, 4]) }

        #expect(pages.snapshot.total == nil)
        #expect(pages.snapshot.pageCount == nil)
    }

    @Test func `errors of a page recorder use the messages that the app set for the recorder`() async throws {
        let pages = PageRecorder<Item>(messages: ErrorMessages(languages: [.simplifiedChinese]))

        let nothing = await #expect(throws: APIError.self) { try await pages.refresh { _ in Page<Item>([]) } }
        let nothingMore = await #expect(throws: APIError.self) { try await pages.loadMore { _ in Page<Item>([]) } }

        #expect(nothing?.message == "这里还没有内容" && nothingMore?.message == "没有更多了")
    }

    @Test func `a failed refresh leaves the list and its position unchanged`() async throws {
        let server = PagedServer(count: 50)
        let pages = PageRecorder<Item>()
        try await pages.refresh(server.page)
        try await pages.loadMore(server.page)
        server.fail()

        await #expect(throws: APIError.self) { try await pages.refresh(server.page) }

        #expect(pages.items.count == 20)
        #expect(try await pages.loadMore(server.page).map(\.id) == Array(20..<30))
    }

    @Test func `a refresh keeps the old items until the new items arrive`() async throws {
        let server = PagedServer(count: 50)
        let pages = PageRecorder<Item>()
        try await pages.refresh(server.page)
        try await pages.loadMore(server.page)

        try await pages.refresh { page in
            #expect(pages.items.count == 20)
            #expect(pages.snapshot.activity == .refreshing)
            return try server.page(page)
        }

        #expect(pages.items.count == 10)
        #expect(pages.snapshot.activity == .idle)
    }

    // A refresh and a load of more items do not overlap.
    @Test func `loadMore is discarded if it ends after a refresh`() async throws {
        let server = PagedServer(count: 50)
        let pages = PageRecorder<Item>()
        try await pages.refresh(server.page)
        let gate = Gate()
        let late = Task {
            try await pages.loadMore { page in
                await gate.pass()
                return try server.page(page)
            }
        }
        await gate.waitForArrivals(1)

        try await pages.refresh(server.page)
        gate.open()

        let error = await #expect(throws: APIError.self) { try await late.value }
        #expect(error?.reason == .cancelled(.superseded))
        #expect(pages.items.map(\.id) == Array(0..<10))
        #expect(try await pages.loadMore(server.page).map(\.id) == Array(10..<20))
    }

    @Test func `concurrent loadMore calls share one load`() async throws {
        let server = PagedServer(count: 50)
        let pages = PageRecorder<Item>()
        try await pages.refresh(server.page)
        let gate = Gate()
        let all = (0..<5).map { _ in
            Task {
                try await pages.loadMore { page in
                    await gate.pass()
                    return try server.page(page)
                }
            }
        }
        await gate.waitForArrivals(1)
        await until { pages.waiting >= 4 }
        #expect(pages.isLoading)
        gate.open()

        for task in all { #expect(try await task.value.map(\.id) == Array(10..<20)) }
        #expect(server.numbers == [1, 2])
        #expect(pages.items.count == 20)
        #expect(!pages.isLoading)
    }

    @Test func `a loadMore call that joined a cancelled load starts a new load`() async throws {
        let server = PagedServer(count: 50)
        let pages = PageRecorder<Item>()
        try await pages.refresh(server.page)
        let gate = Gate()
        let leader = Task {
            try await pages.loadMore { page -> [Item] in
                await gate.pass()
                throw CancellationError()
            }
        }
        await gate.waitForArrivals(1)
        let follower = Task { try await pages.loadMore(server.page) }
        await until { pages.waiting >= 1 }
        gate.open()

        #expect(try await follower.value.map(\.id) == Array(10..<20))
        await #expect(throws: APIError.self) { try await leader.value }
    }

    @Test func `a loadMore call that joined a failed load fails with the error of the load`() async throws {
        let pages = PageRecorder<Item>()
        let gate = Gate()
        let leader = Task {
            try await pages.loadMore { page -> [Item] in
                await gate.pass()
                throw APIError(.status(500))
            }
        }
        await gate.waitForArrivals(1)
        let follower = Task { try await pages.loadMore { _ in [Item]() } }
        await until { pages.waiting >= 1 }
        gate.open()

        await #expect(throws: APIError(.status(500))) { try await follower.value }
        await #expect(throws: APIError(.status(500))) { try await leader.value }
    }

    @Test func `cancelling a loadMore call that waits for a refresh does not affect the refresh`() async throws {
        let pages = PageRecorder<Item>()
        let gate = Gate()
        let leader = Task {
            try await pages.refresh { _ in
                await gate.pass()
                return [Item(id: 1)]
            }
        }
        await gate.waitForArrivals(1)
        let follower = Task { try await pages.loadMore { _ in [Item(id: 2)] } }
        await until { pages.waiting >= 1 }

        follower.cancel()
        let error = await #expect(throws: APIError.self) { try await follower.value }
        gate.open()

        #expect(error?.isCancellation == true)
        #expect(try await leader.value.count == 1)
    }

    @Test func `loadMore waits for a refresh and then loads the next page`() async throws {
        let server = PagedServer(count: 50)
        let pages = PageRecorder<Item>()
        let gate = Gate()
        let refresh = Task {
            try await pages.refresh { page in
                await gate.pass()
                return try server.page(page)
            }
        }
        await gate.waitForArrivals(1)
        let more = Task { try await pages.loadMore(server.page) }
        await until { pages.waiting >= 1 }
        gate.open()

        #expect(try await refresh.value.map(\.id) == Array(0..<10))
        #expect(try await more.value.map(\.id) == Array(10..<20))
    }

    // The recorder decides, not a parameter named page.
    @Test func `refresh of an empty list fails with noData, and loadMore after the last page fails with noMoreData`()
        async throws
    {
        let empty = PageRecorder<Item>()
        let full = PageRecorder<Item>()
        let server = PagedServer(count: 10)
        try await full.refresh(server.page)

        await #expect(throws: APIError(.list(.noData))) { try await empty.refresh { _ in [Item]() } }
        await #expect(throws: APIError(.list(.noMoreData))) { try await full.loadMore(server.page) }
    }

    @Test func `after the end of a list, loadMore sends no request until the list is refreshed`() async throws {
        let server = PagedServer(count: 10)
        let pages = PageRecorder<Item>()
        try await pages.refresh(server.page)
        await #expect(throws: APIError(.list(.noMoreData))) { try await pages.loadMore(server.page) }

        for _ in 0..<3 {
            await #expect(throws: APIError(.list(.noMoreData))) { try await pages.loadMore(server.page) }
        }

        #expect(server.numbers == [1, 2])
        #expect(!pages.hasMore)
        try await pages.refresh(server.page)
        #expect(pages.hasMore)
    }

    @Test func `a list ends without another request when it has the total number of items that the server reported`()
        async throws
    {
        let server = PagedServer(count: 25)
        let pages = PageRecorder<Item>()
        let load: (PageRequest) async throws -> Page<Item> = { Page(try server.page($0), total: 25) }
        try await pages.refresh(load)
        try await pages.loadMore(load)
        try await pages.loadMore(load)

        await #expect(throws: APIError(.list(.noMoreData))) { try await pages.loadMore(load) }
        #expect(server.numbers == [1, 2, 3])
        #expect(pages.snapshot.pageCount == 3)
        #expect(pages.snapshot.pagesLoaded == 3)
    }

    @Test func `changes to one page recorder do not affect another page recorder`() async throws {
        let first = PageRecorder<Item>()
        let second = PageRecorder<Item>()
        let server = PagedServer(count: 50)
        try await first.refresh(server.page)
        try await first.loadMore(server.page)

        try await second.refresh(server.page)

        #expect(try await second.loadMore(server.page).map(\.id) == Array(10..<20))
    }

    @Test func `loading a page by its number starts the list again at that page`() async throws {
        let server = PagedServer(count: 100)
        let pages = PageRecorder<Item>()
        try await pages.refresh(server.page)

        #expect(try await pages.loadPage(4, server.page).map(\.id) == Array(30..<40))
        #expect(try await pages.loadMore(server.page).map(\.id) == Array(40..<50))
        #expect(pages.items.map(\.id) == Array(30..<50))
    }

    @Test func `a page number far below 1 loads the first page`() async throws {
        let server = PagedServer(count: 100)

        #expect(try await PageRecorder<Item>().loadPage(.min, server.page).map(\.id) == Array(0..<10))
    }

    @Test func `a list with cursors has no page numbers`() async throws {
        let pages = PageRecorder<Item>(strategy: .cursor)

        let error = await #expect(throws: APIError.self) { try await pages.loadPage(4) { _ in [Item]() } }

        let reason = "page 4 cannot be loaded directly, because the list has no page numbers"
        #expect(error?.reason == .configuration(.unsupported(reason)))
    }

    @Test func `an item that arrives again is updated and not listed twice`() async throws {
        let server = PagedServer(count: 30)
        let pages = PageRecorder<Item>(identifiedBy: \.id)
        try await pages.refresh(server.page)
        server.insert(Item(id: 100))

        let new = try await pages.loadMore { page in
            try server.page(page).map { Item(id: $0.id, title: "new") }
        }

        #expect(new.map(\.id) == Array(10..<19))
        #expect(pages.items.map(\.id) == Array(0..<19))
        #expect(pages.items[9].title == "new")
    }

    @Test func `a page recorder keeps the last loaded page and the time of the load`() async throws {
        let recorder = PageRecorder<Int>(pageSize: 2)
        #expect(recorder.lastPage == nil && recorder.snapshot.lastLoaded == nil)
        let before = Date()
        try await recorder.refresh { _ in Page([1, 2], total: 3) }

        #expect(recorder.lastPage?.items == [1, 2] && recorder.lastPage?.total == 3)
        #expect(try #require(recorder.snapshot.lastLoaded) >= before)
        try await recorder.loadMore { _ in Page([3], total: 3) }
        #expect(recorder.lastPage?.items == [3])
    }

    @Test func `a reset of a page recorder removes all items and discards an active load`() async throws {
        let server = PagedServer(count: 30)
        let pages = PageRecorder<Item>()
        try await pages.refresh(server.page)
        let gate = Gate()
        let late = Task {
            try await pages.loadMore { page in
                await gate.pass()
                return try server.page(page)
            }
        }
        await gate.waitForArrivals(1)

        pages.reset()
        gate.open()

        await #expect(throws: APIError(.cancelled(.superseded))) { try await late.value }
        #expect(pages.items.isEmpty)
        #expect(try await pages.loadMore(server.page).map(\.id) == Array(0..<10))
    }

    @Test func `a reset of a page recorder cancels the calls that joined a load, and nothing is loaded again`()
        async throws
    {
        let server = PagedServer(count: 30)
        let pages = PageRecorder<Item>()
        let gate = Gate()
        let load: @Sendable (PageRequest) async throws -> [Item] = { page in
            await gate.pass()
            return try server.page(page)
        }
        let loads = [Task { try await pages.refresh(load) }]
        await gate.waitForArrivals(1)
        let joined = [Task { try await pages.refresh(load) }, Task { try await pages.loadMore(load) }]
        await until { pages.waiting >= 2 }

        pages.reset()
        gate.open()

        for load in loads + joined {
            await #expect(throws: APIError(.cancelled(.superseded))) { try await load.value }
        }
        #expect(pages.items.isEmpty)
    }

    @Test func `a page can be loaded by a closure that uses the state of the main actor`() async throws {
        #expect(try await Screen().show() == [1, 2, 3])
    }

    @MainActor private final class Screen {
        var title = "topics"
        let pages = PageRecorder<Int>()

        func show() async throws(APIError) -> [Int] {
            try await pages.refresh { _ in
                title = "loading"
                return [1, 2, 3]
            }
        }
    }
}
