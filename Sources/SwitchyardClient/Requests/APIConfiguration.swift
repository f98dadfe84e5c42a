public import SwitchyardHTTP
public import SwitchyardServices

/// The description of one call of an API, without the server that responds to it.
///
/// A configuration is a value. The client copies it when it dispatches the call, so later changes do not affect the
/// request.
///
/// ### Use
///
///     var configuration = APIConfiguration.get("topics", query: ["page": page])
///     configuration.timeout = .seconds(10)
///
/// ### Customize
/// Attach values of your own, for interceptors or other parts of the app, under a ``ConfigurationKey``:
///
///     enum ScreenName: ConfigurationKey { static let defaultValue = "" }
///     configuration[ScreenName.self] = "home"
public struct APIConfiguration: Sendable {
    @usableFromInline struct Parts: Sendable {
        @usableFromInline var path: String
        @usableFromInline var method: HTTPMethod
        @usableFromInline var query: Parameters
        @usableFromInline var parameters = Parameters()
        @usableFromInline var body: RequestBody
        @usableFromInline var headers: HTTPHeaders
        @usableFromInline var server = ServerChoice.automatic
        @usableFromInline var idempotencyKey = IdempotencyKey.none
        @usableFromInline var tags: Set<String> = []
        /// The rarely used settings, such as ``pathValues`` and ``prebuiltRequest``.
        @usableFromInline var rare: Boxed<RareConfiguration>?
        var parameterDestination = ParameterDestination.automatic
        var packedTimeout: PackedDuration
        var packedConnectTimeout = PackedDuration(nil)
        var packedIdleTimeout = PackedDuration(nil)
        var packedCacheLifetime = PackedDuration(nil)
        @usableFromInline var responseBodyLimit: Int?
        var delivery = HTTPRequest.Delivery.whole
        @usableFromInline var usesCDN = false
        @usableFromInline var upgradesToHTTPS = false
        @usableFromInline var mayBeRepeated: Bool?
        @usableFromInline var usesCookies = true
        @usableFromInline var allowsUnusualBody = false
        @usableFromInline var priority = RequestPriority.normal
    }

    /// The path below the base URL, or an absolute URL that replaces the base URL.
    ///
    /// An empty path is the base URL itself. The table of `PathJoin` shows how slashes, queries, spaces and `..` are
    /// handled. Text in braces, as in `users/{id}`, is a placeholder (RFC 6570), whose value comes from
    /// ``pathValues``.
    public var path: String {
        @inlinable get { parts.value.path }
        @inlinable _modify { yield &parts.value.path }
    }
    /// The HTTP method, GET by default.
    public var method: HTTPMethod {
        @inlinable get { parts.value.method }
        @inlinable _modify { yield &parts.value.method }
    }
    /// The parameters of the URL, appended after a query that the base URL or the path already has.
    public var query: Parameters {
        @inlinable get { parts.value.query }
        @inlinable _modify { yield &parts.value.query }
    }
    /// The parameters that go into the query or the body, depending on the method.
    public var parameters: Parameters {
        @inlinable get { parts.value.parameters }
        @inlinable _modify { yield &parts.value.parameters }
    }
    /// The part of the request that ``parameters`` go into.
    ///
    /// By default, the method determines it.
    package var parameterDestination: ParameterDestination {
        get { parts.value.parameterDestination }
        set { parts.value.parameterDestination = newValue }
    }
    /// The body, none by default.
    public var body: RequestBody {
        @inlinable get { parts.value.body }
        @inlinable _modify { yield &parts.value.body }
    }
    /// The header fields of this request, which replace common fields of the same name.
    ///
    /// On Linux, if the call sets its own `Accept-Encoding`, it receives the body as the server sent it, compressed if
    /// `Content-Encoding` says so.
    public var headers: HTTPHeaders {
        @inlinable get { parts.value.headers }
        @inlinable _modify { yield &parts.value.headers }
    }

    /// The time that the call may take in total, including all attempts and waiting.
    ///
    /// If `nil`, the client's default applies: 60 s unless ``RequestGenerator/timeouts`` sets another. The default
    /// bounds only the head of a streamed response, and it does not bound uploads and downloads.
    public var timeout: Duration? {
        get { parts.value.packedTimeout.value }
        set { parts.value.packedTimeout = PackedDuration(newValue) }
    }
    /// The maximum time for opening a connection.
    ///
    /// If `nil`, the client's default applies. If the client sets none, the transport's default applies.
    public var connectTimeout: Duration? {
        get { parts.value.packedConnectTimeout.value }
        set { parts.value.packedConnectTimeout = PackedDuration(newValue) }
    }
    /// The maximum time without any bytes sent or received on the connection.
    ///
    /// If `nil`, the client's default applies, which is no limit unless set. Without a limit, uploads and downloads
    /// still time out after 60 s of idleness.
    public var idleTimeout: Duration? {
        get { parts.value.packedIdleTimeout.value }
        set { parts.value.packedIdleTimeout = PackedDuration(newValue) }
    }
    /// The maximum size of the response body, in bytes after decompression.
    ///
    /// If `nil`, the client's default applies, which is no limit unless set.
    public var responseBodyLimit: Int? {
        @inlinable get { parts.value.responseBodyLimit }
        @inlinable _modify { yield &parts.value.responseBodyLimit }
    }
    /// The way the response's body is delivered, in one piece by default.
    package var delivery: HTTPRequest.Delivery {
        get { parts.value.delivery }
        set { parts.value.delivery = newValue }
    }
    /// The time for which the response may be served from the cache (`cache.lifetime`).
    package var cacheLifetime: Duration? {
        get { parts.value.packedCacheLifetime.value }
        set { parts.value.packedCacheLifetime = PackedDuration(newValue) }
    }

    /// The server to which the request is sent.
    ///
    /// By default, the client chooses the server.
    public var server: ServerChoice {
        @inlinable get { parts.value.server }
        @inlinable _modify { yield &parts.value.server }
    }
    /// Whether the call uses a content delivery network, `false` by default.
    ///
    /// If `true`, the base URL is ``cdnURL`` or, if ``cdnURL`` is `nil`, the base URL of the server's content delivery
    /// network. If the server has no content delivery network, the server's own base URL is used.
    public var usesCDN: Bool {
        @inlinable get { parts.value.usesCDN }
        @inlinable _modify { yield &parts.value.usesCDN }
    }
    /// Whether a base URL with http is changed to https, `false` by default.
    ///
    /// A base URL with https is not changed. An explicit port 80 is removed, and other ports are kept.
    public var upgradesToHTTPS: Bool {
        @inlinable get { parts.value.upgradesToHTTPS }
        @inlinable _modify { yield &parts.value.upgradesToHTTPS }
    }
    /// The key by which a server recognizes a repeated write request, none by default.
    ///
    /// With a key, the request may be sent again at any time, and to several servers at the same time. The servers must
    /// therefore share the keys that they have received. Otherwise, a server that was paused executes its copy of the
    /// request when it resumes, possibly after a newer write request.
    public var idempotencyKey: IdempotencyKey {
        @inlinable get { parts.value.idempotencyKey }
        @inlinable _modify { yield &parts.value.idempotencyKey }
    }
    /// Whether the request may be sent more than once.
    ///
    /// If `nil` (the default), the method and the idempotency key decide. Set it to `true` for a POST that only reads,
    /// and to `false` for a GET that has side effects. If `true`, two servers may receive a write request at the same
    /// time. A server that was paused may execute its copy when it resumes, and overwrite the result of a newer write
    /// request.
    public var mayBeRepeated: Bool? {
        @inlinable get { parts.value.mayBeRepeated }
        @inlinable _modify { yield &parts.value.mayBeRepeated }
    }
    /// Whether the call sends the cookies in ``RequestGenerator/cookies`` and stores the cookies that it receives
    /// there, `true` by default.
    public var usesCookies: Bool {
        @inlinable get { parts.value.usesCookies }
        @inlinable _modify { yield &parts.value.usesCookies }
    }
    /// Whether GET and HEAD may have a body, `false` by default.
    ///
    /// If `false`, such a request is an error.
    public var allowsUnusualBody: Bool {
        @inlinable get { parts.value.allowsUnusualBody }
        @inlinable _modify { yield &parts.value.allowsUnusualBody }
    }
    /// The priority of the request among the requests that wait at a limit, normal by default.
    public var priority: RequestPriority {
        @inlinable get { parts.value.priority }
        @inlinable _modify { yield &parts.value.priority }
    }
    /// The tags by which requests can be found and cancelled together.
    public var tags: Set<String> {
        @inlinable get { parts.value.tags }
        @inlinable _modify { yield &parts.value.tags }
    }

    var packedTimeout: PackedDuration { parts.value.packedTimeout }
    var packedConnectTimeout: PackedDuration { parts.value.packedConnectTimeout }
    var packedIdleTimeout: PackedDuration { parts.value.packedIdleTimeout }

    /// The settings that the app makes.
    ///
    /// They are in one copy-on-write box, because a call passes its configuration through many functions. The other
    /// properties change during a call, so they are outside the box.
    @usableFromInline var parts: CopyOnWrite<Parts>
    /// The value of `Accept` for the media types that the response's decoder accepts, or `nil` if it accepts any type.
    ///
    /// This value is sent only if neither the call nor the client sets `Accept`.
    package var acceptedTypes: String?
    /// The user and environment that the call belongs to.
    ///
    /// The value is `nil` until the call is made. It stays `nil` for a client without credentials, users and cookies
    /// that has a single environment.
    package var callOwner: CallOwner?

    /// Creates a configuration.
    ///
    /// All other settings are properties.
    ///
    /// - Parameters:
    ///   - path: The path below the base URL, or an absolute URL.
    ///   - method: The method, GET by default.
    ///   - query: The parameters of the URL.
    ///   - body: The body, none by default.
    ///   - headers: The header fields.
    ///   - timeout: The time that the call may take in total. If `nil`, the client's default applies.
    public init(
        path: String = "",
        method: HTTPMethod = .get,
        query: Parameters = Parameters(),
        body: RequestBody = .none,
        headers: HTTPHeaders = HTTPHeaders(),
        timeout: Duration? = nil
    ) {
        parts = CopyOnWrite(
            Parts(
                path: path,
                method: method,
                query: query,
                body: body,
                headers: headers,
                packedTimeout: PackedDuration(timeout)
            )
        )
    }

    /// The rule for sending the request again.
    ///
    /// The rule is determined by ``mayBeRepeated`` if set, otherwise by the method and the ``idempotencyKey``.
    ///
    /// Failover, hedging, retry policies, interceptors, transfers and transports follow this rule. An unsafe request
    /// (POST, PUT, PATCH, DELETE) without an idempotency key is never sent to two servers at the same time, and it is
    /// not sent again while an earlier copy may still be executed. For a ``prebuiltRequest``, its own method and its
    /// own `mayBeRepeated` decide, and the configuration's idempotency key is ignored.
    package var resendRule: ResendRule {
        if let request = rare?.value.prebuiltRequest {
            return ResendRule(request.method, mayBeRepeated: mayBeRepeated ?? request.mayBeRepeated)
        }
        return ResendRule(method, mayBeRepeated: mayBeRepeated, hasIdempotencyKey: idempotencyKey != .none)
    }

    /// Returns the rule for sending the request again with another method, which a modifier or a transform has set.
    func resendRule(sending method: HTTPMethod) -> ResendRule {
        guard !method.isSafe, method != sentMethod else { return resendRule }
        let prebuilt = rare?.value.prebuiltRequest
        return ResendRule(
            method,
            mayBeRepeated: mayBeRepeated ?? prebuilt?.mayBeRepeated,
            hasIdempotencyKey: prebuilt == nil && idempotencyKey != .none
        )
    }

    /// Whether sending the request twice in a row has the same effect as sending it once.
    ///
    /// If ``mayBeRepeated`` is set, it decides. Otherwise the request is idempotent if its method is idempotent (RFC
    /// 9110 section 9.2.2) or if it has an ``idempotencyKey``. Idempotency alone does not allow the request to be sent
    /// again: see `resendRule`. A ``prebuiltRequest`` does not carry the configuration's key, so its own method alone
    /// decides.
    package var isIdempotent: Bool {
        if let mayBeRepeated { return mayBeRepeated }
        if let request = rare?.value.prebuiltRequest { return request.method.isIdempotent }
        return method.isIdempotent || idempotencyKey != .none
    }

    /// The media types that the response's decoder accepts, or `nil` if the call sets `Accept` itself.
    package var typesOfReader: String? { ownHeaders["Accept"] == nil ? acceptedTypes : nil }

    /// Whether the response may be cached, because ``cacheLifetime`` is above zero.
    package var usesCache: Bool {
        cacheLifetime.map { $0 > .zero } ?? false
    }

    /// Whether the request may change something on the server.
    ///
    /// This is the case if its method is not safe, or if the caller has set ``mayBeRepeated`` to `false`.
    package var hasEffect: Bool { !sentMethod.isSafe || resendRule == .onlyIfUnsent }

    /// Returns a copy whose values are fixed for all attempts of one dispatch.
    ///
    /// An automatic ``idempotencyKey`` is replaced with a random key.
    package func snapshot() -> APIConfiguration {
        guard idempotencyKey == .automatic else { return self }
        var copy = self
        copy.idempotencyKey = .random()
        return copy
    }
}

extension APIConfiguration: CustomStringConvertible {
    /// The method and the path on one line, with credentials redacted and without parameters, header fields and body.
    public var description: String { line(.standard) }

    /// Returns the method and the path as one line of a log.
    package func line(_ redaction: Redaction) -> String { "\(sentMethod.name) \(redaction.url(place))" }
}

extension APIConfiguration: RedactedDescribable {}

/// The values that are sent, which come from ``APIConfiguration/prebuiltRequest`` if it is set.
extension APIConfiguration {
    package var sentMethod: HTTPMethod { rare?.value.prebuiltRequest?.method ?? method }

    /// The path, or the URL of a prebuilt request.
    package var place: String { rare?.value.prebuiltRequest?.url.text ?? path }

    /// The call's own header fields.
    package var ownHeaders: HTTPHeaders { rare?.value.prebuiltRequest?.headers ?? headers }

    /// Sets a header field of the call, and of its prebuilt request if there is one.
    package mutating func setField(_ name: String, _ value: String) {
        headers.set(name, value)
        guard var request = prebuiltRequest else { return }
        request.headers.set(name, value)
        prebuiltRequest = request
    }

    /// Whether the path is an absolute URL with scheme and host, which belongs to no server of the service.
    var hasAbsoluteURL: Bool { URLParts.areAbsolute(in: path) }

    /// Whether the client may choose among the servers of the service.
    ///
    /// The client may not choose if the call itself names a server or a URL.
    package var leavesChoice: Bool {
        guard case .automatic = server, !hasAbsoluteURL else { return false }
        guard let rare else { return true }
        return rare.value.prebuiltRequest == nil && !(usesCDN && rare.value.cdnURL != nil)
    }
}

/// A key for a value of your own in an ``APIConfiguration``.
public protocol ConfigurationKey {
    /// The type of the value.
    associatedtype Value: Sendable
    /// The value of a configuration in which the app has set none.
    static var defaultValue: Value { get }
}

/// A key for a setting whose type is declared in a module above the client.
///
/// The setting cannot be a stored property, because its type refers to configurations. It does not count as a value
/// that the app has attached with a ``ConfigurationKey``.
protocol ConfigurationSetting {
    /// The type of the setting.
    associatedtype Value: Sendable
    /// The value of a configuration in which no value has been set.
    static var defaultValue: Value { get }
}

extension APIConfiguration {
    /// The choice of the server for a request.
    public enum ServerChoice: Sendable, Hashable {
        /// The server that the service's switching has chosen.
        case automatic
        /// The server of that name in the service, without failover to other servers.
        case named(String)
        /// A base URL outside the service's list, which takes no part in switching.
        case baseURL(RequestURL)
    }
}

/// The part of a request that `APIConfiguration.parameters` go into.
package enum ParameterDestination: Sendable, Hashable {
    /// The query for GET, HEAD and DELETE (or for `RequestGenerator.queryMethods` if set), and a form body for other
    /// methods.
    case automatic
    /// The query.
    case query
    /// A form body, or the call's own form or multipart body if it has one.
    case body
}
