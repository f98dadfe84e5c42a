import SwitchyardAPI
import SwitchyardServices

/// A list on a server of the test, handed out page by page.
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

    /// The requests that came, in order.
    var requests: [PageRequest] { state.withLock { $0.requests } }

    /// The page numbers that were asked for.
    var numbers: [Int] { requests.map(\.number) }

    /// Lets the next loads fail.
    func fail(_ times: Int = 1) { state.withLock { $0.failures = times } }

    /// Puts an item in at the top.
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

/// Lets a test hold a load and let it go.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var arrived = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
        var watchers: [(Int, CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    /// Waits until the gate is opened.
    func pass() async {
        await withCheckedContinuation { continuation in
            let (isOpen, woken) = state.withLock { state -> (Bool, [CheckedContinuation<Void, Never>]) in
                state.arrived += 1
                let woken = state.watchers.filter { $0.0 <= state.arrived }.map(\.1)
                state.watchers.removeAll { $0.0 <= state.arrived }
                if !state.isOpen { state.waiting.append(continuation) }
                return (state.isOpen, woken)
            }
            for watcher in woken { watcher.resume() }
            if isOpen { continuation.resume() }
        }
    }

    /// Waits until so many have come to the gate.
    func arrivals(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.arrived < count { state.watchers.append((count, continuation)) }
                return state.arrived >= count
            }
            if isThere { continuation.resume() }
        }
    }

    /// Lets all go, now and later.
    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
