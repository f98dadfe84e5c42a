import Foundation
import SwitchyardClient
import SwitchyardServices

/// The controller that provides the data that a page requests: the feed, the details of a call, and archives.
///
/// The controller observes the client's calls only while a page is open, unless it records from the start.
final class InspectorController: Sendable {
    /// The time for which a feed request waits for a change.
    ///
    /// After it, the feed is sent without a change.
    static let longestWait = Duration.seconds(20)

    let client: NetworkClient
    let book: TrafficStore
    let faults: FaultController
    let mayControl: Bool
    private let bell = FeedCondition()
    private let presence: PagePresence
    private let watch: TrafficObserver
    private let session = PageGuard.makeToken()

    /// Creates the controller for a client.
    ///
    /// The controller holds a `detached()` handle, so it does not retain the client's `familyObjects` (the objects of
    /// modules that build on the client).
    init(_ client: NetworkClient, _ options: TrafficInspector.Options) {
        let own = client.detached()
        let keeper = ExchangeKeeper(redaction: options.redaction, bodyBytes: min(max(0, options.bodyBytes), 1 << 40))
        let messageBytes = min(max(0, options.messageBytes), keeper.bodyBytes)
        let book = TrafficStore(
            calls: options.calls,
            keeper: keeper,
            messageKeeper: MessageKeeper(redaction: options.redaction, bytes: messageBytes),
            clock: WallClock(client.time),
            bell: bell
        )
        let faults = FaultController(time: client.time)
        let watch = TrafficObserver(of: own, book, faults)
        let recordsFromStart = options.recordsFromStart
        presence = PagePresence(
            time: client.time,
            opened: { if !recordsFromStart { watch.begin() } },
            left: { if recordsFromStart { faults.clear() } else { watch.end() } }
        )
        self.watch = watch
        if recordsFromStart { watch.begin() }
        self.client = own
        self.book = book
        self.faults = faults
        mayControl = options.allowsControl
    }

    /// Whether a page is open.
    var isWatched: Bool { presence.isOpen }

    /// The number of feed requests that wait for a change.
    var waitingPages: Int { bell.waiterCount }

    /// Returns everything that has changed after `change`.
    ///
    /// If nothing has changed yet, waits for a change. Returns `nil` after `end()`.
    func feed(after change: Int) async -> InspectorFeed? {
        guard presence.come() else { return nil }
        defer { presence.leave() }
        if change > 0 { await bell.wait(after: change, atMost: Self.longestWait, on: client.time) }
        return latest(after: change)
    }

    /// Returns everything that has changed after `change`, by default everything that is kept.
    func latest(after change: Int = 0) -> InspectorFeed {
        let news = book.news(after: change)
        let servers = client.servers
        return InspectorFeed(
            cursor: news.change,
            forgotten: news.forgotten,
            session: session,
            verdict: news.tally.verdict(
                servers: servers.count,
                outOfService: servers.filter { $0.state != .healthy }.map(\.id),
                current: client.currentServer
            ),
            limits: InspectorFeed.Limits(calls: book.callLimit, bodyBytes: book.keeper.bodyBytes),
            client: InspectedClient(
                client,
                book.keeper.redaction,
                outages: news.outages,
                fault: faults.words,
                mayControl: mayControl
            ),
            calls: news.calls,
            events: news.events
        )
    }

    /// A record of everything that is kept, for a page that works without the inspector.
    var record: InspectorRecord {
        let feed = latest()
        let details = feed.calls.compactMap { call in book.detail(of: call.number).map { (call.id, $0) } }
        let name = "\(feed.client.service), \(feed.client.environment)"
        return InspectorRecord(name: name, feed: feed, details: Dictionary(details) { $1 })
    }

    /// Stops observing the client, and responds to the feed requests that wait for a change.
    func end() {
        presence.end()
        watch.end()
        bell.end()
    }
}

/// An observer that is attached to the client while calls are recorded.
private final class TrafficObserver: Sendable {
    private let client: NetworkClient
    private let book: TrafficStore
    private let faults: FaultController
    private let clientObserver: ClientObserver
    private let events = Locked<Task<Void, Never>?>(nil)

    init(of client: NetworkClient, _ book: TrafficStore, _ faults: FaultController) {
        self.client = client
        self.book = book
        self.faults = faults
        clientObserver = ClientObserver(
            detour: { faults.carrier(for: $0, to: $1, usually: $2) },
            messages: MessageObserver(bytes: book.messageKeeper.neededBytes) { book.take($0) },
            observe: { book.take($0) }
        )
    }

    func begin() {
        client.attach(clientObserver)
        let stream = client.events()
        let task = Task { [book] in for await event in stream { book.take(event) } }
        events.withLock { $0 = task }
    }

    func end() {
        client.detach(clientObserver)
        faults.clear()
        let task = events.withLock { task in
            defer { task = nil }
            return task
        }
        task?.cancel()
    }
}
