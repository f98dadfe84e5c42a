public import Foundation
import SwitchyardServices

/// The cookies of one service in one environment (RFC 6265).
///
/// Each client has its own, so that nothing leaks between services, environments or users; it lives in memory. Any
/// thread may call it.
///
/// ### Use
///
///     let jar = CookieJar()
///     options.generator.cookies = jar
///
/// A client keeps the cookies of each environment apart by ``scoped(to:)``; those that are stored through the jar itself
/// belong to all of them.
///
/// ### Limits
/// There is no list of public suffixes: a cookie for a domain of two labels or more is accepted from any host below it.
/// Keep the jar to the hosts of one service.
public final class CookieJar: Sendable {
    private struct Entry: Sendable {
        var cookie: Cookie
        var order: UInt64
    }

    private struct Key: Hashable, Sendable {
        var scope: String?
        var name: String
        var domain: String
        var isHostOnly: Bool
        var path: String

        /// The same cookie in the jar itself.
        var withoutScope: Key {
            var key = self
            key.scope = nil
            return key
        }

        /// The same cookie in a scope.
        func within(_ scope: String) -> Key {
            var key = self
            key.scope = scope
            return key
        }
    }

    private struct State: Sendable {
        var entries: [Key: Entry] = [:]
        var counter: UInt64 = 0
        var changes: UInt64 = 0
        /// How often the app has removed cookies.
        var removals: UInt64 = 0
        /// The number of the last removal of all cookies, of the jar (`nil`) and of each scope.
        var clearings: [String?: UInt64] = [:]
        /// The number of the last removal of single cookies.
        var removed: [Key: UInt64] = [:]

        /// Removes all cookies of a scope, or of the jar.
        mutating func clear(_ scope: String?) {
            changes += 1
            removals += 1
            clearings[scope] = removals
            entries = scope == nil ? [:] : entries.filter { $0.key.scope != scope }
            removed = scope == nil ? [:] : removed.filter { $0.key.scope != scope }
        }

        /// Removes single cookies.
        mutating func remove(_ keys: some Sequence<Key>, limit: Int) {
            changes += 1
            removals += 1
            for key in keys {
                entries.removeValue(forKey: key)
                removed[key] = removals
            }
            guard removed.count > limit else { return }
            // Too many to remember: every cookie counts as removed.
            removed = [:]
            clearings[nil] = removals
        }

        /// Whether all cookies of a scope, or this one of them, were removed later than that.
        func isRemoved(_ key: Key? = nil, in scope: String?, since number: UInt64) -> Bool {
            let cleared = max(clearings[nil] ?? 0, clearings[scope] ?? 0)
            return cleared > number || key.flatMap { removed[$0] }.map { $0 > number } ?? false
        }

        /// Removes one cookie: the oldest that has expired, or the oldest when none has.
        ///
        /// An expired one that hides a cookie of all scopes from its own is still needed.
        mutating func evict(at time: Date) {
            let expired = entries.filter { key, entry in
                entry.cookie.isExpired(at: time) && (key.scope == nil || entries[key.withoutScope] == nil)
            }
            let oldest = (expired.isEmpty ? entries : expired).min { $0.value.order < $1.value.order }
            if let oldest { entries.removeValue(forKey: oldest.key) }
        }
    }

    /// The most cookies that are kept, in all scopes together; of more, the expired go first, then the oldest.
    public let limit: Int
    /// The name of the scope; `nil` for the jar itself.
    public let scope: String?
    private let now: @Sendable () -> Date
    private let shared: Shared

    /// What a jar and its scopes share.
    private final class Shared: Sendable {
        let state = Locked(State())
    }

    /// Creates an empty jar.
    ///
    /// - Parameters:
    ///   - limit: The most cookies that are kept; 1,000 unless given.
    ///   - now: The time of day, which expiry dates need; the system's unless given.
    public init(limit: Int = 1000, now: @escaping @Sendable () -> Date = { Date() }) {
        self.limit = max(limit, 0)
        self.now = now
        scope = nil
        shared = Shared()
    }

    private init(_ jar: CookieJar, scope: String) {
        limit = jar.limit
        now = jar.now
        shared = jar.shared
        self.scope = scope
    }

    /// The part of the jar that goes by a name: what is stored through it is sent by it alone.
    ///
    /// - Parameter scope: The name; the same name is the same part.
    /// - Returns: The part. It shares the jar's limit, and sends what was stored through the jar itself, too.
    public func scoped(to scope: String) -> CookieJar {
        CookieJar(self, scope: scope)
    }

    /// The cookies that have not expired, oldest first; those of a scope, or all of the jar.
    public var cookies: [Cookie] {
        let time = now()
        return entries { scope == nil || $0.scope == scope }.sorted { $0.order < $1.order }.map(\.cookie)
            .filter { !$0.isExpired(at: time) }
    }

    /// How often a cookie has been set to another value or removed, in all scopes together.
    package var changes: UInt64 { shared.state.withLock { $0.changes } }

    /// How often the app has removed cookies, in all scopes together.
    package var removals: UInt64 { shared.state.withLock { $0.removals } }

    /// Whether all cookies of the jar, or of the scope, were removed since a number of ``removals``.
    package func isCleared(since number: UInt64) -> Bool {
        shared.state.withLock { $0.isRemoved(in: scope, since: number) }
    }

    private func entries(where isIncluded: (Key) -> Bool) -> [Entry] {
        shared.state.withLock { $0.entries }.compactMap { isIncluded($0.key) ? $0.value : nil }
    }

    /// Adds a cookie in place of one with the same name, domain and path; an expired one removes it.
    public func store(_ cookie: Cookie) {
        store(cookie, unlessRemovedSince: nil)
    }

    private func store(_ cookie: Cookie, unlessRemovedSince number: UInt64?) {
        let key = Key(
            scope: scope,
            name: cookie.name,
            domain: cookie.domain,
            isHostOnly: cookie.isHostOnly,
            path: cookie.path
        )
        let time = now()
        let isExpired = cookie.isExpired(at: time)
        shared.state.withLock { state in
            if let number, state.isRemoved(key, in: scope, since: number) { return }
            // One that has expired is gone (RFC 6265 section 5.3): its successor is a new cookie.
            let old = state.entries[key].flatMap { $0.cookie.isExpired(at: time) ? nil : $0 }
            if isExpired || old?.cookie.value != cookie.value { state.changes += 1 }
            if isExpired {
                state.entries.removeValue(forKey: key)
                // What all scopes send goes in this one only: the expired cookie stays to say so.
                guard scope != nil, state.entries[key.withoutScope] != nil else { return }
            }
            state.counter += 1
            state.entries[key] = Entry(cookie: cookie, order: old?.order ?? state.counter)
            if state.entries.count > limit { state.evict(at: time) }
        }
    }

    /// Adds the cookies of an answer.
    ///
    /// - Parameters:
    ///   - headers: The header fields of the answer; those named `Set-Cookie` count. What came without TLS takes no
    ///     place from a secure cookie.
    ///   - url: The URL that answered.
    public func store(from headers: HTTPHeaders, of url: RequestURL) {
        store(from: headers, of: url, unlessRemovedSince: nil)
    }

    /// Adds the cookies of an answer, except those that the app has removed since a number of ``removals``: the answer
    /// belongs to a session that is over.
    package func store(from headers: HTTPHeaders, of url: RequestURL, unlessRemovedSince number: UInt64?) {
        let lead = clockLead(of: headers)
        for value in headers.echoes(of: "Set-Cookie") {
            guard var cookie = Cookie(setCookie: value, from: url, now: now().addingTimeInterval(lead)),
                mayStore(cookie, from: url)
            else { continue }
            cookie.expires?.addTimeInterval(-lead)
            store(cookie, unlessRemovedSince: number)
        }
    }

    /// How far the server's clock is ahead of the device's, by the response's `Date`; nothing below a minute.
    ///
    /// An `Expires` is a time of the server's clock: behind the device's, a session of half an hour would be over at once.
    private func clockLead(of headers: HTTPHeaders) -> TimeInterval {
        let lead = headers["Date"].flatMap { HTTPDate.date(from: $0) }?.timeIntervalSince(now()) ?? 0
        return abs(lead) < 60 ? 0 : lead
    }

    /// Whether a cookie takes no place from a secure one that came over https: whoever can change what comes over http
    /// could set it (RFC 6265bis section 5.7).
    private func mayStore(_ cookie: Cookie, from url: RequestURL) -> Bool {
        guard url.origin.scheme != "https", !CookieMatching.isLocal(url.origin.host) else { return true }
        let time = now()
        return !shared.state.withLock { $0.entries }.contains { key, entry in
            let other = entry.cookie
            return (key.scope == nil || key.scope == scope) && other.isSecure && other.name == cookie.name
                && !other.isExpired(at: time) && CookieMatching.path(other.path, covers: cookie.path)
                && (CookieMatching.domain(other.domain, covers: cookie.domain)
                    || CookieMatching.domain(cookie.domain, covers: other.domain))
        }
    }

    /// The cookies for a request, those of longer paths first, then older ones first (RFC 6265 section 5.4).
    public func cookies(for url: RequestURL) -> [Cookie] {
        let time = now()
        let entries = shared.state.withLock { $0.entries }
        return entries.filter { key, entry in
            isVisible(key, among: entries) && !entry.cookie.isExpired(at: time) && entry.cookie.isSent(to: url)
        }
        .values
        .sorted { left, right in
            let lengths = (left.cookie.path.utf8.count, right.cookie.path.utf8.count)
            return lengths.0 == lengths.1 ? left.order < right.order : lengths.0 > lengths.1
        }
        .map(\.cookie)
    }

    /// Whether a cookie is the scope's own, or the jar's and not replaced in the scope.
    private func isVisible(_ key: Key, among entries: [Key: Entry]) -> Bool {
        if key.scope == scope { return true }
        guard let scope, key.scope == nil else { return false }
        return entries[key.within(scope)] == nil
    }

    /// The value of the `Cookie` field for a request; `nil` when there is none.
    ///
    /// A cookie that the app has stored and that no field can hold is left out.
    public func header(for url: RequestURL) -> String? {
        guard shared.state.withLock({ !$0.entries.isEmpty }) else { return nil }
        let pairs = cookies(for: url).map { "\($0.name)=\($0.value)" }.filter(\.isFieldValue)
        return pairs.isEmpty ? nil : pairs.joined(separator: "; ")
    }

    /// Removes all cookies; those of a scope, or of the whole jar.
    ///
    /// A response to a request that was made before stores no cookie afterwards, and the request sends none of those that
    /// are stored afterwards.
    public func removeAll() {
        // What goes with the entries goes behind the lock.
        let old = shared.state.withLock { state in
            defer { state.clear(scope) }
            return state.entries
        }
        withExtendedLifetime(old) {}
    }

    /// Removes the cookies that `shouldRemove` picks; those of a scope, or of the whole jar.
    ///
    /// A response to a request that was made before stores none of them afterwards.
    public func removeAll(where shouldRemove: (Cookie) -> Bool) {
        let keys = shared.state.withLock { $0.entries }
            .filter { (scope == nil || $0.key.scope == scope) && shouldRemove($0.value.cookie) }.keys
        shared.state.withLock { $0.remove(keys, limit: limit) }
    }
}
