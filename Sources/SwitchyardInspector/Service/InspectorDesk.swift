import Foundation
import SwitchyardClient
import SwitchyardServices

/// Has what a page asks for: the feed, the details of a call, archives.
///
/// It looks on at the client's calls while a page is open, and only then.
final class InspectorDesk: Sendable {
    /// How long a feed waits for something new.
    static let patience = Duration.seconds(20)

    let client: NetworkClient
    let book: TrafficBook
    let faults: FaultDesk
    let mayControl: Bool
    private let bell = FeedBell()
    private let presence: PagePresence

    /// Creates a desk for a client, which it keeps no longer than its core.
    init(_ client: NetworkClient, _ options: TrafficInspector.Options) {
        let own = client.detached()
        let keeper = ExchangeKeeper(redaction: options.redaction, bodyBytes: min(max(0, options.bodyBytes), 1 << 40))
        let book = TrafficBook(calls: options.calls, keeper: keeper, clock: WallClock(client.time), bell: bell)
        let faults = FaultDesk(time: client.time)
        let watch = TrafficWatch(of: own, book, faults)
        presence = PagePresence(time: client.time, opened: { watch.begin() }, left: { watch.end() })
        self.client = own
        self.book = book
        self.faults = faults
        mayControl = options.allowsControl
    }

    /// Whether a page is open.
    var isWatched: Bool { presence.isOpen }

    /// How many requests for a feed wait.
    var waitingPages: Int { bell.sleeperCount }

    /// What is newer than a change, waited for if need be; `nil` when it is all over.
    func feed(after change: Int) async -> InspectorFeed? {
        guard presence.come() else { return nil }
        defer { presence.leave() }
        if change > 0 { await bell.wait(after: change, atMost: Self.patience, on: client.time) }
        let news = book.news(after: change)
        return InspectorFeed(
            cursor: news.change,
            forgotten: news.forgotten,
            limits: InspectorFeed.Limits(calls: book.callLimit, bodyBytes: book.keeper.bodyBytes),
            client: InspectedClient(client, book.keeper.redaction, fault: faults.words, mayControl: mayControl),
            calls: news.calls,
            events: news.events
        )
    }

    /// Ends all: nobody looks on any more, and pages that wait are sent home.
    func end() {
        presence.end()
        bell.end()
    }
}

/// Looks on at a client, from when it begins until it ends.
private final class TrafficWatch: Sendable {
    private let client: NetworkClient
    private let book: TrafficBook
    private let faults: FaultDesk
    private let onlooker: Onlooker
    private let events = Locked<Task<Void, Never>?>(nil)

    init(of client: NetworkClient, _ book: TrafficBook, _ faults: FaultDesk) {
        self.client = client
        self.book = book
        self.faults = faults
        onlooker = Onlooker(
            detour: { faults.carrier(for: $0, to: $1, usually: $2) },
            recall: { book.take($0, answeredFrom: $2 ? .cache : .stale, with: $1) },
            observe: { book.take($0) }
        )
    }

    func begin() {
        client.attach(onlooker)
        let stream = client.events()
        let task = Task { [book] in for await event in stream { book.take(event) } }
        events.withLock { $0 = task }
    }

    func end() {
        client.detach(onlooker)
        faults.clear()
        let task = events.withLock { task in
            defer { task = nil }
            return task
        }
        task?.cancel()
    }
}
