import Foundation
package import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The cache key of a call, and the rules for using and storing its response.
///
/// The cache plan is a class, because many functions pass it on, and each would copy the fields of a structure.
package final class CachePlan: Sendable {
    package let key: CacheKey
    let box: Boxed<CachePolicy>
    package let lifetime: Duration
    let cache: ResponseCache
    /// The only server whose response may be stored under the key, or `nil` if the response of any server may be
    /// stored.
    let server: String?
    /// The path under which the response is stored if the call's path is an absolute URL of a server and HTTP's rules
    /// decide on freshness, otherwise `nil`.
    let pathOfURL: String?
    /// The header fields that the client adds to the header fields of the call, and whose values may change.
    ///
    /// The header fields are empty unless HTTP's rules decide on freshness.
    let varying: HTTPHeaders
    /// The stamp that a stored value must have so that the call can use the value.
    let stamp: CacheStamp
    /// The counters of the write requests to the paths of the service.
    let pathCounters: PathCounters
    /// The observers of the call, or `nil` if there are none.
    let observers: [any CallObserver]?

    private init(
        _ key: CacheKey,
        _ box: Boxed<CachePolicy>,
        _ lifetime: Duration,
        _ cache: ResponseCache,
        server: String?,
        pathOfURL: String?,
        varying: HTTPHeaders,
        stamp: CacheStamp,
        pathCounters: PathCounters,
        observers: [any CallObserver]?
    ) {
        (self.key, self.box, self.lifetime, self.cache) = (key, box, lifetime, cache)
        (self.server, self.pathOfURL, self.varying) = (server, pathOfURL, varying)
        (self.stamp, self.pathCounters, self.observers) = (stamp, pathCounters, observers)
    }

    /// The policy of the call for stored responses.
    var policy: CachePolicy { box.value }

    /// Returns the cache plan for a call with its serializer, or `nil` if its response is not stored.
    package static func of<Value: Sendable>(
        _ configuration: APIConfiguration,
        for serializer: ResponseSerializer<Value>,
        through client: NetworkClient,
        user: String?
    ) -> CachePlan? {
        of(configuration, at: serializer.part, accepting: serializer.accept, through: client, user: user)
    }

    /// Returns the cache plan for a call, or `nil` if the call is not cached.
    ///
    /// The cache key identifies the whole response, which the disk stores. ``stamp`` distinguishes values from
    /// different parts of the response.
    static func of(
        _ configuration: APIConfiguration,
        at part: @autoclosure () -> ResponsePart = .whole,
        accepting types: @autoclosure () -> String?,
        through client: NetworkClient,
        user: String?
    ) -> CachePlan? {
        let box = configuration.cacheBox
        guard let (cache, lifetime) = place(of: configuration, box, through: client) else { return nil }
        let place = client.place(of: configuration)
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
        // If the header fields cannot be computed, the call fails, and a stored response must not hide the failure.
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
            pathCounters: place.pathCounters,
            observers: place.observers
        )
    }

    /// Returns the cache of a call and the lifetime of its response, which is the call's own lifetime or the cache's
    /// default.
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
        if case .named(let name) = configuration.server { name } else { client.preferredServer(for: configuration) }
    }

    /// Returns the stored value if it is fresh and can be returned without further steps, otherwise `nil`.
    ///
    /// Further steps are needed if observers must be notified, or if the call continues earlier work and may therefore
    /// belong to another user than the current one.
    func freshValue<Value: Sendable>(of type: Value.Type) -> Value? {
        guard observers == nil, CallOwner.inherited.isEmpty else { return nil }
        guard box.value.reading == .whenFresh, box.value.freshness == .lifetime else { return nil }
        return cache.value(for: key, as: type, stamp, youngerThan: lifetime)
    }

    /// Returns the entry, marked as stale if its age exceeds the lifetime that this call sets.
    ///
    /// The lifetime of the call that stored the entry has already been checked.
    func judged<Value: Sendable>(_ entry: CachedValue<Value>) -> CachedValue<Value> {
        guard policy.freshness == .lifetime, entry.age >= lifetime else { return entry }
        var entry = entry
        entry.isFresh = false
        return entry
    }
}

extension CachePlan {
    /// Returns the ``StoredResponse`` for a new response, with the times, version and tags that the call's policy
    /// defines.
    func answer(_ response: HTTPResponse) -> StoredResponse {
        var response = response
        // Cookies are stored in the cookie jar and must not be stored in the cache.
        if response.headers["Set-Cookie"] != nil { response.headers.remove("Set-Cookie") }
        let time = policy.keepingTime(lifetime, response.headers)
        var answer = StoredResponse(
            response,
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
    /// - Returns: Whether the value is newer than the stored value. If it is older, it is not stored.
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
        facts.redirectedTo = answer.redirectedTo
        facts.http = http(of: answer, request)
        facts.stamp = stamp
        facts.turn = turn
        return cache.store(value, for: key, age: age, lifetime: answer.lifetime, staleFor: answer.staleFor, facts)
    }

    /// Returns the numbers of removals and of write requests to the path so far.
    ///
    /// Compare the numbers again before a response in flight is stored. If HTTP's rules decide on the response's
    /// freshness, later write requests to the path also remove entries.
    func removalsSoFar(at configuration: APIConfiguration) -> CacheChanges {
        followRules()
        return changes(countedBy: pathCounters.writes(at: configuration))
    }

    /// Returns the number of removals so far, and the number of write requests to the call's path.
    private func changes(countedBy writes: PathWrites?) -> CacheChanges {
        CacheChanges(removals: cache.removals.withLock { $0 }, writes: writes?.count ?? 0)
    }

    /// Stores an entry unless there were removals or write requests since `known`.
    ///
    /// If a removal happens at the same time and misses the entry, the entry is removed again.
    func unlessRemoved(since known: CacheChanges, at configuration: APIConfiguration, _ store: () -> Void) {
        let writes = pathCounters.writes(at: configuration)
        guard changes(countedBy: writes) == known else { return }
        store()
        // A removal is counted before it searches for entries. Therefore, it either finds this entry, or the count
        // differs here.
        if changes(countedBy: writes) != known { cache.withdraw(key) }
    }

    /// If HTTP's rules decide on the freshness of this call's response, records this, so that later write requests to a
    /// path remove its entries.
    func followRules() {
        if policy.freshness == .http { cache.followsHTTP.withLock { $0 = true } }
    }

    /// Returns whether a response with these header fields may be stored.
    ///
    /// The result is `false` only if HTTP's rules decide on freshness and forbid storing.
    func mayStore(_ configuration: APIConfiguration, status: Int = 200, _ headers: HTTPHeaders) -> Bool {
        guard policy.freshness == .http else { return true }
        return HTTPCacheRules.isStorable(
            method: configuration.method,
            request: configuration.headers,
            status: status,
            headers
        )
    }

    /// Returns whether a response on disk may belong to a request with other header fields.
    ///
    /// This is the case if HTTP's rules decide on freshness and the response depends on a header field that is not part
    /// of the cache key or is added by the client. The disk stores no request header fields, so they cannot be
    /// compared.
    func isAmbiguousOnDisk(_ answer: StoredResponse, _ request: HTTPHeaders) -> Bool {
        let selected = http(of: answer, request)?.selected ?? [:]
        return selected.contains { name, value in
            varying[name] != nil || !value.isEmpty && policy.ignoredHeaders.contains(name)
        }
    }

    /// Returns whether a call has sent a write request to the path of a response since the response was stored on disk.
    ///
    /// The result is `true` only if HTTP's rules decide on freshness.
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

    /// Returns the response in the form that HTTP's rules need, or `nil` if HTTP's rules do not decide on freshness.
    func http(of answer: StoredResponse, _ request: HTTPHeaders) -> HTTPFreshness? {
        policy.freshness == .http ? HTTPFreshness(answer, request: selecting(request)) : nil
    }

    /// Returns the header fields by which a response may be selected (`Vary`): the header fields of the call, and the
    /// header fields that the client adds.
    func selecting(_ request: HTTPHeaders) -> HTTPHeaders {
        guard !varying.isEmpty else { return request }
        var fields = request
        for field in varying.fields { fields.add(field.name, field.value) }
        return fields
    }
}

extension HTTPFreshness {
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
