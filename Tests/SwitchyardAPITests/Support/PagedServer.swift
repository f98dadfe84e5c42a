import SwitchyardAPI
import SwitchyardServices

/// A list on a test server that is delivered page by page.
final class PagedServer: Sendable {
    struct Item: Sendable, Hashable {
        var id: Int
        var title = ""
    }

    struct Down: Error {}

    private struct State {
        var items: [Item]
        var requests: [PageRequest] = []
        var failures = 0
    }

    private let state: Locked<State>

    init(count: Int) {
        state = Locked(State(items: (0..<count).map { Item(id: $0) }))
    }

    /// The received requests in order.
    var requests: [PageRequest] { state.withLock { $0.requests } }

    /// The requested page numbers.
    var numbers: [Int] { requests.map(\.number) }

    /// Makes the next loads fail.
    func fail(_ times: Int = 1) { state.withLock { $0.failures = times } }

    /// Inserts an item at the top.
    func insert(_ item: Item) { state.withLock { $0.items.insert(item, at: 0) } }

    func page(_ request: PageRequest) throws -> [Item] {
        try state.withLock { state in
            state.requests.append(request)
            if state.failures > 0 {
                state.failures -= 1
                throw Down()
            }
            return Array(state.items.dropFirst((request.number - 1) * request.size).prefix(request.size))
        }
    }
}
