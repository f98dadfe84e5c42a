import SwitchyardServices
import Testing

@testable import SwitchyardAPI

/// Edits of a list by the app, and empty lists.
@Suite(.timeLimit(.minutes(20))) struct PageEditingTests {
    private struct Note: Sendable, Equatable {
        var id: Int
        var text = ""
    }

    private static func notes(_ ids: some Sequence<Int>) -> [Note] { ids.map { Note(id: $0) } }

    private func recorder(
        _ strategy: PageStrategy<Note> = .offset,
        total: Int? = nil
    ) async throws -> PageRecorder<Note> {
        let pages = PageRecorder<Note>(pageSize: 3, strategy: strategy, identifiedBy: \.id)
        try await pages.refresh { _ in Page(Self.notes(1...3), total: total) }
        return pages
    }

    @Test(arguments: [
        (0, [9, 1, 2, 3]), (2, [1, 2, 9, 3]), (3, [1, 2, 3, 9]), (99, [1, 2, 3, 9]), (-1, [9, 1, 2, 3]),
    ])
    func `an item can be inserted into a list at a position`(position: Int, expected: [Int]) async throws {
        let pages = try await recorder()

        pages.insert(Note(id: 9), at: position)

        #expect(pages.items.map(\.id) == expected)
    }

    @Test func `inserting an item with an existing ID moves it`() async throws {
        let pages = try await recorder()

        pages.insert(Note(id: 3, text: "new"))

        #expect(pages.items == [Note(id: 3, text: "new"), Note(id: 1), Note(id: 2)])
    }

    @Test func `items of a list can be replaced and removed by ID or by predicate`() async throws {
        let pages = try await recorder()

        #expect(pages.replace(Note(id: 2, text: "new")))
        #expect(!pages.replace(Note(id: 7)))
        #expect(pages.replaceFirst(with: Note(id: 8)) { $0.id == 1 })
        #expect(pages.items == [Note(id: 8), Note(id: 2, text: "new"), Note(id: 3)])
        #expect(pages.removeAll { $0.id == 2 } == [Note(id: 2, text: "new")])
        #expect(pages.remove(at: 5) == nil)
        #expect(pages.remove(at: 0) == Note(id: 8))
        #expect(pages.items.map(\.id) == [3])
    }

    @Test func `a later page updates inserted items with the same ID`() async throws {
        let pages = try await recorder(.pageNumber)
        pages.insert(Note(id: 9))

        try await pages.loadMore { _ in [Note(id: 9, text: "from the server"), Note(id: 4)] }

        #expect(pages.items.map(\.id) == [9, 1, 2, 3, 4])
        #expect(pages.items.first?.text == "from the server")
    }

    @Test(arguments: [(-1, 2), (1, 4), (0, 3)])
    func `inserting or removing an item changes the next offset and the total of a list`(difference: Int, offset: Int)
        async throws
    {
        let pages = try await recorder(total: 10)
        if difference > 0 { pages.insert(Note(id: 9)) }
        if difference < 0 { pages.remove(at: 1) }
        if difference == 0 { pages.replace(Note(id: 1, text: "new")) }

        #expect(pages.snapshot.total == 10 + difference)
        try await pages.loadMore { request in
            #expect(request.offset == offset)
            return Self.notes(4...6)
        }
    }

    @Test func `an edit of a list keeps the first of several items with the same ID and notifies observers`()
        async throws
    {
        let pages = try await recorder()
        var updates = pages.updates.makeAsyncIterator()

        let count = pages.edit { items in
            items.append(Note(id: 1, text: "second"))
            return items.count
        }

        #expect(count == 4)
        #expect(pages.items == Self.notes(1...3))
        #expect(await updates.next() != nil)
    }

    @Test func `an edit of a list is repeated if the list changes during the edit`() async throws {
        let pages = try await recorder(.pageNumber)
        var rounds = 0

        pages.edit { items in
            rounds += 1
            if rounds == 1 { pages.insert(Note(id: 9)) }
            items.removeLast()
        }

        #expect(rounds == 2)
        #expect(pages.items.map(\.id) == [9, 1, 2])
    }

    @Test func `an edit of a list that began before a reset does not bring the old items back`() async throws {
        let pages = try await recorder()
        var isFirst = true

        pages.edit { items in
            if isFirst { pages.reset() }
            isFirst = false
            items.append(Note(id: 9))
        }

        #expect(pages.items.map(\.id) == [9])
    }

    @Test func `a list whose items have no IDs can be edited by position and predicate`() async throws {
        let pages = PageRecorder<Int>(pageSize: 2)
        try await pages.refresh { _ in [1, 1] }

        pages.insert(1)
        #expect(!pages.replace(1))
        pages.removeAll { $0 == 1 }

        #expect(pages.items.isEmpty)
    }

    @Test func `an empty first page is a list without items if the app allows it`() async throws {
        let pages = PageRecorder<Int>(allowsEmptyList: true)

        #expect(try await pages.refresh { _ in [Int]() } == [])
        #expect(pages.snapshot.lastError == nil && pages.snapshot.lastLoaded != nil)
        #expect(!pages.hasMore)
        await #expect(throws: APIError(.list(.noMoreData))) { try await pages.loadMore { _ in [1] } }
        #expect(try await pages.refresh { _ in [1] } == [1])
    }

    @Test func `an empty first page is an error by default`() async throws {
        let pages = PageRecorder<Note>(identifiedBy: \.id)

        await #expect(throws: APIError(.list(.noData))) { try await pages.refresh { _ in [Note]() } }
    }
}
