public import Foundation
public import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// A signed list of servers that replaces the servers of a client at run time.
///
///     let list = try ServerList(
///         for: client,
///         from: [URL(string: "https://lists.example.com/topics.json")!],
///         keys: [ServerListKey(name: "k1", publicKey: "...")],
///         hosts: ["*.example.com"],
///         store: folder
///     )
///
/// The holder of one of the private keys decides to which of the allowed hosts the app sends its requests and
/// credentials. No client uses a list unless the app creates this object. The article on server lists describes the
/// format, the threats, and the work of the operator.
///
/// The last list that was accepted is stored on disk and applied before the initializer returns. A list that is refused
/// or cannot be fetched changes nothing. A list is fetched after a random delay at the start, when the network path
/// changes, every 8 hours, and, at most once a minute, when a call reaches no server that works (``Options``).
///
/// The list is in use until this object is released or ``stop()`` is called. Then nothing is fetched any more, and the
/// client keeps the servers that it has.
public final class ServerList: Sendable {
    /// The maximum size of a list in bytes, 256 KiB; a larger list is refused.
    public static let maximumSize = 262_144
    /// The maximum number of URLs.
    public static let maximumURLs = 8

    private let updater: ServerListUpdater
    private let tasks: [Task<Void, Never>]
    /// The source of changes of the network path, which is retained because it reports only while it exists.
    private let reachability: (any ReachabilityProvider)?

    /// Applies the stored list and starts to fetch newer ones.
    ///
    /// - Parameters:
    ///   - client: The client whose servers the list replaces, in all of its environments. The list retains it.
    ///   - urls: The URLs of the list, at most 8. Each fetch requests all of them, and the newest valid list is used.
    ///     The URLs should not depend on the servers of the service. Redirects are not followed.
    ///   - keys: The keys of which one must have signed the list.
    ///   - hosts: The hosts that a list may name: a host, or `*.` and a domain for all hosts below the domain.
    ///   - folder: The folder of the stored list, which is created if it does not exist. Several processes may share
    ///     it.
    ///   - options: The settings.
    /// - Throws: ``ServerListError``. In this case the client is unchanged.
    public init(
        for client: NetworkClient,
        from urls: [URL],
        keys: [ServerListKey],
        hosts: [String],
        store folder: URL,
        options: Options = Options()
    ) throws(ServerListError) {
        try options.check()
        let rules = try ServerListRules(
            service: client.service,
            keys: keys,
            hosts: hosts,
            insecureHTTP: client.insecureHTTP,
            grace: options.grace,
            builtInVersion: options.builtInVersion
        )
        let source = ServerListSource(
            urls: try Self.checked(urls, client.insecureHTTP),
            transport: options.transport ?? client.transport,
            timeout: options.timeout
        )
        let store = ServerListStore(folder: folder, service: client.service.name)
        let updater = ServerListUpdater(client.detached(), source, rules, store, options)
        self.updater = updater
        reachability = options.reachability
        // The stored list is applied before the network is observed, because it must not replace a list that is fetched
        // later.
        updater.start()
        tasks = options.reachability.map { [Self.following($0, updater)] } ?? []
    }

    deinit {
        end()
    }

    private static func checked(
        _ urls: [URL],
        _ rule: InsecureHTTPRule
    ) throws(ServerListError) -> [RequestURL] {
        guard (1...maximumURLs).contains(urls.count) else { throw .invalidURLCount(urls.count) }
        var checked: [RequestURL] = []
        for url in urls {
            guard let request = RequestURL(url), rule.permits(request.origin) else {
                throw .invalidURL(Redaction.standard.url(url.absoluteString))
            }
            checked.append(request)
        }
        return checked
    }

    /// Requests a fetch each time the network path changes and the network is reachable.
    private static func following(
        _ provider: any ReachabilityProvider,
        _ updater: ServerListUpdater
    ) -> Task<Void, Never> {
        // The updates are requested before the task runs, so that no change is missed.
        let updates = provider.updates()
        return Task { [weak updater] in
            // The first known status after an unknown status is not a change, so it requests no fetch.
            var last = ReachabilityStatus.unknown
            for await status in updates {
                guard let updater else { return }
                updater.setReachable(status.isReachable)
                if last != .unknown, last != status, status.isReachable { updater.requestFetch() }
                last = status
            }
        }
    }
}

extension ServerList {
    /// The list that the client uses.
    public var status: ServerListStatus { updater.status }

    /// Returns a stream of later events.
    ///
    /// The stored list is applied or refused before the initializer returns, so no stream has an event for it. Read
    /// ``status`` instead.
    ///
    /// If the reader is slow, the stream keeps the newest 64 events. The stream ends with ``stop()``.
    public func events() -> AsyncStream<ServerListEvent> { updater.events.stream(bufferingNewest: 64) }

    /// Fetches the list now, or waits for the fetch that is under way.
    ///
    /// This method returns when all URLs have responded or failed. A newer list is applied as soon as it arrives.
    ///
    /// - Returns: Whether a URL responded with a list that is valid and not expired. The list need not be newer than
    ///   the one in use. The events have the details.
    @discardableResult
    public func refresh() async -> Bool { await updater.refresh() }

    /// Stops fetching.
    ///
    /// The client keeps the servers that it has.
    public func stop() { end() }

    private func end() {
        for task in tasks { task.cancel() }
        updater.stop()
    }
}
