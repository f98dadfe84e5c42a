public import Foundation

/// Rules that hide credentials in output: logs, cURL commands, error descriptions, traffic records.
///
/// Names are shown, but values become `***`. All output of the library uses this type. Secrets are recognized by their
/// names (``headerNames``, ``parameterNames``, ``nameEndings``) in header fields, queries, fragments and path
/// parameters of URLs, forms, JSON, XML and plain text, and in URLs, forms and JSON that are nested in such values,
/// percent-encoded or not. Secrets are also recognized by their form, regardless of their names: text after `Bearer`,
/// `Basic` and other schemes, JSON Web Tokens, PEM blocks, user and password of a URL, and opaque path segments after a
/// word such as `webhooks`.
///
/// Values that are nested more than six levels deep are hidden completely.
public struct Redaction: Sendable, Hashable {
    /// The names of header fields whose values are hidden, in lower case.
    public var headerNames: Set<String>
    /// The names of parameters whose values are hidden in queries, forms, JSON and similar formats, in lower case.
    ///
    /// A name without hyphens and underscores matches all spellings: `idtoken` matches `id_token`, `id-token` and
    /// `idToken`. In logs and records of JSON responses, a `code` of fewer than 22 characters is shown anyway, because
    /// it is the server's result code and too short for an authorization code (RFC 6749 section 10.10).
    public var parameterNames: Set<String>
    /// The words at the end of secret names of header fields and parameters, in lower case and without separators.
    ///
    /// `apikey` matches `X-Acme-Api-Key`, `stripe_api_key` and `myAPIKey`. An ending of fewer than five letters must be
    /// a separate word: `jwt` matches `userJwt`. Pagination tokens such as `nextPageToken` are not secrets.
    public var nameEndings: Set<String> {
        didSet { endings = NameEndings(nameEndings) }
    }
    private var endings: NameEndings
    /// The text that replaces a secret.
    package var mark = "***"

    /// The rules that hide nothing.
    public static let none = Redaction(headerNames: [], parameterNames: [])

    /// Creates redaction rules from the names whose values are hidden.
    ///
    /// If all sets are empty, nothing is hidden.
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
    /// Whether the value of a header field is hidden.
    ///
    /// The name is compared with the secret names of header fields. It is also compared, with and without a leading
    /// `X-`, with the secret names of parameters.
    package func hides(header name: String) -> Bool {
        hides(label: name) || names(String(name.dropFirst(name.lowercased().hasPrefix("x-") ? 2 : 0)))
    }

    /// Whether the value of a parameter is hidden.
    ///
    /// In a nested name (`user[password]`, `password[0]`) every part is compared.
    package func hides(parameter name: String) -> Bool {
        let decoded = Self.decoded(name)
        if names(decoded) { return true }
        func parts(_ byte: UInt8) -> Bool { "[].".utf8.contains(byte) }
        guard decoded.utf8.contains(where: parts) else { return false }
        return decoded.utf8.split(whereSeparator: parts).contains { names(String(Substring($0))) }
    }

    /// Whether a name is certainly secret, so that a value after the name and a colon in a sentence is also hidden.
    func hides(label name: String) -> Bool { headerNames.contains(name.lowercased()) || endings.match(name) }

    private func names(_ name: String) -> Bool {
        let lower = name.lowercased()
        if parameterNames.contains(lower) || endings.match(name) { return true }
        func joins(_ byte: UInt8) -> Bool { "_- ".utf8.contains(byte) }
        guard lower.utf8.contains(where: joins) else { return false }
        return parameterNames.contains(String(decoding: lower.utf8.filter { !joins($0) }, as: UTF8.self))
    }

    /// Returns a name after percent-decoding it at most three times.
    private static func decoded(_ name: String) -> String {
        var name = name
        for _ in 0..<3 where name.utf8.contains(UInt8(ascii: "%")) { name = name.removingPercentEncoding ?? name }
        return name
    }
}

// MARK: - Redacted output

extension Redaction {
    /// Returns the redacted value of a header field.
    ///
    /// An authorization keeps its scheme. In fields that are not hidden, only secrets are replaced.
    public func value(_ value: String, ofHeader name: String) -> String {
        self.value(value, ofHeader: name, takesRelativeURLs: false)
    }

    /// Returns the redacted value of a header field.
    ///
    /// If `takesRelativeURLs` is set, `a?b=c` is treated as a URL in any field.
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

    /// Returns the redacted header fields.
    public func headers(_ headers: HTTPHeaders) -> HTTPHeaders {
        HTTPHeaders(headers.fields.map { HTTPHeaders.Field(name: $0.name, value: value($0.value, ofHeader: $0.name)) })
    }

    /// Returns a redacted URL, or the redacted path and query of a URL: without user and password, and without the
    /// values of hidden parameters, even in nested URLs.
    ///
    /// Parameters in the fragment are also hidden, because OAuth returns tokens in the fragment (RFC 6749 section
    /// 4.2.2).
    public func url(_ text: String) -> String {
        Self.isPlain(text) ? text : shown(text) { $0.url($1) }
    }

    /// Returns a redacted query or form, whose parameters are separated by `&` or `;`.
    package func query(_ text: String) -> String { shown(text) { $0.query($1) } }

    /// Returns redacted text, such as a message, a line of a log or the value of a parameter.
    ///
    /// Secrets are recognized in URLs, parameters, quoted members and credentials in the text.
    public func text(_ text: String) -> String { shown(text) { $0.text($1) } }

    /// Returns the redacted value of a parameter.
    package func value(_ value: String, ofParameter name: String) -> String {
        hides(parameter: name) ? mark : text(value)
    }

    /// Returns a redacted body.
    ///
    /// Secrets in forms, multipart forms, JSON, XML and text are replaced, and other bodies are unchanged. A body that
    /// looks like JSON or XML is treated as such whatever its content type, because many servers send wrong content
    /// types.
    public func body(_ data: Data, contentType: String?) -> Data {
        hidesNothing ? data : SecretWalk(self).body(data, contentType: contentType)
    }

    /// Returns the redacted body of a response, in which short result codes are shown, see ``parameterNames``.
    package func answer(_ data: Data, contentType: String?) -> Data {
        hidesNothing ? data : SecretWalk(self, keepsBusinessCodes: true).body(data, contentType: contentType)
    }

    /// Returns a URL for messages: without query, fragment, user and password.
    package static func place(_ url: String) -> String {
        let bytes = Array(url.utf8)[...]
        guard SecretWalk.startOfTornUser(in: bytes) == nil else { return standard.url(url) }
        return standard.url(String(url.before(UInt8(ascii: "?"), UInt8(ascii: "#"))))
    }

    private func shown(_ text: String, _ walk: (SecretWalk, ArraySlice<UInt8>) -> [UInt8]?) -> String {
        guard !hidesNothing, let shown = walk(SecretWalk(self), Array(text.utf8)[...]) else { return text }
        return String(decoding: shown, as: UTF8.self)
    }

    /// Whether a URL certainly contains no secret: no parameter, no user, nothing percent-encoded, and no segment as
    /// long as an access token.
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
    /// The fields, one per line, redacted by ``Redaction/standard``.
    public var redactedDescription: String { Redaction.standard.headers(self).description }
}

extension Redaction {
    /// The rules for the usual names of credentials.
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
    /// The names of header fields whose values are credentials, in lower case.
    package static let sensitiveNames: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key", "apikey",
        "x-auth-token", "x-auth-key", "x-access-token", "x-refresh-token", "x-session-token", "x-csrf-token",
        "x-xsrf-token", "x-signature", "x-amz-security-token", "x-goog-api-key", "x-vault-token", "x-functions-key",
        "ocp-apim-subscription-key", "private-token",
    ]
}

/// A value that shows only its `description`, and no secrets, in all textual forms.
///
/// Without this protocol, `print`, string interpolation, `debugPrint`, `dump`, a failing test and a debugger would list
/// the stored properties, including credentials. A type with credentials conforms and implements `description` without
/// credentials.
public protocol RedactedDescribable: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension RedactedDescribable {
    /// The description.
    public var debugDescription: String { description }

    /// A mirror without children, so that reflection does not reveal the properties.
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child]()) }
}

// The `description` of the following types, and of `RequestURL`, is the actual value and is sent in requests.
// `debugDescription` and `customMirror` are redacted.

extension HTTPHeaders: CustomDebugStringConvertible, CustomReflectable {
    /// The redacted description.
    public var debugDescription: String { redactedDescription }

    /// A mirror without children, so that reflection does not reveal the properties.
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child]()) }
}

extension HTTPHeaders.Field: CustomDebugStringConvertible, CustomReflectable {
    /// The field as a line with credentials redacted.
    public var debugDescription: String { "\(name): \(Redaction.standard.value(value, ofHeader: name))" }

    /// A mirror without children, so that reflection does not reveal the properties.
    public var customMirror: Mirror { Mirror(self, children: [Mirror.Child]()) }
}
