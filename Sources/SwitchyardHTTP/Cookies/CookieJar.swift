public import Foundation
import SwitchyardServices

/// A store for the cookies of one service in one environment (RFC 6265).
///
/// Each client has its own jar, so cookies do not leak between services, environments or users. The jar is in memory
/// only. It is thread-safe.
///
/// ### Use
///
///     let jar = CookieJar()
///     options.generator.cookies = jar
///
/// A client keeps the cookies of each environment in a separate part of the jar, a scope. Cookies that are stored
/// through the jar itself, without a scope, are sent in every scope.
///
/// ### Limits
/// The jar has no public suffix list. It accepts a cookie for any domain with at least two labels from any host in that
/// domain. Use one jar only for the hosts of one service.
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

        /// The key with the same name, domain and path, but in the unscoped jar.
        var withoutScope: Key {
            var key = self
            key.scope = nil
            return key
        }

        /// Returns the key with the same name, domain and path, but in the given scope.
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
        /// The number of removals by the app so far, which is also the sequence number of the latest removal.
        var removals: UInt64 = 0
        /// The sequence number of the last removal of all cookies, by scope.
        ///
        /// The dictionary key `nil` means the whole jar.
        var clearings: [String?: UInt64] = [:]
        /// The sequence number of the last removal of each single cookie.
        var removed: [Key: UInt64] = [:]

        /// Removes all cookies of a scope, or of the whole jar if `scope` is `nil`.
        mutating func clear(_ scope: String?) {
            changes += 1
            removals += 1
            clearings[scope] = removals
            entries = scope == nil ? [:] : entries.filter { $0.key.scope != scope }
            removed = scope == nil ? [:] : removed.filter { $0.key.scope != scope }
        }

        mutating func remove(_ keys: some Sequence<Key>, limit: Int) {
            changes += 1
            removals += 1
            for key in keys {
                entries.removeValue(forKey: key)
                removed[key] = removals
            }
            guard removed.count > limit else { return }
            // There are too many single removals to store, so every cookie counts as removed.
            removed = [:]
            clearings[nil] = removals
        }

        /// Whether the cookies of a scope, or the cookie with the given key, were removed later than the removal with
        /// the given sequence number.
        func isRemoved(_ key: Key? = nil, in scope: String?, since number: UInt64) -> Bool {
            let cleared = max(clearings[nil] ?? 0, clearings[scope] ?? 0)
            return cleared > number || key.flatMap { removed[$0] }.map { $0 > number } ?? false
        }

        /// Evicts one cookie: the oldest expired cookie or, if no cookie has expired, the oldest cookie.
        ///
        /// An expired cookie in a scope does not count as expired while it hides a cookie of the unscoped jar.
        mutating func evict(at time: Date) {
            let expired = entries.filter { key, entry in
                entry.cookie.isExpired(at: time) && (key.scope == nil || entries[key.withoutScope] == nil)
            }
            let oldest = (expired.isEmpty ? entries : expired).min { $0.value.order < $1.value.order }
            if let oldest { entries.removeValue(forKey: oldest.key) }
        }
    }

    /// The maximum number of stored cookies, counted over all scopes.
    ///
    /// If the limit is exceeded, expired cookies are evicted first, and then the oldest cookies.
    package let limit: Int
    /// The name of the scope, or `nil` for the unscoped jar.
    package let scope: String?
    private let now: @Sendable () -> Date
    private let shared: Shared

    /// The state that a jar shares with the jars of its scopes.
    private final class Shared: Sendable {
        let state = Locked(State())
    }

    /// Creates an empty jar.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of stored cookies; 1,000 by default.
    ///   - now: A closure that returns the current time, which expiry dates are compared with. By default it reads the
    ///     system clock.
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

    /// Returns a named scope of the jar.
    ///
    /// Cookies that are stored in the scope are sent only through this scope.
    ///
    /// - Parameter scope: The name. Equal names give the same scope.
    /// - Returns: A jar for the scope. The scope shares the limit of this jar, and also sends the cookies that are
    ///   stored through the unscoped jar.
    package func scoped(to scope: String) -> CookieJar {
        CookieJar(self, scope: scope)
    }

    /// The unexpired cookies of the scope, or of the whole jar if it is unscoped, oldest first.
    public var cookies: [Cookie] {
        let time = now()
        return entries { scope == nil || $0.scope == scope }.sorted { $0.order < $1.order }.map(\.cookie)
            .filter { !$0.isExpired(at: time) }
    }

    /// The number of times a cookie has been set to another value or removed, counted over all scopes.
    package var changes: UInt64 { shared.state.withLock { $0.changes } }

    /// The number of removals by the app, counted over all scopes.
    package var removals: UInt64 { shared.state.withLock { $0.removals } }

    /// Whether all cookies of the jar, or of its scope, have been removed since ``removals`` had the value `number`.
    package func isCleared(since number: UInt64) -> Bool {
        shared.state.withLock { $0.isRemoved(in: scope, since: number) }
    }

    private func entries(where isIncluded: (Key) -> Bool) -> [Entry] {
        shared.state.withLock { $0.entries }.compactMap { isIncluded($0.key) ? $0.value : nil }
    }

    /// Stores a cookie and replaces a stored cookie with the same name, domain and path.
    ///
    /// Storing an expired cookie removes the stored cookie.
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
            // An expired cookie no longer exists (RFC 6265 section 5.3), so a cookie that replaces it counts as a new
            // cookie.
            let old = state.entries[key].flatMap { $0.cookie.isExpired(at: time) ? nil : $0 }
            if isExpired || old?.cookie.value != cookie.value { state.changes += 1 }
            if isExpired {
                state.entries.removeValue(forKey: key)
                // If the unscoped jar has a cookie with this key, keep the expired cookie, because it hides the
                // unscoped cookie in this scope.
                guard scope != nil, state.entries[key.withoutScope] != nil else { return }
            }
            state.counter += 1
            state.entries[key] = Entry(cookie: cookie, order: old?.order ?? state.counter)
            if state.entries.count > limit { state.evict(at: time) }
        }
    }

    /// Stores the cookies of a response.
    ///
    /// - Parameters:
    ///   - headers: The header fields of the response. Only `Set-Cookie` fields are used. A cookie received without TLS
    ///     does not replace a secure cookie.
    ///   - url: The URL that returned the response.
    package func store(from headers: HTTPHeaders, of url: RequestURL) {
        store(from: headers, of: url, unlessRemovedSince: nil)
    }

    /// Stores the cookies of a response, except those that the app has removed since ``removals`` had the value
    /// `number`.
    ///
    /// If the request was created before the removal, its response belongs to a session that has ended.
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

    /// Returns the time by which the server's clock is ahead of the device's clock, from the `Date` field.
    ///
    /// Differences below one minute count as zero. `Expires` is a time of the server's clock. If the server's clock is
    /// slow, a session of half an hour would be expired immediately by the device's clock.
    private func clockLead(of headers: HTTPHeaders) -> TimeInterval {
        let lead = headers["Date"].flatMap { HTTPDate.date(from: $0) }?.timeIntervalSince(now()) ?? 0
        return abs(lead) < 60 ? 0 : lead
    }

    /// Whether a cookie may be stored without overwriting a secure cookie that was set over HTTPS.
    ///
    /// An attacker who can modify HTTP traffic could otherwise overwrite secure cookies (RFC 6265bis section 5.7).
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

    /// Returns the cookies for a request.
    ///
    /// Cookies with longer paths come first. Cookies with paths of equal length are in order of age, the oldest first
    /// (RFC 6265 section 5.4).
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

    /// Whether a cookie belongs to this scope, or belongs to the unscoped jar and has no replacement in this scope.
    private func isVisible(_ key: Key, among entries: [Key: Entry]) -> Bool {
        if key.scope == scope { return true }
        guard let scope, key.scope == nil else { return false }
        return entries[key.within(scope)] == nil
    }

    /// Returns the value of the `Cookie` field for a request, or `nil` if no cookie applies.
    ///
    /// If the app has stored a cookie whose name or value is not allowed in a header field, the cookie is omitted.
    ///
    /// - Parameters:
    ///   - url: The URL of the request.
    ///   - fields: The values of the request's other `Cookie` fields, whose cookies follow the stored cookies.
    ///   - replacesStored: Whether the cookies of `fields` replace stored cookies of the same name. Otherwise, the
    ///     stored cookies replace them.
    /// - Returns: The value, or `nil` if no stored cookie applies.
    package func header(for url: RequestURL, adding fields: [String] = [], replacesStored: Bool = true) -> String? {
        guard shared.state.withLock({ !$0.entries.isEmpty }) else { return nil }
        let names = replacesStored ? Set(fields.flatMap(CookieMatching.names)) : []
        let stored = cookies(for: url).filter { cookie in
            !names.contains(cookie.name) && "\(cookie.name)=\(cookie.value)".isFieldValue
        }
        guard !stored.isEmpty else { return nil }
        let replaced = replacesStored ? [] : Set(stored.map(\.name))
        let others = fields.compactMap { field in
            CookieMatching.value(field) { !replaced.contains(CookieMatching.name(of: $0)) }
        }
        return (stored.map { "\($0.name)=\($0.value)" } + others).joined(separator: "; ")
    }

    /// Removes all cookies of the scope, or of the whole jar if it is unscoped.
    ///
    /// Responses to requests that were created before the removal do not store cookies. These requests themselves do
    /// not send cookies that are stored after the removal.
    public func removeAll() {
        // The removed entries are released outside the lock.
        let old = shared.state.withLock { state in
            defer { state.clear(scope) }
            return state.entries
        }
        withExtendedLifetime(old) {}
    }

    /// Removes the cookies for which `shouldRemove` returns `true`, from the scope or from the whole jar if it is
    /// unscoped.
    ///
    /// Responses to requests that were created before the removal do not store the removed cookies again.
    public func removeAll(where shouldRemove: (Cookie) -> Bool) {
        let keys = shared.state.withLock { $0.entries }
            .filter { (scope == nil || $0.key.scope == scope) && shouldRemove($0.value.cookie) }.keys
        shared.state.withLock { $0.remove(keys, limit: limit) }
    }
}
