import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The location at which a call's response is stored, and the rules for using a stored one.
///
/// A class, because a call passes the plan from function to function, and each would copy its fields.
final class CachePlan: Sendable {
    let key: CacheKey
    let box: Boxed<CachePolicy>
    let lifetime: Duration
    let cache: ResponseCache
    /// The only server whose response may be stored under the key; `nil` if every server's response may.
    let server: String?
    /// The path of a call that names it by an absolute URL of a server, where HTTP's rules decide; `nil` otherwise.
    let pathOfURL: String?
    /// The header fields that are sent besides the call's own and may change, if HTTP's rules decide; empty otherwise.
    let varying: HTTPHeaders
    /// The stamp that a stored value must have.
    let stamp: CacheStamp
    /// The writes at the path of the call; `nil` where it has an effect itself.
    let writes: PathWrites?
    /// The observers of the client; `nil` if there are none.
    let clientObservers: [ClientObserver]?

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
        clientObservers: [ClientObserver]?
    ) {
        (self.key, self.box, self.lifetime, self.cache) = (key, box, lifetime, cache)
        (self.server, self.pathOfURL, self.varying) = (server, pathOfURL, varying)
        (self.stamp, self.writes, self.clientObservers) = (stamp, writes, clientObservers)
    }

    /// The policy for stored responses.
    var policy: CachePolicy { box.value }

    /// Returns the plan for a call with its serializer; `nil` if its response is not stored.
    static func of<Value: Sendable>(
        _ configuration: APIConfiguration,
        for serializer: ResponseSerializer<Value>,
        through client: NetworkClient,
        user: String?
    ) -> CachePlan? {
        of(configuration, at: serializer.part, accepting: serializer.accept, through: client, user: user)
    }

    /// Returns the plan for a call; `nil` if its response is not stored.
    ///
    /// The key names the whole response, which is what a disk stores; ``stamp`` distinguishes values of its parts.
    static func of(
        _ configuration: APIConfiguration,
        at part: @autoclosure () -> ResponsePart = .whole,
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
        // If the fields cannot be computed, the call fails, and no stored response hides the failure.
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
            clientObservers: place.clientObservers
        )
    }

    /// Returns the cache of a call and the lifetime of its response: the call's own, or the cache's default.
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

    /// Returns the stored value if it is fresh and the policy accepts it, or `nil` if a stored response takes more steps.
    ///
    /// Observers are notified of a stored response, and a call that continues earlier work may have another owner than
    /// the current user.
    func freshValue<Value: Sendable>(of type: Value.Type) -> Value? {
        guard clientObservers == nil, CallOwner.inherited.isEmpty else { return nil }
        guard box.value.reading == .whenFresh, box.value.freshness == .lifetime else { return nil }
        return cache.value(for: key, as: type, stamp, youngerThan: lifetime)
    }

    /// Returns the entry, fresh only while it is younger than both lifetimes: of the call that stored it, and of this
    /// call.
    func judged<Value: Sendable>(_ entry: CachedValue<Value>) -> CachedValue<Value> {
        guard policy.freshness == .lifetime, entry.age >= lifetime else { return entry }
        var entry = entry
        entry.isFresh = false
        return entry
    }
}

extension CachePlan {
    /// Returns a new response without its body, as the call's policy stores it.
    func answer(status: Int, headers: HTTPHeaders) -> StoredResponse {
        var headers = headers
        // Cookies belong to the jar and must not be found in a cache.
        headers.remove("Set-Cookie")
        let time = policy.keepingTime(lifetime, headers)
        var answer = StoredResponse(
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

    /// Stores a value in memory with the times of its response.
    ///
    /// - Returns: Whether the value is the newest response; an older one does not replace what is stored.
    @discardableResult
    func keep<Value: Sendable>(
        _ value: Value,
        _ answer: StoredResponse,
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

    /// Returns the changes so far, to compare before an entry in flight is stored: the number of removals, and the
    /// number of writes to its path.
    ///
    /// From now on, changes remove entries too if HTTP's rules decide on this one.
    func removalsSoFar() -> CacheChanges {
        followRules()
        return changes
    }

    private var changes: CacheChanges {
        CacheChanges(removals: cache.removals.withLock { $0 }, writes: writes?.count ?? 0)
    }

    /// Stores an entry unless entries were removed since; an entry that a concurrent removal missed is removed again.
    func unlessRemoved(since known: CacheChanges, _ store: () -> Void) {
        guard changes == known else { return }
        store()
        // A removal is counted before it searches for entries: either it has found this entry, or the count differs
        // here.
        if changes != known { cache.withdraw(key) }
    }

    /// Lets changes remove entries from now on, where HTTP's rules decide on this one.
    func followRules() {
        if policy.freshness == .http { cache.followsHTTP.withLock { $0 = true } }
    }

    /// Whether a response with these fields may be stored; `false` only if HTTP's rules decide and forbid it.
    func mayStore(_ configuration: APIConfiguration, status: Int = 200, _ headers: HTTPHeaders) -> Bool {
        guard policy.freshness == .http else { return true }
        return HTTPCacheRules.isStorable(
            method: configuration.method,
            request: configuration.headers,
            status: status,
            headers
        )
    }

    /// Whether HTTP's rules decide on a response that depends on a header field which the key leaves out or which is
    /// not the call's own.
    ///
    /// A disk stores no request fields, so it could not tell which request such a response belongs to.
    func isAmbiguousOnDisk(_ answer: StoredResponse, _ request: HTTPHeaders) -> Bool {
        let selected = http(of: answer, request)?.selected ?? [:]
        return selected.contains { name, value in
            varying[name] != nil || !value.isEmpty && policy.ignoredHeaders.contains(name)
        }
    }

    /// Whether HTTP's rules decide on a response on disk and a call has changed its path since it was stored.
    nonisolated(nonsending) func isOutdated(_ answer: StoredResponse, in disk: any ResponseStore) async -> Bool {
        guard policy.freshness == .http else { return false }
        let parts = key.parts
        let place = ChangedPaths.Place(
            service: parts.partition.service,
            environment: parts.partition.environment,
            path: pathOfURL ?? parts.path
        )
        return await cache.hasChanged(place, since: answer.created, in: disk)
    }

    /// Returns the response for HTTP's rules if they decide.
    func http(of answer: StoredResponse, _ request: HTTPHeaders) -> HTTPStoredResponse? {
        policy.freshness == .http ? HTTPStoredResponse(answer, request: selecting(request)) : nil
    }

    /// Returns the header fields by which a response may be selected: the call's own, and those that are sent besides
    /// them.
    func selecting(_ request: HTTPHeaders) -> HTTPHeaders {
        guard !varying.isEmpty else { return request }
        var fields = request
        for field in varying.fields { fields.add(field.name, field.value) }
        return fields
    }
}

extension HTTPStoredResponse {
    init(_ answer: StoredResponse, request: HTTPHeaders) {
        self.init(
            status: answer.status,
            headers: answer.headers,
            request: request,
            requested: answer.created.addingTimeInterval(-answer.transit.inSeconds),
            received: answer.created
        )
    }
}
