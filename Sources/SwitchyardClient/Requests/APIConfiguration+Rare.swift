public import SwitchyardHTTP
public import SwitchyardServices

/// What few calls set.
///
/// It is kept behind one reference, so that the copies of a configuration that each dispatch makes stay small.
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
    /// What the floors above keep here, see ``ConfigurationSetting``.
    var settings: [ObjectIdentifier: any Sendable] = [:]
    var sharing = TransferSharing.off
    var localAnswer: HTTPResponse?
    var redirects: RedirectPolicy?
    var confirmation: StoredConfirmation?
    var credential: Credential?
    var usesCredentials = true
    var allowsAnonymous: Bool?
    var session: String?
    var authorization: RequestAuthorization?
    var callOwner: CallOwner?
    var outlivesLogout = false
}

extension APIConfiguration {
    /// What few calls set; `nil` when nothing of it is set.
    @inlinable var rare: Boxed<RareConfiguration>? { parts.value.rare }

    @usableFromInline mutating func change(_ change: (inout RareConfiguration) -> Void) {
        var value = rare?.value ?? RareConfiguration()
        change(&value)
        parts.value.rare = Boxed(value)
    }

    /// The values of placeholders in ``path``, percent-encoded for their place; one that is missing is an error, and so is
    /// an empty one where it would leave a hole in the path.
    public var pathValues: Parameters {
        get { rare?.value.pathValues ?? Parameters() }
        set { change { $0.pathValues = newValue } }
    }

    /// How ``query`` and ``parameters`` are written; the generator's options when `nil`, the default.
    public var parameterOptions: ParameterEncodingOptions? {
        get { rare?.value.parameterOptions }
        set { change { $0.parameterOptions = newValue } }
    }

    /// The base URL of this call's own content delivery network; the server's when `nil`, the default.
    ///
    /// What comes from a network of the call's own says nothing about the service's servers, and they do not stand in
    /// for it.
    public var cdnURL: RequestURL? {
        get { rare?.value.cdnURL }
        set { change { $0.cdnURL = newValue } }
    }

    /// Which networks the call may use; all of them unless set.
    public var networkAccess: HTTPRequest.NetworkAccess {
        get { rare?.value.networkAccess ?? HTTPRequest.NetworkAccess() }
        set { change { $0.networkAccess = newValue } }
    }

    /// What the call is for; anything unless set.
    public var traffic: HTTPRequest.Traffic {
        get { rare?.value.traffic ?? .standard }
        set { change { $0.traffic = newValue } }
    }

    /// Whom this call trusts and how it identifies itself, in place of the transport's configuration; `nil` unless set.
    ///
    /// It holds wherever a redirect leads. An answer is stored and shared among calls of the same configuration only.
    public var tls: TLSConfiguration? {
        get { rare?.value.tls }
        set { change { $0.tls = newValue } }
    }

    /// A segment between base URL and path, such as `v2`; the generator's when `nil`, none when empty.
    public var apiVersion: String? {
        get { rare?.value.apiVersion }
        set { change { $0.apiVersion = newValue } }
    }

    /// Changes the finished request, before the generator's own modifiers; an error ends the call.
    ///
    /// A read that becomes a request of an unsafe method follows that method's ``/SwitchyardHTTP/ResendRule``.
    public var modifier: (@Sendable (inout HTTPRequest) throws -> Void)? {
        get { rare?.value.modifier }
        set { change { $0.modifier = newValue } }
    }

    /// A request that is sent as it is, in place of everything that describes one here; none unless set.
    ///
    /// Timeouts, limits and what concerns the dispatch still come from the configuration where the request has none. It
    /// goes where its URL leads and to no other server. Whether it may be repeated is said by its own method, unless
    /// ``mayBeRepeated`` says it.
    public var prebuiltRequest: HTTPRequest? {
        get { rare?.value.prebuiltRequest }
        set { change { $0.prebuiltRequest = newValue } }
    }

    /// Whether a value is attached under some key.
    var hasAttachedValues: Bool { rare.map { !$0.value.attachments.isEmpty } ?? false }

    /// Makes the URL of this call, in place of the generator's rule; none unless set.
    public var urlRule: URLRule? {
        get { rare?.value.urlRule }
        set { change { $0.urlRule = newValue } }
    }

    /// How slowly the body is sent; as fast as the connection takes it when `nil`, the default.
    public var throttle: BodyThrottle? {
        get { rare?.value.throttle }
        set { change { $0.throttle = newValue } }
    }

    /// Whether the call shares one transfer with others that ask the same at the same time; off unless set.
    public var sharing: TransferSharing {
        get { rare?.value.sharing ?? .off }
        set { change { $0.sharing = newValue } }
    }

    /// An answer that is taken in place of asking a server; none unless set.
    ///
    /// For development without a server, and as a sample beside the description of a call. It goes the way of every
    /// answer: it is checked, decoded and stored.
    public var localAnswer: HTTPResponse? {
        get { rare?.value.localAnswer }
        set { change { $0.localAnswer = newValue } }
    }

    /// What becomes of redirects; the client's policy when `nil`, the default.
    public var redirects: RedirectPolicy? {
        get { rare?.value.redirects }
        set { change { $0.redirects = newValue } }
    }

    /// What a cache has added conditions about; `nil` when it has added none.
    package var confirmation: StoredConfirmation? {
        get { rare?.value.confirmation }
        set { change { $0.confirmation = newValue } }
    }

    /// The credential of this call, in place of the client's; it is not renewed.
    public var credential: Credential? {
        get { rare?.value.credential }
        set { change { $0.credential = newValue } }
    }

    /// Whether the client's credentials go with the call; on unless set.
    ///
    /// Its own ``credential`` goes in any case. Off for a login, and for the call that renews them; a call that goes with a
    /// credential if there is one, and else without, says so by ``allowsAnonymous``.
    public var usesCredentials: Bool {
        get { rare?.value.usesCredentials ?? true }
        set { change { $0.usesCredentials = newValue } }
    }

    /// Whether the call goes without a credential when the client's ``Credentials`` have none to go with, as a public list
    /// does: nobody has logged in yet, or the service has refused to renew what there was.
    ///
    /// As long as there is a credential it goes with it. `nil`, the default, is what
    /// ``Credentials/Policy/allowsAnonymous`` says.
    public var allowsAnonymous: Bool? {
        get { rare?.value.allowsAnonymous }
        set { change { $0.allowsAnonymous = newValue } }
    }

    /// The name of the session, whose calls go to one server where the service selects
    /// ``/SwitchyardServices/SelectionStrategy/sticky``; `nil`, by the order of preference, unless set.
    ///
    /// It is not sent, and the same name leads to the same server on every machine and in every run. A server that is out
    /// of service loses its sessions to the others until it is back.
    public var session: String? {
        get { rare?.value.session }
        set { change { $0.session = newValue } }
    }

    /// What puts credentials into the finished request; set for each round.
    var authorization: RequestAuthorization? {
        get { rare?.value.authorization }
        set { change { $0.authorization = newValue } }
    }

    /// Whether the call goes on after its user has logged out; off unless set.
    ///
    /// For the logout request itself and for analytics. The call keeps the credential of the moment at which it was made,
    /// also when another user has logged in meanwhile. A credential of another user is never used or refreshed for it.
    public var outlivesLogout: Bool {
        get { rare?.value.outlivesLogout ?? false }
        set { change { $0.outlivesLogout = newValue } }
    }

    /// Whose call it is; `nil` until it is made, and for a client without credentials, users and cookies.
    package var callOwner: CallOwner? {
        get { rare?.value.callOwner }
        set { change { $0.callOwner = newValue } }
    }

    /// What a floor above keeps in the configuration.
    subscript<Setting: ConfigurationSetting>(setting setting: Setting.Type) -> Setting.Value {
        get { rare?.value.settings[ObjectIdentifier(setting)] as? Setting.Value ?? Setting.defaultValue }
        set { change { $0.settings[ObjectIdentifier(setting)] = newValue } }
    }

    /// The value attached under a key.
    public subscript<Key: ConfigurationKey>(key: Key.Type) -> Key.Value {
        @inlinable get {
            guard let rare, let value = rare.value.attachments[ObjectIdentifier(key)] else { return Key.defaultValue }
            return value as? Key.Value ?? Key.defaultValue
        }
        @inlinable set { change { $0.attachments[ObjectIdentifier(key)] = newValue } }
    }
}

/// A stored answer that a server is asked to confirm, by conditions that a cache has added to a request.
package struct StoredConfirmation: Sendable, Hashable {
    /// The fields that such a condition stands in.
    private static let names = ["If-None-Match", "If-Modified-Since"]

    /// The URL that redirects led to when the answer came; `nil` without any.
    package var redirectedTo: String?

    package init(redirectedTo: String?) {
        self.redirectedTo = redirectedTo
    }

    /// Lets a request after a redirect ask for confirmation where the stored answer came from, and nowhere else.
    ///
    /// Validators say nothing of any other URL: a content that another was last changed after is not the same one (RFC
    /// 9110 section 15.4).
    func complete(_ request: inout HTTPRequest, afterRedirectOf configuration: APIConfiguration) {
        let isThere = request.url.normalForm == redirectedTo.flatMap { RequestURL($0)?.normalForm }
        for name in Self.names { request.headers[name] = isThere ? configuration.headers[name] : nil }
    }
}

/// Whether a call shares one transfer with others that ask the same at the same time.
public enum TransferSharing: Sendable, Hashable {
    /// It has a transfer of its own.
    case off
    /// Reads of the same URL with the same header fields share one, unless the client's credentials or cookies have
    /// changed meanwhile.
    ///
    /// Only what is safe by its method, has no body and takes its answer in one piece is shared (RFC 9110 section
    /// 9.2.1); anything else has a transfer of its own. So has what code of the app's makes its request of: a modifier,
    /// a rule for the URL, an adapting interceptor of the call's own, and values of your own (``ConfigurationKey``) where
    /// the client has code that is shown them.
    case identical
    /// Calls of the same name share one, whatever they are, unless the client's credentials or cookies have changed
    /// meanwhile: it is the caller's word that they ask the same.
    case named(String)
}
