import Foundation
import Switchyard

/// A benchmark of a page recorder that loads 1,000,000 items from 10,000 pages and identifies the items by `id`.
struct PagesBenchmark {
    let isJSON: Bool

    private struct Item: Sendable {
        var id: Int
        var title = "Points"
    }

    func run() async throws {
        var sheet = FigureSheet(isJSON: isJSON)
        var seconds: [Double] = []
        for _ in 0..<5 {
            let start = ContinuousClock.now
            try await load()
            seconds.append((ContinuousClock.now - start) / .seconds(1))
        }
        sheet.add("1,000,000 items on 10,000 pages", "merged by id", Spread(seconds), "s")
        try sheet.finish()
    }

    private static let pages = 10_000

    private func load() async throws {
        let recorder = PageRecorder<Item>(pageSize: 100, identifiedBy: \.id)
        try await recorder.refresh(page)
        while recorder.hasMore { try await recorder.loadMore(page) }
        guard recorder.items.count == Self.pages * 100 else {
            throw BenchmarkError("expected \(Self.pages * 100) items, loaded \(recorder.items.count)")
        }
    }

    private func page(_ request: PageRequest) async throws -> Page<Item> {
        let first = (request.number - 1) * 100
        return Page((first..<first + 100).map { Item(id: $0) }, total: Self.pages * 100)
    }
}
