import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import Testing

@testable import SwitchyardAPI

@Suite(.timeLimit(.minutes(5)), .prompt) struct PageStrategyTests {
    @Test func `an offset counts the received items, so that small pages lose no item`() async throws {
        let pages = PageRecorder<Int>(pageSize: 10, strategy: .offset)
        let load: (PageRequest) async throws -> Page<Int> = { request in
            Page(Array((0..<17).dropFirst(request.offset).prefix(min(7, request.size))), total: 17)
        }
        try await pages.refresh(load)
        try await pages.loadMore(load)
        try await pages.loadMore(load)

        #expect(pages.items == Array(0..<17))
        #expect(!pages.hasMore)
    }

    @Test(
        arguments: [(.number(3), 2, 20), (.offset(7), 2, 7), (.number(9), .max, .max)]
            as [(PageRequest.Position, Int, Int)]
    )
    func `a page request has an offset even if the list uses page numbers`(
        position: PageRequest.Position,
        index: Int,
        offset: Int
    ) {
        #expect(PageRequest(position: position, index: index, size: 10).offset == offset)
    }

    @Test func `requests for the same page are equal whatever the size of earlier pages`() {
        let page = PageRequest(position: .number(3), index: 2, size: 10, largestPage: 0)
        let again = PageRequest(position: .number(3), index: 2, size: 10, largestPage: 7)

        #expect(page == again)
        #expect(Set([page, again]).count == 1)
        #expect(page != PageRequest(position: .number(3), index: 2, size: 20))
        #expect(page != PageRequest(position: .number(3), index: 3, size: 10))
    }

    @Test func `a list ends at its total even if the server's pages are smaller than requested`() async throws {
        let pages = PageRecorder<Int>(pageSize: 100)
        let load: (PageRequest) async throws -> Page<Int> = { request in
            let size = min(50, request.size)
            return Page(Array((0..<120).dropFirst(request.index * size).prefix(size)), total: 120)
        }
        try await pages.refresh(load)
        try await pages.loadMore(load)
        try await pages.loadMore(load)

        #expect(pages.items == Array(0..<120))
        #expect(!pages.hasMore)
    }

    @Test(arguments: [20, 50, 60], [404, 400])
    func `an error for a page after the last item ends the list like an empty page`(
        total: Int,
        status: Int
    ) async throws {
        let pages = PageRecorder<Int>(pageSize: 10)
        let load: @Sendable (PageRequest) async throws -> Page<Int> = { request in
            let items = Array((0..<total).dropFirst(request.index * 20).prefix(20))
            guard !items.isEmpty else { throw APIError(.status(status)) }
            return Page(items, total: total)
        }
        var all: [Int] = []
        for try await page in pages.allPages(load) { all += page }
        try await pages.refresh(load)
        while pages.items.count < total { try await pages.loadMore(load) }

        await #expect(throws: APIError(.list(.noMoreData))) { try await pages.loadMore(load) }
        #expect(!pages.hasMore && pages.snapshot.lastError == nil)
        #expect(pages.items == Array(0..<total) && all == pages.items)
    }

    @Test func `a module error with status 404 after the last item ends the list`() async throws {
        let pages = PageRecorder<Int>(pageSize: 10)
        try await pages.refresh { _ in Page(Array(0..<20), total: 20, hasMore: true) }

        var refusal = APIError(.module(ModuleFailure(module: "topics", code: 7)))
        refusal.context.keep(status: 404, headers: [:], body: Data())

        await #expect(throws: APIError(.list(.noMoreData))) {
            try await pages.loadMore { [refusal] _ -> Page<Int> in throw refusal }
        }
        #expect(!pages.hasMore)
    }

    @Test func `an error after the last page ends a list that started at that page`() async throws {
        let pages = PageRecorder<Int>(pageSize: 10)
        try await pages.loadPage(3) { _ in Page(Array(20..<25), total: 25) }

        await #expect(throws: APIError(.list(.noMoreData))) {
            try await pages.loadMore { _ -> Page<Int> in throw APIError(.status(404)) }
        }
        #expect(!pages.hasMore && pages.items == Array(20..<25))
    }

    @Test func `an error status for a page before the last item is thrown and does not end the list`() async throws {
        let pages = PageRecorder<Int>(pageSize: 1)
        try await pages.refresh { _ in Page([1], total: 2) }

        await #expect(throws: APIError(.status(404))) {
            try await pages.loadMore { _ -> Page<Int> in throw APIError(.status(404)) }
        }
        #expect(pages.hasMore)
    }

    @Test func `items that cannot be decoded count towards the offset of the next page`() async throws {
        let pages = PageRecorder<Int>(pageSize: 3, strategy: .offset)
        try await pages.refresh { _ in Self.page([1, 3], broken: 1) }

        try await pages.loadMore { request in
            #expect(request.offset == 3)
            return [4]
        }
    }

    @Test func `a page without a decodable item does not end the list`() async throws {
        let pages = PageRecorder<Int>(pageSize: 2)
        try await pages.refresh { _ in [1, 2] }

        #expect(try await pages.loadMore { _ in Self.page([], broken: 2) } == [])
        #expect(try await pages.loadMore { _ in [5] } == [5])
    }

    @Test func `with the strategy lastID, a load after a page without decodable items is an error`() async throws {
        let pages = PageRecorder<Int>(pageSize: 2, strategy: .lastID { String($0) })
        try await pages.refresh { _ in [1, 2] }
        try await pages.loadMore { _ in Self.page([], broken: 2) }

        await #expect(throws: APIError(.list(.repeatedPosition))) { try await pages.loadMore { _ in [5] } }
    }

    private static func page(_ items: [Int], broken: Int) -> Page<Int> {
        var page = Page(items)
        page.brokenItems = broken
        return page
    }

    @Test func `a list with cursors is read until a page has no next cursor`() async throws {
        let answers: [String?: Page<Int>] = [
            nil: Page([1], nextCursor: "b"), "b": Page([2], nextCursor: "c"), "c": Page([3], nextCursor: ""),
        ]
        let pages = PageRecorder<Int>(strategy: .cursor)
        let load: (PageRequest) async throws -> Page<Int> = { try #require(answers[$0.cursor]) }
        try await pages.refresh(load)
        try await pages.loadMore(load)
        try await pages.loadMore(load)

        #expect(pages.items == [1, 2, 3])
        #expect(!pages.hasMore)
    }

    @Test func `with the strategy lastID, each page starts after the last item of the list`() async throws {
        let pages = PageRecorder<Int>(pageSize: 2, strategy: .lastID { String($0) })
        let load: (PageRequest) async throws -> [Int] = { request in
            let last = request.lastID.flatMap { Int($0) } ?? 0
            return Array((1...5).filter { $0 > last }.prefix(request.size))
        }
        try await pages.refresh(load)
        try await pages.loadMore(load)
        try await pages.loadMore(load)

        #expect(pages.items == [1, 2, 3, 4, 5])
        await #expect(throws: APIError(.list(.noMoreData))) { try await pages.loadMore(load) }
    }

    @Test func `a link to the next page is followed only within the origin of its page`() async throws {
        let pages = PageRecorder<Int>(strategy: .link)
        try await pages.refresh { _ in
            Page([1], linkHeader: ["</items?page=2>; rel=next"], url: "https://api.example.com/items")
        }
        try await pages.loadMore { request in
            #expect(request.link == "https://api.example.com/items?page=2")
            return Page(
                [2],
                linkHeader: ["<https://evil.example/items>; rel=next"],
                url: "https://api.example.com/items?page=2"
            )
        }

        await #expect(throws: APIError(.security(.foreignOrigin("https://evil.example/items")))) {
            try await pages.loadMore { _ in [3] }
        }
        #expect(pages.items == [1, 2])
    }

    @Test func `a cursor that a list has already used is an error`() async throws {
        let pages = PageRecorder<Int>(strategy: .cursor)
        try await pages.refresh { _ in Page([1], nextCursor: "b") }
        try await pages.loadMore { _ in Page([2], nextCursor: "b") }

        await #expect(throws: APIError(.list(.repeatedPosition))) {
            try await pages.loadMore { _ in Page([3], nextCursor: "c") }
        }
        #expect(pages.items == [1, 2])
    }

    @Test func `three pages without new items end a list whose server ignores the page number`() async throws {
        let pages = PageRecorder<Int>(identifiedBy: { $0 })
        try await pages.refresh { _ in [1, 2] }
        for _ in 0..<3 { #expect(try await pages.loadMore { _ in [1, 2] } == []) }

        await #expect(throws: APIError(.list(.repeatedPosition))) { try await pages.loadMore { _ in [1, 2] } }
        #expect(pages.items == [1, 2])
    }

    @Test func `single pages without new items do not end a list`() async throws {
        let pages = PageRecorder<Int>(identifiedBy: { $0 })
        try await pages.refresh { _ in [1] }
        for item in 2...6 {
            #expect(try await pages.loadMore { _ in [1] } == [])
            #expect(try await pages.loadMore { _ in [item] } == [item])
        }

        #expect(pages.items == [1, 2, 3, 4, 5, 6])
    }

    @Test func `a list ends with an error when it has more pages than the recorder's limit`() async throws {
        let pages = PageRecorder<Int>(pageLimit: 2)
        try await pages.refresh { _ in [1] }
        try await pages.loadMore { _ in [2] }

        await #expect(throws: APIError(.list(.pageLimit(2)))) { try await pages.loadMore { _ in [3] } }
    }

    @Test(arguments: [
        (0, 10, 0), (1, 10, 1), (10, 10, 1), (11, 10, 2), (16_777_217, 1, 16_777_217), (.max, 1, .max),
        (.max, 2, 4_611_686_018_427_387_904), (5, 0, 5), (-3, 10, 0),
    ])
    func `the page count of a list is correct for every total and page size`(total: Int, size: Int, expected: Int)
        async throws
    {
        let pages = PageRecorder<Int>(pageSize: size)
        try await pages.refresh { _ in Page([1], total: total) }

        #expect(pages.snapshot.pageCount == expected)
    }

    @Test func `a list ends early if the total is too low, and ends at an empty page if the total is too high`()
        async throws
    {
        let low = PageRecorder<Int>(pageSize: 1)
        try await low.refresh { _ in Page([1], total: 1) }
        let high = PageRecorder<Int>(pageSize: 1)
        try await high.refresh { _ in Page([1], total: 1_000) }

        #expect(!low.hasMore)
        await #expect(throws: APIError(.list(.noMoreData))) { try await high.loadMore { _ in Page([], total: 1_000) } }
        #expect(!high.hasMore)
    }

    @Test func `a page with hasMore set to false ends the list`() async throws {
        let pages = PageRecorder<Int>(strategy: .cursor)
        try await pages.refresh { _ in Page([1], hasMore: false, nextCursor: "x") }

        #expect(!pages.hasMore)
    }
}
