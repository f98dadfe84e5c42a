import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// Where the answer of a call is stored, and how a stored one may be used.
///
/// A class, since a call hands it from function to function, and each would copy its fields.
final class CachePlan: Sendable {
    let key: CacheKey
    let box: Boxed<CachePolicy>
    let lifetime: Duration
    let cache: ResponseCache
    /// The only server whose answer may be stored under the key; `nil` when every server's may.
    let server: String?
    /// The path of a call that names it by an absolute URL of a server, where HTTP's rules decide; `nil` otherwise.
    let pathOfURL: String?
    /// The fields that go with the call beside its own and may change, where HTTP's rules decide; none otherwise.
    let varying: HTTPHeaders
    /// What a stored value must have been stored with.
    let stamp: CacheStamp
    /// The writes at the path of the call; `nil` where it has an effect itself.
    let writes: PathWrites?
    /// Who looks on; `nil` when nobody does.
    let onlookers: [Onlooker]?

    private init(
        _ key: CacheKey,
        _ box: Boxed<CachePolicy>,
        _ lifetime: Duration,
        _ cache: ResponseCache,
        server: String?,
        pathOfURL: String?,
        varying: HTTPHeaders,
        stamp: CacheStamp,
        writes: PathWrites?,
        onlookers: [Onlooker]?
    ) {
        (self.key, self.box, self.lifetime, self.cache) = (key, box, lifetime, cache)
        (self.server, self.pathOfURL, self.varying) = (server, pathOfURL, varying)
        (self.stamp, self.writes, self.onlookers) = (stamp, writes, onlookers)
    }

    /// How a stored answer may be used.
    var policy: CachePolicy { box.value }

    /// Plans for a call with its serialiser; `nil` when its answer is not to be stored.
    static func of<Value: Sendable>(
        _ configuration: APIConfiguration,
        for serializer: ResponseSerializer<Value>,
        through client: NetworkClient,
        user: String?
    ) -> CachePlan? {
        of(configuration, at: serializer.part, accepting: serializer.accept, through: client, user: user)
    }

    /// Plans for a call; `nil` when its answer is not to be stored.
    ///
    /// The key names the whole answer, which is what a disk keeps; values of its parts are told apart by ``stamp``.
    static func of(
        _ configuration: APIConfiguration,
        at part: @autoclosure () -> AnswerPart = .whole,
        accepting types: @autoclosure () -> String?,
        through client: NetworkClient,
        user: String?
    ) -> CachePlan? {
        let box = configuration.cacheBox
        guard let (cache, lifetime) = place(of: configuration, box, through: client) else { return nil }
        let place = client.place
        let partition = CachePartition(service: place.service, environment: place.environment.rawValue, user: user)
        let server = box.value.separatesServers ? preferredServer(for: configuration, of: client) : nil
        let isPlain = cache.defaults.pathFilters.isEmpty && configuration.pathValues.isEmpty
        let path = isPlain ? nil : cache.defaults.path(of: configuration)
        let key = CacheKey.of(
            configuration,
            policy: box,
            in: partition,
            path: path,
            server: server,
            base: client.base(for: configuration),
            isAuthorized: client.authorizes(configuration)
        )
        guard let key else { return nil }
        let followsHTTP = box.value.freshness == .http
        // Where they cannot be computed the call fails, and no stored answer hides that.
        guard let varying = followsHTTP ? try? client.varyingFields(of: configuration) : [:] else { return nil }
        return CachePlan(
            key,
            box,
            lifetime,
            cache,
            server: server,
            pathOfURL: followsHTTP ? client.storagePath(ofAbsolute: path ?? configuration.path) : nil,
            varying: varying,
            stamp: box.value.stamp(of: configuration, part(), asking: types()),
            writes: client.writes(at: configuration),
            onlookers: place.onlookers
        )
    }

    /// The cache of a call, and how long its answer is fresh: by the call itself, else by the cache's defaults.
    private static func place(
        of configuration: APIConfiguration,
        _ box: Boxed<CachePolicy>,
        through client: NetworkClient
    ) -> (ResponseCache, Duration)? {
        let isEnabled = box.value.isEnabled
        guard isEnabled != false else { return nil }
        if let lifetime = configuration.cacheLifetime {
            guard lifetime > .zero else { return nil }
            let cache = client.responseCache
            return isEnabled ?? cache.defaults.isEnabled ? (cache, lifetime) : nil
        }
        guard let cache = isEnabled == true ? client.responseCache : client.existingResponseCache,
            isEnabled ?? cache.defaults.isEnabled,
            let lifetime = cache.defaults.lifetime ?? (isEnabled == true ? CacheDefaults.unnamedLifetime : nil),
            lifetime > .zero
        else { return nil }
        return (cache, lifetime)
    }

    private static func preferredServer(for configuration: APIConfiguration, of client: NetworkClient) -> String {
        if case .named(let name) = configuration.server { name } else { client.currentServer }
    }

    /// The stored value, when it is fresh and the policy takes it.
    func freshValue<Value: Sendable>(of type: Value.Type) -> Value? {
        guard box.value.reading == .whenFresh, box.value.freshness == .lifetime else { return nil }
        return cache.value(for: key, as: type, stamp, youngerThan: lifetime)
    }

    /// What is stored, fresh only while younger than both lifetimes: that of the call that stored it, and of this one.
    func judged<Value: Sendable>(_ entry: CachedValue<Value>) -> CachedValue<Value> {
        guard policy.freshness == .lifetime, entry.age >= lifetime else { return entry }
        var entry = entry
        entry.isFresh = false
        return entry
    }
}

extension CachePlan {
    /// An answer of now without its body, as the call's policy stores it.
    func answer(status: Int, headers: HTTPHeaders) -> StoredAnswer {
        var headers = headers
        // Cookies are for the jar; nobody shall find them in a cache.
        headers.remove("Set-Cookie")
        let time = policy.keepingTime(lifetime, headers)
        var answer = StoredAnswer(
            status: status,
            headers: headers,
            body: Data(),
            created: cache.wallClock(),
            lifetime: time.fresh,
            staleFor: time.stale
        )
        answer.version = policy.version
        answer.sensitiveDigest = policy.sensitiveDigest
        answer.tags = policy.tags
        answer.accept = stamp.accept
        return answer
    }

    /// Keeps a value in memory, under the times of its answer.
    ///
    /// - Returns: Whether it is the newest answer; an older one does not take the place of what is kept.
    @discardableResult
    func keep<Value: Sendable>(
        _ value: Value,
        _ answer: StoredAnswer,
        age: Duration = .zero,
        cost: Int,
        turn: Int = 0,
        _ request: HTTPHeaders
    ) -> Bool {
        var facts = CacheFacts(cost: cost, tags: answer.tags)
        facts.answer = answer.head
        facts.http = http(of: answer, request)
        facts.stamp = stamp
        facts.turn = turn
        return cache.store(value, for: key, age: age, lifetime: answer.lifetime, staleFor: answer.staleFor, facts)
    }

    /// What has changed so far, to be compared before an entry is kept that is on its way now: how often entries were
    /// removed, and how many writes there were at its path.
    ///
    /// From now on changes remove entries too, where HTTP's rules decide on this one.
    func removalsSoFar() -> CacheChanges {
        followRules()
        return changes
    }

    private var changes: CacheChanges {
        CacheChanges(removals: cache.removals.withLock { $0 }, writes: writes?.count ?? 0)
    }

    /// Stores something unless entries were removed since; what a removal overtakes while it is stored goes again.
    func unlessRemoved(since known: CacheChanges, _ store: () -> Void) {
        guard changes == known else { return }
        store()
        // A removal is counted before it looks for entries: either it has found this one, or it is seen here.
        if changes != known { cache.withdraw(key) }
    }

    /// Lets changes remove entries from now on, where HTTP's rules decide on this one.
    func followRules() {
        if policy.freshness == .http { cache.followsHTTP.withLock { $0 = true } }
    }

    /// Whether an answer with these fields may be stored: always, unless HTTP's rules decide and forbid it.
    func mayStore(_ configuration: APIConfiguration, status: Int = 200, _ headers: HTTPHeaders) -> Bool {
        guard policy.freshness == .http else { return true }
        return HTTPCacheRules.isStorable(
            method: configuration.method,
            request: configuration.headers,
            status: status,
            headers
        )
    }

    /// Whether HTTP's rules decide on an answer that depends on a field which the call sets itself and the key leaves out,
    /// or on one that goes with it beside its own: then a disk, which keeps no fields of requests, cannot tell whose answer
    /// it has.
    func isAmbiguousOnDisk(_ answer: StoredAnswer, _ request: HTTPHeaders) -> Bool {
        let selected = http(of: answer, request)?.selected ?? [:]
        return selected.contains { name, value in
            varying[name] != nil || !value.isEmpty && policy.ignoredHeaders.contains(name)
        }
    }

    /// Whether HTTP's rules decide on an answer of the disk's, and a call has changed its place since it was stored.
    nonisolated(nonsending) func isOutdated(_ answer: StoredAnswer, in disk: any AnswerStore) async -> Bool {
        guard policy.freshness == .http else { return false }
        let parts = key.parts
        let place = ChangedPaths.Place(
            service: parts.partition.service,
            environment: parts.partition.environment,
            path: pathOfURL ?? parts.path
        )
        return await cache.hasChanged(place, since: answer.created, in: disk)
    }

    /// The answer as HTTP's rules see it, when they decide.
    func http(of answer: StoredAnswer, _ request: HTTPHeaders) -> HTTPStoredAnswer? {
        policy.freshness == .http ? HTTPStoredAnswer(answer, request: selecting(request)) : nil
    }

    /// The fields by which an answer may be selected: the call's own, and those that go with it beside them.
    func selecting(_ request: HTTPHeaders) -> HTTPHeaders {
        guard !varying.isEmpty else { return request }
        var fields = request
        for field in varying.fields { fields.add(field.name, field.value) }
        return fields
    }
}

extension HTTPStoredAnswer {
    init(_ answer: StoredAnswer, request: HTTPHeaders) {
        self.init(
            status: answer.status,
            headers: answer.headers,
            request: request,
            requested: answer.created.addingTimeInterval(-answer.transit.inSeconds),
            received: answer.created
        )
    }
}
