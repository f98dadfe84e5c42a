public import SwitchyardHTTP
public import SwitchyardServices

/// The rarely used settings of a call.
///
/// The settings are stored in one reference-counted box, which a usual call does not have.
@usableFromInline struct RareConfiguration: Sendable {
    var pathValues = Parameters()
    var parameterOptions: ParameterEncodingOptions?
    var cdnURL: RequestURL?
    var networkAccess = HTTPRequest.NetworkAccess()
    var traffic = HTTPRequest.Traffic.standard
    var tls: TLSConfiguration?
    var apiVersion: String?
    var modifier: (@Sendable (inout HTTPRequest) throws -> Void)?
    var prebuiltRequest: HTTPRequest?
    var urlRule: URLRule?
    var throttle: BodyThrottle?
    @usableFromInline var attachments: [ObjectIdentifier: any Sendable] = [:]
    /// The values of each ``ConfigurationSetting``, by the setting's type.
    var settings: [ObjectIdentifier: any Sendable] = [:]
    var sharing = RequestCoalescing.off
    var stubResponse: HTTPResponse?
    var redirects: RedirectPolicy?
    var confirmation: StoredConfirmation?
    var credential: Credential?
    var usesCredentials = true
    var allowsAnonymous: Bool?
    var session: String?
    var authorization: RequestAuthorization?
    var outlivesLogout = false
    var continuesAtServer = false
}

extension APIConfiguration {
    /// The rarely used settings, or `nil` if none is set.
    @inlinable var rare: Boxed<RareConfiguration>? { parts.value.rare }

    @usableFromInline mutating func change(_ change: (inout RareConfiguration) -> Void) {
        var value = rare?.value ?? RareConfiguration()
        change(&value)
        parts.value.rare = Boxed(value)
    }

    /// The values of the placeholders in ``path``.
    ///
    /// A value is percent-encoded for its position in the path. A missing value is an error. An empty value is an error
    /// if it would leave an empty path segment.
    public var pathValues: Parameters {
        get { rare?.value.pathValues ?? Parameters() }
        set { change { $0.pathValues = newValue } }
    }

    /// The options for encoding ``query`` and ``parameters``.
    ///
    /// If `nil` (the default), the generator's options apply.
    public var parameterOptions: ParameterEncodingOptions? {
        get { rare?.value.parameterOptions }
        set { change { $0.parameterOptions = newValue } }
    }

    /// The base URL of a content delivery network for this call alone.
    ///
    /// If `nil` (the default), the server's content delivery network is used. A response from this network does not
    /// count for or against any server of the service, and the call does not fail over to the service's servers.
    public var cdnURL: RequestURL? {
        get { rare?.value.cdnURL }
        set { change { $0.cdnURL = newValue } }
    }

    /// The kinds of networks that the call may use, all by default.
    public var networkAccess: HTTPRequest.NetworkAccess {
        get { rare?.value.networkAccess ?? HTTPRequest.NetworkAccess() }
        set { change { $0.networkAccess = newValue } }
    }

    /// The purpose of the call's traffic, standard by default.
    public var traffic: HTTPRequest.Traffic {
        get { rare?.value.traffic ?? .standard }
        set { change { $0.traffic = newValue } }
    }

    /// The trusted certificates and the client identity of this call, in place of the transport's configuration.
    ///
    /// If `nil` (the default), the transport's configuration applies. The setting also applies after redirects. Calls
    /// with different TLS configurations share neither stored responses nor transfers.
    public var tls: TLSConfiguration? {
        get { rare?.value.tls }
        set { change { $0.tls = newValue } }
    }

    /// A path segment between the base URL and the path, such as `v2`.
    ///
    /// If `nil` (the default), the generator's version applies. If empty, there is no version segment.
    public var apiVersion: String? {
        get { rare?.value.apiVersion }
        set { change { $0.apiVersion = newValue } }
    }

    /// A closure that changes the finished request before the generator's own modifiers run.
    ///
    /// If the closure throws, the call ends with the error. If the closure changes a safe method to an unsafe one, the
    /// request is sent again only as a request with the new method may be.
    public var modifier: (@Sendable (inout HTTPRequest) throws -> Void)? {
        get { rare?.value.modifier }
        set { change { $0.modifier = newValue } }
    }

    /// A complete request that is sent as it is, in place of the request that the configuration describes.
    ///
    /// Timeouts and limits that the request does not set come from the configuration, and so do all settings that are
    /// not part of a request, such as tags and the priority. The request is sent only to its own URL, never to another
    /// server. Its method determines whether it may be sent again, unless ``mayBeRepeated`` is set. The default is
    /// `nil`.
    public var prebuiltRequest: HTTPRequest? {
        get { rare?.value.prebuiltRequest }
        set { change { $0.prebuiltRequest = newValue } }
    }

    /// Whether any value is attached under a ``ConfigurationKey``.
    var hasAttachedValues: Bool { rare.map { !$0.value.attachments.isEmpty } ?? false }

    /// A closure that returns the URL of this call, in place of the generator's URL rule.
    ///
    /// The default is `nil`.
    public var urlRule: (@Sendable (_ base: RequestURL, _ configuration: APIConfiguration) throws -> RequestURL?)? {
        get { rare?.value.urlRule }
        set { change { $0.urlRule = newValue } }
    }

    /// The maximum rate at which the body is sent.
    ///
    /// If `nil` (the default), the body is sent as fast as the connection accepts it.
    public var throttle: BodyThrottle? {
        get { rare?.value.throttle }
        set { change { $0.throttle = newValue } }
    }

    /// Whether the call shares one transfer with other calls that make the same request at the same time.
    ///
    /// The default is `RequestCoalescing.off`.
    public var sharing: RequestCoalescing {
        get { rare?.value.sharing ?? .off }
        set { change { $0.sharing = newValue } }
    }

    /// A response that the call returns without contacting a server.
    ///
    /// Use it for development without a server, or as a sample in the description of a call. The response is validated,
    /// decoded and stored like a response from a server. The default is `nil`.
    public var stubResponse: HTTPResponse? {
        get { rare?.value.stubResponse }
        set { change { $0.stubResponse = newValue } }
    }

    /// The policy for redirects.
    ///
    /// If `nil` (the default), the client's policy applies.
    public var redirects: RedirectPolicy? {
        get { rare?.value.redirects }
        set { change { $0.redirects = newValue } }
    }

    /// The stored response that a cache revalidates with this call, or `nil` if the call is no revalidation.
    package var confirmation: StoredConfirmation? {
        get { rare?.value.confirmation }
        set { change { $0.confirmation = newValue } }
    }

    /// Whether the call continues a transfer that the server named by ``APIConfiguration/server`` has begun, `false` by
    /// default.
    ///
    /// The server then gets the call even if, according to a new list, it no longer serves the call. The list
    /// determines only where transfers begin.
    package var continuesAtServer: Bool {
        get { rare?.value.continuesAtServer ?? false }
        set { change { $0.continuesAtServer = newValue } }
    }

    /// The credential of this call, in place of the client's credential.
    ///
    /// The client does not refresh this credential.
    public var credential: Credential? {
        get { rare?.value.credential }
        set { change { $0.credential = newValue } }
    }

    /// Whether the call carries the client's credentials, `true` by default.
    ///
    /// The call's own ``credential`` is sent even if this is `false`. Set this to `false` for a login, and for the call
    /// that refreshes the credentials. For a call that carries a credential only if there is one, use
    /// ``allowsAnonymous``.
    public var usesCredentials: Bool {
        get { rare?.value.usesCredentials ?? true }
        set { change { $0.usesCredentials = newValue } }
    }

    /// Whether the call is sent without a credential if the client's ``Credentials`` have none.
    ///
    /// Set this to `true` for a call that needs no login, such as a public list. If there is a credential, the call
    /// carries it nevertheless. There is no credential if no user has logged in yet, or if the service has refused to
    /// refresh it. If `nil` (the default), ``Credentials/Policy/allowsAnonymous`` applies.
    public var allowsAnonymous: Bool? {
        get { rare?.value.allowsAnonymous }
        set { change { $0.allowsAnonymous = newValue } }
    }

    /// The name of a session.
    ///
    /// With ``/SwitchyardServices/SelectionStrategy/sticky``, all calls of a session go to one server.
    ///
    /// If `nil` (the default), the order of preference applies. The name is not sent. The same name leads to the same
    /// server on every machine and in every run. If a server is out of service, its sessions move to other servers
    /// until it has recovered.
    public var session: String? {
        get { rare?.value.session }
        set { change { $0.session = newValue } }
    }

    /// The closure that adds credentials to the finished request.
    ///
    /// The closure is set again for each retry.
    var authorization: RequestAuthorization? {
        get { rare?.value.authorization }
        set { change { $0.authorization = newValue } }
    }

    /// Whether the call continues after its user has logged out, `false` by default.
    ///
    /// Use it for the logout request itself and for analytics. The call keeps the credential that was current when the
    /// call was made, even if another user has logged in since then. A credential of another user is never used or
    /// refreshed for the call.
    public var outlivesLogout: Bool {
        get { rare?.value.outlivesLogout ?? false }
        set { change { $0.outlivesLogout = newValue } }
    }

    /// Reads and writes the value of a setting whose type is declared in a module above the client.
    subscript<Setting: ConfigurationSetting>(setting setting: Setting.Type) -> Setting.Value {
        get { rare?.value.settings[ObjectIdentifier(setting)] as? Setting.Value ?? Setting.defaultValue }
        set { change { $0.settings[ObjectIdentifier(setting)] = newValue } }
    }

    /// The value that is attached under a key.
    public subscript<Key: ConfigurationKey>(key: Key.Type) -> Key.Value {
        @inlinable get {
            guard let rare, let value = rare.value.attachments[ObjectIdentifier(key)] else { return Key.defaultValue }
            return value as? Key.Value ?? Key.defaultValue
        }
        @inlinable set { change { $0.attachments[ObjectIdentifier(key)] = newValue } }
    }
}

/// A stored response that a cache revalidates: the cache has added conditional header fields to the request.
package struct StoredConfirmation: Sendable, Hashable {
    /// The names of the conditional header fields.
    private static let names = ["If-None-Match", "If-Modified-Since"]

    /// The final URL after the redirects of the stored response, or `nil` if there was no redirect.
    package var redirectedTo: String?

    package init(redirectedTo: String?) {
        self.redirectedTo = redirectedTo
    }

    /// Removes the conditional header fields from a redirected request, unless the request goes to the URL that the
    /// stored response came from.
    ///
    /// A validator is valid for its own URL only. The content of another URL may have the same date of last change (RFC
    /// 9110 section 15.4).
    func complete(_ request: inout HTTPRequest, afterRedirectOf configuration: APIConfiguration) {
        let isThere = request.url.normalForm == redirectedTo.flatMap { RequestURL($0)?.normalForm }
        for name in Self.names { request.headers[name] = isThere ? configuration.headers[name] : nil }
    }
}

/// Whether a call shares one transfer with other calls that make the same request at the same time.
public enum RequestCoalescing: Sendable, Hashable {
    /// Each call has its own transfer.
    case off
    /// Read requests for the same URL with the same header fields share one transfer, as long as the client's
    /// credentials and cookies do not change.
    ///
    /// Only a call whose method is safe (RFC 9110 section 9.2.1), that may be repeated, that has no body and that
    /// receives its response in one piece is shared. Any other call has its own transfer. A call also has its own
    /// transfer if the app's code takes part in making its request. Such code is a modifier, a URL rule, or an adapting
    /// interceptor of the call. Attached values (``ConfigurationKey``) count too, if the client has code that reads
    /// them. A call with limits, a retry policy or a retrying interceptor of its own has its own transfer too. Calls
    /// with different priorities, connect timeouts or idle timeouts share no transfer.
    case identical
    /// Calls with the same name share one transfer, even if their settings differ, as long as the client's credentials
    /// and cookies do not change.
    ///
    /// The caller guarantees that calls with the same name make the same request.
    case named(String)
}
