import Foundation
import SwitchyardAPI
import SwitchyardFixtures
import SwitchyardServices
import Testing

/// Closures of the app that a list calls, and extreme numbers.
@Suite(.timeLimit(.minutes(5)), .prompt) struct PageCallbackTests {
    typealias Item = PagedServer.Item

    /// Holds a recorder for its own closures.
    private final class Holder: Sendable {
        private let state = Locked<(pages: PageRecorder<Item>?, counts: [Int])>((nil, []))

        var pages: PageRecorder<Item>? {
            get { state.withLock { $0.pages } }
            set { state.withLock { $0.pages = newValue } }
        }
        var counts: [Int] { state.withLock { $0.counts } }

        @Sendable func ask() {
            if let count = pages?.items.count { state.withLock { $0.counts.append(count) } }
        }
    }

    @Test func `closures that identify items and pages may access the page recorder`() async throws {
        let server = PagedServer(count: 5)
        let holder = Holder()
        let strategy = PageStrategy<Item>(first: .number(1)) { request, _ in
            holder.ask()
            return .number(request.number + 1)
        }
        let pages = PageRecorder<Item>(pageSize: 2, strategy: strategy) { item in
            holder.ask()
            return item.id
        }
        holder.pages = pages
        defer { holder.pages = nil }

        try await pages.refresh(server.page)
        try await pages.loadMore(server.page)

        #expect(pages.items.map(\.id) == [0, 1, 2, 3])
        #expect(holder.counts == [0, 0, 0, 2, 2, 2])
    }

    @Test func `the number of a page with the highest index does not overflow`() throws {
        let last = PageRequest(position: .first, index: .max, size: 1)
        let third = PageRequest(position: .number(3), index: .max, size: 1)
        let page = Page([Item(id: 1)], total: 5)

        #expect(last.number == .max)
        #expect(try PageStrategy<Item>.pageNumber.next(last, page) == nil)
        #expect(try PageStrategy<Item>.pageNumber.next(third, page) == nil)
    }

    @Test func `a sequence that may load any number of pages ahead delivers all pages in order`() async throws {
        let server = PagedServer(count: 6)
        let pages = PageRecorder<Item>(pageSize: 2).allPages(ahead: .max) { try server.page($0) }

        var ids: [Int] = []
        for try await page in pages { ids += page.map(\.id) }

        #expect(ids == Array(0..<6))
    }

    @Test(arguments: [true, false])
    func `a page load that waits for itself fails`(isRefresh: Bool) async {
        let server = PagedServer(count: 5)
        let pages = PageRecorder<Item>(pageSize: 2)
        let task = Task {
            try await pages.refresh { _ -> Page<Item> in
                if isRefresh { try await pages.refresh(server.page) } else { try await pages.loadMore(server.page) }
                return Page([])
            }
        }
        // Cancels the load if it waits anyway, so that the test ends.
        let watcher = Task {
            await until { pages.waiting != 0 }
            task.cancel()
        }

        let error = await #expect(throws: APIError.self) { try await task.value }
        watcher.cancel()

        let message = "the closure that loads a page must not wait for a load of the same list"
        #expect(error?.reason == .configuration(.other(message)))
        #expect(server.numbers == [])
    }

    @Test func `a task may call loadMore during a refresh, and the call loads the next page after the refresh`()
        async throws
    {
        let server = PagedServer(count: 5)
        let pages = PageRecorder<Item>(pageSize: 2)
        let next = Locked<Task<[Item], any Error>?>(nil)

        try await pages.refresh { page in
            next.withLock { $0 = Task { try await pages.loadMore(server.page) } }
            await until { pages.waiting != 0 }
            return try server.page(page)
        }

        #expect(try await next.withLock { $0 }?.value.map(\.id) == [2, 3])
        #expect(pages.items.map(\.id) == [0, 1, 2, 3])
    }
}
