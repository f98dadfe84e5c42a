public import Foundation

/// Hides credentials in what is shown: logs, cURL commands, error descriptions, records of traffic.
///
/// Names stay, values become `***`. Every printer of the library uses this one value. It knows secrets by their names
/// (``headerNames``, ``parameterNames``, ``nameEndings``), wherever a name stands: in header fields, queries, fragments
/// and path parameters of URLs, forms, JSON, XML and plain text, and in URLs, forms and JSON within those, percent-encoded
/// or not. It knows others by their form, whatever they are called: what stands behind `Bearer`, `Basic` and other schemes,
/// JSON Web Tokens, PEM blocks, user and password of a URL, and opaque parts of a path behind a word such as `webhooks`.
///
/// What nests more than six levels deep is hidden as it is.
public struct Redaction: Sendable, Hashable {
    /// Names of header fields whose values are hidden, in lower case.
    public var headerNames: Set<String>
    /// Names of parameters (in queries, forms, JSON and the like) whose values are hidden, in lower case.
    ///
    /// One without hyphens and underscores stands for all spellings: `idtoken` for `id_token`, `id-token` and `idToken`.
    /// In the logs and records of answers that are JSON, a `code` of fewer than 22 characters is shown all the same: it is
    /// what the server says of the call, and too short for an authorization code (RFC 6749 section 10.10).
    public var parameterNames: Set<String>
    /// Words at whose end names of header fields and parameters are secret, in lower case and without separators.
    ///
    /// `apikey` stands for `X-Acme-Api-Key`, `stripe_api_key` and `myAPIKey`. One of fewer than five letters has to be a
    /// word of its own: `jwt` stands for `userJwt`. The tokens that say where a list goes on, such as `nextPageToken`, are
    /// no secrets.
    public var nameEndings: Set<String> {
        didSet { endings = NameEndings(nameEndings) }
    }
    private var endings: NameEndings
    /// What stands where a secret stood.
    package var mark = "***"

    /// Hides nothing.
    public static let none = Redaction(headerNames: [], parameterNames: [])

    /// Creates a redaction; one without any name hides nothing.
    public init(headerNames: Set<String>, parameterNames: Set<String>, nameEndings: Set<String> = []) {
        self.headerNames = Set(headerNames.map { $0.lowercased() })
        self.parameterNames = Set(parameterNames.map { $0.lowercased() })
        self.nameEndings = Set(nameEndings.map { $0.lowercased() })
        endings = NameEndings(self.nameEndings)
    }

    package var hidesNothing: Bool { headerNames.isEmpty && parameterNames.isEmpty && nameEndings.isEmpty }
}

// MARK: - Names

extension Redaction {
    /// Whether the value of a header field is hidden: by its name, or by that of a parameter with or without `X-`.
    public func hides(header name: String) -> Bool {
        hides(label: name) || names(String(name.dropFirst(name.lowercased().hasPrefix("x-") ? 2 : 0)))
    }

    /// Whether the value of a parameter is hidden; of a nested name (`user[password]`, `password[0]`) every part counts.
    public func hides(parameter name: String) -> Bool {
        let decoded = Self.decoded(name)
        if names(decoded) { return true }
        func parts(_ byte: UInt8) -> Bool { "[].".utf8.contains(byte) }
        guard decoded.utf8.contains(where: parts) else { return false }
        return decoded.utf8.split(whereSeparator: parts).contains { names(String(Substring($0))) }
    }

    /// Whether a name is secret beyond doubt, so that even what stands behind a colon in a sentence is hidden.
    func hides(label name: String) -> Bool { headerNames.contains(name.lowercased()) || endings.match(name) }

    private func names(_ name: String) -> Bool {
        let lower = name.lowercased()
        if parameterNames.contains(lower) || endings.match(name) { return true }
        func joins(_ byte: UInt8) -> Bool { "_- ".utf8.contains(byte) }
        guard lower.utf8.contains(where: joins) else { return false }
        return parameterNames.contains(String(decoding: lower.utf8.filter { !joins($0) }, as: UTF8.self))
    }

    /// A name without percent-encoding, however often it was encoded, within reason.
    private static func decoded(_ name: String) -> String {
        var name = name
        for _ in 0..<3 where name.utf8.contains(UInt8(ascii: "%")) { name = name.removingPercentEncoding ?? name }
        return name
    }
}

// MARK: - What is shown

extension Redaction {
    /// The value of a header field as it is shown; an authorization keeps its scheme, any other loses its secrets.
    public func value(_ value: String, ofHeader name: String) -> String {
        self.value(value, ofHeader: name, takesRelativeURLs: false)
    }

    /// The same; where asked for, `a?b=c` is taken for a URL in any field.
    package func value(_ value: String, ofHeader name: String, takesRelativeURLs: Bool) -> String {
        guard !hidesNothing else { return value }
        guard hides(header: name) else {
            return shown(value) { $0.field($1, named: name, takesRelativeURLs: takesRelativeURLs) }
        }
        let lower = name.lowercased()
        guard lower.hasSuffix("authorization") || lower.hasSuffix("authenticate") else { return mark }
        let scheme = value.prefix { $0 != " " }
        return CredentialShape.isScheme(scheme.utf8) && scheme.count < value.count ? "\(scheme) \(mark)" : mark
    }

    /// Header fields as they are shown.
    public func headers(_ headers: HTTPHeaders) -> HTTPHeaders {
        HTTPHeaders(headers.fields.map { HTTPHeaders.Field(name: $0.name, value: value($0.value, ofHeader: $0.name)) })
    }

    /// A URL, or the path and query of one, as it is shown: without user and password and without the values of hidden
    /// parameters, also in URLs within it.
    ///
    /// Those of a fragment count too: OAuth hands tokens over in it (RFC 6749 section 4.2.2).
    public func url(_ text: String) -> String {
        Self.isPlain(text) ? text : shown(text) { $0.url($1) }
    }

    /// A query or form as it is shown, whether `&` or `;` stands between its parameters.
    public func query(_ text: String) -> String { shown(text) { $0.query($1) } }

    /// Any text as it is shown: a message, a line of a log, the value of a parameter.
    ///
    /// Secrets are found in the URLs, parameters, quoted members and credentials that stand in it.
    public func text(_ text: String) -> String { shown(text) { $0.text($1) } }

    /// The value of a parameter as it is shown.
    package func value(_ value: String, ofParameter name: String) -> String {
        hides(parameter: name) ? mark : text(value)
    }

    /// A body as it is shown: forms, of one part or several, JSON, XML and text lose their secrets, others stay.
    ///
    /// What looks like JSON or XML is taken for it whatever its content type: servers are not careful with those.
    public func body(_ data: Data, contentType: String?) -> Data {
        hidesNothing ? data : SecretWalk(self).body(data, contentType: contentType)
    }

    /// The body of an answer as it is shown: the code in its frame stays, see ``parameterNames``.
    package func answer(_ data: Data, contentType: String?) -> Data {
        hidesNothing ? data : SecretWalk(self, keepsBusinessCodes: true).body(data, contentType: contentType)
    }

    /// The place that a URL names, for messages: without query and fragment, and without user and password.
    package static func place(_ url: String) -> String {
        let bytes = Array(url.utf8)[...]
        guard SecretWalk.startOfTornUser(in: bytes) == nil else { return standard.url(url) }
        return standard.url(String(url.before(UInt8(ascii: "?"), UInt8(ascii: "#"))))
    }

    private func shown(_ text: String, _ walk: (SecretWalk, ArraySlice<UInt8>) -> [UInt8]?) -> String {
        guard !hidesNothing, let shown = walk(SecretWalk(self), Array(text.utf8)[...]) else { return text }
        return String(decoding: shown, as: UTF8.self)
    }

    /// Whether a URL has no place for a secret: no parameter, no user, nothing encoded, and no part as long as a token.
    private static func isPlain(_ text: String) -> Bool {
        var length = 0
        for byte in text.utf8 {
            length = byte == UInt8(ascii: "/") ? 0 : length + 1
            if length > 12 || "?#;@%=".utf8.contains(byte) { return false }
        }
        return true
    }
}

extension HTTPHeaders {
    /// The fields, one in each line, without their secrets, as ``Redaction/standard`` knows them.
    public var redactedDescription: String { Redaction.standard.headers(self).description }
}

extension Redaction {
    /// Hides what usually holds credentials.
    public static let standard = Redaction(
        headerNames: HTTPHeaders.sensitiveNames.union([
            "www-authenticate", "proxy-authenticate", "authentication-info", "proxy-authentication-info", "cookie2",
            "set-cookie2",
        ]),
        parameterNames: [
            "accesskey", "accesstoken", "apikey", "apisecret", "assertion", "auth", "authcode", "authorization",
            "authorizationcode", "authtoken", "bearer", "clientassertion", "clientsecret", "code", "codeverifier",
            "confirmpassword", "credentials", "csrftoken", "currentpassword", "devicecode", "idtoken", "jsessionid",
            "jwt",
            "key", "mfacode", "newpassword", "oauthverifier", "oldpassword", "otp", "otpcode", "pass", "passcode",
            "passphrase", "passwd", "password", "passwordconfirm", "passwordconfirmation", "phpsessid", "pin",
            "pincode",
            "privatekey", "pwd", "recoverycode", "refreshtoken", "saml", "samlart", "samlrequest", "samlresponse",
            "secret", "secretkey", "securitytoken", "session", "sessionid", "sessiontoken", "sid", "sig", "sign",
            "signature", "smscode", "ticket", "token", "usercode", "userpin", "verificationcode", "webhook", "webhooks",
            "xamzcredential", "xamzsecuritytoken", "xamzsignature", "xapikey", "xgoogcredential", "xgoogsignature",
        ],
        nameEndings: [
            "accesskey", "accesskeyid", "accesstokens", "accountkey", "apikey", "apikeys", "assertion", "authkey",
            "authorization", "bearer", "connectionstring", "cookie", "credential", "customerkey", "encryptionkey",
            "functionskey", "jwt", "masterkey", "otp", "pass", "passcode", "passphrase", "passwd", "password",
            "passwords",
            "privatekey", "privatekeys", "pwd", "refreshtokens", "saml", "samlrequest", "samlresponse", "secret",
            "secretkey", "secrets", "serviceticket", "sessid", "sessionid", "sessionkey", "sharedkey", "signature",
            "signingkey", "sshkey", "storagekey", "subscriptionkey", "token", "totp", "webhook", "webhookurl",
        ]
    )
}

extension HTTPHeaders {
    /// The names of fields whose values are credentials, in lower case.
    public static let sensitiveNames: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key", "apikey",
        "x-auth-token", "x-auth-key", "x-access-token", "x-refresh-token", "x-session-token", "x-csrf-token",
        "x-xsrf-token", "x-signature", "x-amz-security-token", "x-goog-api-key", "x-vault-token", "x-functions-key",
        "ocp-apim-subscription-key", "private-token",
    ]
}

/// A value of which every printer shows the description alone, and so no secret.
///
/// `print`, string interpolation, `debugPrint`, `dump`, a failing test and a debugger would otherwise list the stored
/// properties, credentials included. A type that holds some conforms and gives a `description` without them.
public protocol Discreet: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Discreet {
    /// The same as the description.
    public var debugDescription: String { description }

    /// A mirror that shows no property.
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child]()) }
}

// The `description` of the types below, and of `RequestURL`, is what they are, and goes into requests. Whoever lists what a value is made of asks for the other
// one.

extension HTTPHeaders: CustomDebugStringConvertible, CustomReflectable {
    /// The same as the redacted description.
    public var debugDescription: String { redactedDescription }

    /// A mirror that shows no property.
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child]()) }
}

extension HTTPHeaders.Field: CustomDebugStringConvertible, CustomReflectable {
    /// The field as a line, with credentials hidden.
    public var debugDescription: String { "\(name): \(Redaction.standard.value(value, ofHeader: name))" }

    /// A mirror that shows no property.
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child]()) }
}
