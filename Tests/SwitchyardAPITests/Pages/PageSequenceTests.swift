import SwitchyardAPI
import SwitchyardFixtures
import SwitchyardServices
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct PageSequenceTests {
    typealias Item = PagedServer.Item

    @Test(arguments: [0, 1, 3])
    func `the pages of a sequence arrive in order and end with the list`(ahead: Int) async throws {
        let server = PagedServer(count: 25)
        var pages: [[Int]] = []
        for try await page in PageRecorder<Item>().allPages(ahead: ahead, { try server.page($0) }) {
            pages.append(page.map(\.id))
        }

        #expect(pages == [Array(0..<10), Array(10..<20), Array(20..<25)])
        #expect(server.numbers == [1, 2, 3, 4])
    }

    @Test func `a sequence of items delivers each item once and does not change the recorder's list`() async throws {
        let recorder = PageRecorder<Int>(pageSize: 2, identifiedBy: { $0 })
        var items: [Int] = []
        for try await item in recorder.allItems({ page in [[1, 2], [2, 3], []][page.index] }) { items.append(item) }

        #expect(items == [1, 2, 3])
        #expect(recorder.items.isEmpty)
    }

    @Test func `a sequence loads the next page while the reader uses the current page`() async throws {
        let server = PagedServer(count: 100)
        let gate = Gate()
        var pages = PageRecorder<Item>().allPages(ahead: 2) { page in
            if page.index == 2 { await gate.pass() }
            return try server.page(page)
        }.makeAsyncIterator()

        _ = try await pages.next()
        await gate.waitForArrivals(1)
        #expect(server.numbers == [1, 2])
        gate.open()
        _ = try await pages.next()
    }

    @Test func `a sequence of pages loads no page ahead by default`() async throws {
        let server = PagedServer(count: 100)
        var pages = PageRecorder<Item>().allPages { try server.page($0) }.makeAsyncIterator()
        _ = try await pages.next()
        _ = try await pages.next()

        #expect(server.numbers == [1, 2])
    }

    @Test(arguments: [0, 2])
    func `a failed load ends a sequence of pages`(ahead: Int) async throws {
        let server = PagedServer(count: 100)
        var pages = PageRecorder<Item>().allPages(ahead: ahead) { page in
            if page.number == 2 { throw APIError(.status(500)) }
            return try server.page(page)
        }.makeAsyncIterator()
        _ = try await pages.next()

        await #expect(throws: APIError(.status(500))) { try await pages.next() }
        #expect(try await pages.next() == nil)
    }

    @Test func `an empty page with a repeated cursor is an error, not the normal end of a sequence`() async throws {
        var pages = PageRecorder<Int>(strategy: .cursor).allPages { request in
            Page(request.isFirst ? [1] : [], nextCursor: "a")
        }.makeAsyncIterator()
        _ = try await pages.next()
        #expect(try await pages.next() == [])

        await #expect(throws: APIError(.list(.repeatedPosition))) { try await pages.next() }
    }

    @Test func `cancelling the reader of a sequence of pages cancels the load`() async throws {
        let gate = Gate()
        let reader = Task {
            for try await _ in PageRecorder<Item>().allPages({ _ -> [Item] in
                await gate.pass()
                try Task.checkCancellation()
                return []
            }) {}
        }
        await gate.waitForArrivals(1)
        reader.cancel()
        gate.open()

        await #expect(throws: APIError(.cancelled(.caller))) { try await reader.value }
    }

    @Test func `the sequence of an empty list has no page`() async throws {
        for try await page in PageRecorder<Item>().allPages({ _ in [Item]() }) { Issue.record("\(page)") }
    }

    @Test func `every change of a list is delivered as an update`() async throws {
        let server = PagedServer(count: 15)
        let recorder = PageRecorder<Item>()
        var updates = recorder.updates.makeAsyncIterator()
        let first = await updates.next()
        #expect(first?.items.isEmpty == true && first?.activity == .idle && first?.hasMore == true)

        try await recorder.refresh { page in
            #expect(recorder.snapshot.activity == .refreshing)
            return try server.page(page)
        }
        let loaded = await updates.next()
        #expect(loaded?.items.count == 10 && loaded?.pagesLoaded == 1 && loaded?.lastLoaded != nil)
        server.fail()
        await #expect(throws: APIError.self) { try await recorder.loadMore(server.page) }
        let failed = await updates.next()
        #expect(failed?.lastError != nil && failed?.items.count == 10)
    }

    @Test func `a snapshot distinguishes an empty, a failed and a complete list`() async throws {
        let server = PagedServer(count: 3)
        let recorder = PageRecorder<Item>()
        server.fail()
        await #expect(throws: APIError.self) { try await recorder.refresh(server.page) }
        let failed = recorder.snapshot

        try await recorder.refresh(server.page)
        let loaded = recorder.snapshot
        await #expect(throws: APIError(.list(.noMoreData))) { try await recorder.loadMore(server.page) }
        let ended = recorder.snapshot

        #expect(failed.items.isEmpty && failed.lastError != nil && failed.hasMore && failed.activity == .idle)
        #expect(loaded.items.count == 3 && loaded.lastError == nil && loaded.hasMore)
        #expect(ended.items.count == 3 && ended.lastError == nil && !ended.hasMore)
    }

    @Test func `the updates of a recorder end when the recorder is released`() async throws {
        var recorder: PageRecorder<Item>? = PageRecorder()
        var updates = try #require(recorder?.updates).makeAsyncIterator()
        _ = await updates.next()
        recorder = nil

        #expect(await updates.next() == nil)
    }

    @Test func `updates that are requested after the recorder was released end immediately`() async throws {
        var recorder: PageRecorder<Item>? = PageRecorder()
        let updates = try #require(recorder?.updates)
        recorder = nil

        var count = 0
        for await _ in updates { count += 1 }

        #expect(count <= 1)
    }

    @Test func `200,000 items over 2,000 pages are merged by ID`() async throws {
        let recorder = PageRecorder<Int>(pageSize: 100, identifiedBy: { $0 })
        let clock = ContinuousClock()
        let seconds = try await clock.measure {
            try await recorder.refresh { _ in Array(0..<100) }
            for page in 1..<2_000 { try await recorder.loadMore { _ in Array((page * 99)..<(page * 99 + 100)) } }
        }

        #expect(recorder.items.count == 1_999 * 99 + 100)
        print("pages: 200,000 items over 2,000 pages merged in \(seconds)")
    }
}
