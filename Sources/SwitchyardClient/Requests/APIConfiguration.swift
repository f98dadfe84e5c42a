import Foundation
public import SwitchyardHTTP
public import SwitchyardServices

/// Everything that describes one call of an API, apart from the server that will answer it.
///
/// A configuration is a value: the client takes a copy when it dispatches, and later changes do not reach the request.
///
/// ### Use
///
///     var configuration = APIConfiguration(path: "topics", query: ["page": page])
///     configuration.cacheLifetime = .seconds(60)
///
/// ### Customise
/// Attach values of your own, for interceptors or other layers, under a ``ConfigurationKey``:
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
        /// What few calls set; see ``pathValues``, ``prebuiltRequest`` and their like.
        @usableFromInline var rare: Boxed<RareConfiguration>?
    }

    /// The path below the base URL, or an absolute URL that takes its place; empty for the base URL itself.
    ///
    /// The table of `PathJoin` says what becomes of slashes, queries, spaces and `..`. What stands in braces is a
    /// placeholder of a ``/SwitchyardHTTP/URLTemplate`` for ``pathValues``: `users/{id}`.
    public var path: String {
        @inlinable get { parts.value.path }
        @inlinable _modify { yield &parts.value.path }
    }
    /// The method; GET unless set.
    public var method: HTTPMethod {
        @inlinable get { parts.value.method }
        @inlinable _modify { yield &parts.value.method }
    }
    /// Parameters of the URL, appended behind a query that base or path have already.
    public var query: Parameters {
        @inlinable get { parts.value.query }
        @inlinable _modify { yield &parts.value.query }
    }
    /// Parameters whose place follows from the method, see ``parameterDestination``.
    public var parameters: Parameters {
        @inlinable get { parts.value.parameters }
        @inlinable _modify { yield &parts.value.parameters }
    }
    /// Where ``parameters`` go; by the method unless set.
    public var parameterDestination = ParameterDestination.automatic
    /// The body; none unless set.
    public var body: RequestBody {
        @inlinable get { parts.value.body }
        @inlinable _modify { yield &parts.value.body }
    }
    /// Header fields of this request; they replace common ones of the same name.
    ///
    /// With an `Accept-Encoding` of its own on Linux a call gets the body as the server sent it: compressed, where
    /// `Content-Encoding` says so.
    public var headers: HTTPHeaders {
        @inlinable get { parts.value.headers }
        @inlinable _modify { yield &parts.value.headers }
    }

    /// How long the call may take in all, attempts and waiting included; the client's default, 60 s unless
    /// ``RequestGenerator/timeouts`` say otherwise, when `nil`.
    ///
    /// Of a stream the default bounds the head of the answer alone, and uploads and downloads it does not bound.
    public var timeout: Duration? {
        get { packedTimeout.value }
        set { packedTimeout = PackedDuration(newValue) }
    }
    /// How long a connection may take to come about; the client's default, that of the transport unless set, when `nil`.
    public var connectTimeout: Duration? {
        get { packedConnectTimeout.value }
        set { packedConnectTimeout = PackedDuration(newValue) }
    }
    /// How long the other side may pause, in taking the body and in answering; the client's default, no limit of its own
    /// unless set, when `nil`.
    ///
    /// Uploads and downloads give up after 60 s then.
    public var idleTimeout: Duration? {
        get { packedIdleTimeout.value }
        set { packedIdleTimeout = PackedDuration(newValue) }
    }
    /// The largest response body in bytes that is accepted, after decompression; the client's default, no limit unless set,
    /// when `nil`.
    public var responseBodyLimit: Int?
    /// How the response's body is handed over; in one piece unless set.
    public var delivery = HTTPRequest.Delivery.whole
    /// How long the answer may be served from the cache; `nil` or nothing above zero is no caching, the default.
    ///
    /// It bounds what the call takes, too: an answer that another call stored for longer is fresh to this one only while
    /// it is younger than this.
    public var cacheLifetime: Duration? {
        get { packedCacheLifetime.value }
        set { packedCacheLifetime = PackedDuration(newValue) }
    }

    /// Which server answers; the client's choice unless set.
    public var server: ServerChoice {
        @inlinable get { parts.value.server }
        @inlinable _modify { yield &parts.value.server }
    }
    /// Whether a content delivery network is used: ``cdnURL``, else the server's, else the base URL itself; off unless
    /// set.
    public var usesCDN = false
    /// Whether a base URL with http is asked over https; off unless set.
    ///
    /// An https base stays as it is, an explicit port 80 is dropped, other ports stay.
    public var upgradesToHTTPS = false
    /// The key by which a server recognises a write that it has seen already; none unless set.
    ///
    /// With a key the request may be sent again at any time, and to several servers at once
    /// (``/SwitchyardHTTP/ResendRule/anytime``). The servers have to share what they know of keys. A paused server that
    /// does not recognise the key executes its copy late, after a newer write.
    public var idempotencyKey: IdempotencyKey {
        @inlinable get { parts.value.idempotencyKey }
        @inlinable _modify { yield &parts.value.idempotencyKey }
    }
    /// Whether the request may be sent more than once; follows from method and key when `nil`, the default.
    ///
    /// Set it to `true` for a POST that only reads, to `false` for a GET that does not. With `true` a write may be at two
    /// servers at once. A paused server may execute its copy later, after a newer write, and undo that one.
    public var mayBeRepeated: Bool?
    /// Whether cookies of the generator's jar are sent and stored; on unless set.
    public var usesCookies = true
    /// Whether GET and HEAD may have a body; off unless set, then such a request is an error.
    public var allowsUnusualBody = false
    /// How urgent the request is among others that wait; normal unless set.
    public var priority = RequestPriority.normal
    /// Names by which requests can be found and cancelled together.
    public var tags: Set<String> {
        @inlinable get { parts.value.tags }
        @inlinable _modify { yield &parts.value.tags }
    }

    private(set) var packedTimeout: PackedDuration
    private(set) var packedConnectTimeout = PackedDuration(nil)
    private(set) var packedIdleTimeout = PackedDuration(nil)
    private var packedCacheLifetime = PackedDuration(nil)

    /// What holds references, behind one: a call hands its configuration from layer to layer.
    @usableFromInline var parts: CopyOnWrite<Parts>
    /// Whether the client's rules have been applied; they are applied once.
    var isRuled = false
    /// What the reader of the answer takes, as the value of `Accept`; anything when `nil`.
    ///
    /// It is sent where neither the call nor the client says what is accepted.
    package var acceptedTypes: String?

    /// Creates a configuration; everything else is set through the properties.
    ///
    /// - Parameters:
    ///   - path: The path below the base URL, or an absolute URL.
    ///   - method: The method; GET unless given.
    ///   - query: Parameters of the URL.
    ///   - body: The body; none unless given.
    ///   - headers: Header fields.
    ///   - timeout: How long the call may take in all; the client's default unless given.
    public init(
        path: String = "",
        method: HTTPMethod = .get,
        query: Parameters = [:],
        body: RequestBody = .none,
        headers: HTTPHeaders = [:],
        timeout: Duration? = nil
    ) {
        parts = CopyOnWrite(Parts(path: path, method: method, query: query, body: body, headers: headers))
        packedTimeout = PackedDuration(timeout)
    }

    /// When the request may be sent again: by ``mayBeRepeated``, else by the method that is sent or because of an
    /// ``idempotencyKey``.
    ///
    /// Failover, hedging, retry policies, interceptors, transfers and transports keep to it. An unsafe request (POST, PUT,
    /// PATCH, DELETE) without an idempotency key is never at two servers at once, and it is not sent again while an
    /// earlier copy may still be executed. A ``prebuiltRequest`` has no key of the configuration's: there its own
    /// method and its own `mayBeRepeated` count.
    public var resendRule: ResendRule {
        if let request = rare?.value.prebuiltRequest {
            return ResendRule(request.method, mayBeRepeated: mayBeRepeated ?? request.mayBeRepeated)
        }
        return ResendRule(method, mayBeRepeated: mayBeRepeated, hasIdempotencyKey: idempotencyKey != .none)
    }

    /// The rule of the call when a modifier or a reformer has made a request of another method of it.
    func resendRule(sending method: HTTPMethod) -> ResendRule {
        guard !method.isSafe, method != sentMethod else { return resendRule }
        let prebuilt = rare?.value.prebuiltRequest
        return ResendRule(
            method,
            mayBeRepeated: mayBeRepeated ?? prebuilt?.mayBeRepeated,
            hasIdempotencyKey: prebuilt == nil && idempotencyKey != .none
        )
    }

    /// Whether sending the request twice in a row has the effect of sending it once.
    ///
    /// So by ``mayBeRepeated``, else by the method (RFC 9110 section 9.2.2) or because of an ``idempotencyKey``. That
    /// alone does not allow to send it again: see ``resendRule``. A ``prebuiltRequest`` carries no key of the
    /// configuration's: there the method alone counts, its own.
    public var isIdempotent: Bool {
        if let mayBeRepeated { return mayBeRepeated }
        if let request = rare?.value.prebuiltRequest { return request.method.isIdempotent }
        return method.isIdempotent || idempotencyKey != .none
    }

    /// The types that are asked for because of the answer's reader; `nil` where the call says itself what it accepts.
    package var typesOfReader: String? { ownHeaders["Accept"] == nil ? acceptedTypes : nil }

    /// Whether the answer may be cached at all: ``cacheLifetime`` is above zero.
    public var usesCache: Bool {
        cacheLifetime.map { $0 > .zero } ?? false
    }

    /// Whether carrying it out changes anything: a method that is not safe, or the caller's word that it must not be
    /// repeated.
    var hasEffect: Bool { !sentMethod.isSafe || resendRule == .onlyIfUnsent }

    /// Returns the configuration as it is dispatched: what has to be the same in every attempt is fixed.
    ///
    /// An automatic ``idempotencyKey`` becomes a given one.
    public func snapshot() -> APIConfiguration {
        guard idempotencyKey == .automatic else { return self }
        var copy = self
        copy.idempotencyKey = .random()
        return copy
    }
}

extension APIConfiguration: CustomStringConvertible {
    /// Method and path, in one line, with credentials hidden; no parameter, no header field and no body.
    public var description: String { line(.standard) }

    /// The line for a log.
    package func line(_ redaction: Redaction) -> String { "\(sentMethod.name) \(redaction.url(place))" }
}

extension APIConfiguration: Discreet {}

/// What is sent: that of a ``APIConfiguration/prebuiltRequest``, where there is one.
extension APIConfiguration {
    /// The method that is sent.
    package var sentMethod: HTTPMethod { rare?.value.prebuiltRequest?.method ?? method }

    /// Where it is sent: the path, or the URL.
    package var place: String { rare?.value.prebuiltRequest?.url.text ?? path }

    /// The call's own header fields.
    package var ownHeaders: HTTPHeaders { rare?.value.prebuiltRequest?.headers ?? headers }

    /// Sets a header field of the call's own.
    package mutating func setField(_ name: String, _ value: String) {
        headers.set(name, value)
        guard var request = prebuiltRequest else { return }
        request.headers.set(name, value)
        prebuiltRequest = request
    }

    /// Whether the path is an absolute URL, with scheme and host: then it belongs to no server of the service.
    private var hasAbsoluteURL: Bool { URLParts.areAbsolute(in: path) }

    /// Whether the servers of the service are to be chosen from: what the call says names no place of its own.
    package var leavesChoice: Bool {
        guard case .automatic = server, !hasAbsoluteURL else { return false }
        guard let rare else { return true }
        return rare.value.prebuiltRequest == nil && !(usesCDN && rare.value.cdnURL != nil)
    }
}

/// A place for a value of your own in an ``APIConfiguration``.
public protocol ConfigurationKey {
    /// The type of the value.
    associatedtype Value: Sendable
    /// The value where none was set.
    static var defaultValue: Value { get }
}

/// A place for a setting whose type stands on a floor above: it names configurations itself.
///
/// It is no value of the app's own, and so not among those of ``ConfigurationKey``.
protocol ConfigurationSetting {
    /// The type of the setting.
    associatedtype Value: Sendable
    /// What holds where nothing was set.
    static var defaultValue: Value { get }
}

/// Which server answers a request.
public enum ServerChoice: Sendable, Hashable {
    /// The server that the service's switching has chosen.
    case automatic
    /// The server of that name in the service; it is not switched away from.
    case named(String)
    /// A base URL outside the service's list; it takes no part in switching.
    case baseURL(RequestURL)
}

/// Where the parameters of a request go that are not said to be query or body.
public enum ParameterDestination: Sendable, Hashable {
    /// Into the query for GET, HEAD and DELETE (the set is the generator's), into a form body for other methods.
    case automatic
    /// Into the query.
    case query
    /// Into a form body; beside a form or multipart body, into that.
    case body
}

/// The key by which a server recognises a write that it has seen already (draft-ietf-httpapi-idempotency-key-header).
///
/// With a key, a write may be sent again after any failure: the server answers what it answered the first time.
public enum IdempotencyKey: Sendable, Hashable {
    /// No key.
    case none
    /// A random key, the same for every attempt of a call.
    case automatic
    /// A key of the caller's, for instance one that was stored with the write and outlives the app.
    case given(String)

    /// A new key.
    static func random() -> IdempotencyKey {
        .given(UUID().uuidString)
    }

    /// The key to send; a new one each time while it is automatic.
    package var value: String? {
        switch self {
        case .none: nil
        case .automatic: UUID().uuidString
        case .given(let key): key
        }
    }
}
