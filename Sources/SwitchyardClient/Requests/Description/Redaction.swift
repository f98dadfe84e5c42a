public import Foundation

/// Hides credentials in what is shown: logs, cURL commands, error descriptions, records of traffic.
///
/// Names stay, values become `***`. Every printer of the client uses this one value, and errors of API calls its names.
public struct Redaction: Sendable, Hashable {
    /// Names of header fields whose values are hidden, in lower case.
    public var headerNames: Set<String>
    /// Names of parameters (in queries, forms and JSON) whose values are hidden, in lower case.
    ///
    /// One without hyphens and underscores stands for all spellings: `idtoken` for `id_token`, `id-token` and `idToken`.
    /// In the logs and records of answers that are JSON, a `code` of fewer than 22 characters is shown all the same: it is
    /// what the server says of the call, and too short for an authorization code (RFC 6749 section 10.10).
    public var parameterNames: Set<String>

    /// Hides nothing.
    public static let none = Redaction(headerNames: [], parameterNames: [])

    /// Hides what usually holds credentials.
    public static let standard = Redaction(
        headerNames: HTTPHeaders.sensitiveNames,
        parameterNames: [
            "accesskey", "accesstoken", "apikey", "apisecret", "assertion", "auth", "authorization", "authtoken",
            "clientassertion", "clientsecret", "code", "codeverifier", "confirmpassword", "csrftoken",
            "currentpassword", "devicecode", "idtoken", "key", "newpassword", "oldpassword", "otp", "passcode",
            "passphrase", "passwd", "password", "passwordconfirm", "passwordconfirmation", "pin", "privatekey", "pwd",
            "refreshtoken", "secret", "secretkey", "securitytoken", "session", "sessionid", "sessiontoken", "sid",
            "sig", "sign", "signature", "ticket", "token", "xamzcredential", "xamzsecuritytoken", "xamzsignature",
            "xgoogcredential", "xgoogsignature",
        ]
    )

    /// Creates a redaction.
    public init(headerNames: Set<String>, parameterNames: Set<String>) {
        self.headerNames = Set(headerNames.map { $0.lowercased() })
        self.parameterNames = Set(parameterNames.map { $0.lowercased() })
    }

    /// Whether the value of a header field is hidden.
    public func hides(header name: String) -> Bool { headerNames.contains(name.lowercased()) }

    /// Whether the value of a parameter is hidden; of a nested name (`user[password]`, `password[0]`) every part counts.
    public func hides(parameter name: String) -> Bool {
        let decoded = (name.removingPercentEncoding ?? name).lowercased()
        return names(decoded) || decoded.split { "[].".contains($0) }.contains { names(String($0)) }
    }

    private func names(_ name: String) -> Bool {
        parameterNames.contains(name) || parameterNames.contains(name.filter { $0 != "_" && $0 != "-" })
    }

    /// The value of a header field as it is shown; an authorization keeps its scheme, and a URL loses its secrets.
    public func value(_ value: String, ofHeader name: String) -> String {
        guard hides(header: name) else { return showingAddress(value, ofHeader: name) }
        let scheme = value.prefix { $0 != " " }
        let hasScheme = name.lowercased().hasSuffix("authorization") && !scheme.isEmpty && scheme.count < value.count
        return hasScheme ? "\(scheme) ***" : "***"
    }

    /// Header fields as they are shown.
    public func headers(_ headers: HTTPHeaders) -> HTTPHeaders {
        HTTPHeaders(headers.fields.map { HTTPHeaders.Field(name: $0.name, value: value($0.value, ofHeader: $0.name)) })
    }

    /// A URL as it is shown: without password and without the values of hidden parameters.
    ///
    /// Those of a fragment count too: OAuth hands tokens over in it (RFC 6749 section 4.2.2).
    public func url(_ text: String) -> String {
        guard self != .none else { return text }
        let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let address = address(parts[0])
        guard parts.count == 2 else { return address }
        return "\(address)#\(parts[1].contains("?") ? self.address(parts[1]) : query(String(parts[1])))"
    }

    /// A query or form as it is shown, whether `&` or `;` stands between its parameters.
    public func query(_ text: String) -> String {
        text.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            // A semicolon may belong to a value too: nothing behind one that is hidden is shown.
            if hides(pair) { return masked(pair) }
            return pair.split(separator: ";", omittingEmptySubsequences: false)
                .map { hides($0) ? masked($0) : String($0) }
                .joined(separator: ";")
        }
        .joined(separator: "&")
    }

    private func hides(_ pair: Substring) -> Bool {
        pair.firstIndex(of: "=").map { hides(parameter: String(pair[..<$0])) } ?? false
    }

    private func masked(_ pair: Substring) -> String { "\(pair.prefix { $0 != "=" })=***" }

    /// A body as it is shown: forms, of one part or several, and JSON lose hidden values, others stay.
    ///
    /// What looks like JSON is taken for it whatever its content type: servers are not careful with those.
    public func body(_ data: Data, contentType: String?) -> Data {
        body(data, contentType: contentType, isAnswer: false)
    }

    /// The body of an answer as it is shown: the code in its frame stays, see ``parameterNames``.
    func answer(_ data: Data, contentType: String?) -> Data {
        body(data, contentType: contentType, isAnswer: true)
    }

    /// Of forms in forms the outermost four are looked at, and those within are hidden as they are: they come from anybody,
    /// and the stack has an end.
    private func body(_ data: Data, contentType: String?, isAnswer: Bool, depth: Int = 4) -> Data {
        guard self != .none else { return data }
        let type = contentType?.lowercased() ?? ""
        let isForm = type.hasPrefix("application/x-www-form-urlencoded")
        let shown = isForm ? Data(query(String(decoding: data, as: UTF8.self)).utf8) : data
        if type.hasPrefix("multipart/"), let boundary = MediaTypeParameters.value(of: "boundary", in: contentType ?? "")
        {
            guard depth > 0 else { return Data("***".utf8) }
            return MultipartRedaction.hidden(in: data, boundary: boundary) {
                hides(parameter: $0)
            } body: {
                body($0, contentType: $1, isAnswer: isAnswer, depth: depth - 1)
            }
        }
        guard type.contains("json") || JSONRedaction.looksLikeJSON(data) else { return shown }
        return JSONRedaction.hidden(in: shown, keepsBusinessCodes: isAnswer) { hides(parameter: $0) }
    }

    /// A URL without its fragment as it is shown.
    private func address(_ text: Substring) -> String {
        let mark = text.firstIndex(of: "?") ?? text.endIndex
        let head = hidingPassword(text[..<mark])
        guard mark < text.endIndex else { return head }
        return "\(head)?\(query(String(text[text.index(after: mark)...])))"
    }

    /// The value of a field that is not hidden: what leads elsewhere may hold credentials in its URL.
    private func showingAddress(_ value: String, ofHeader name: String) -> String {
        switch name.lowercased() {
        case "location", "content-location", "referer", "refresh": url(value)
        case "link":
            value.split(separator: "<", omittingEmptySubsequences: false).map { piece in
                guard let end = piece.firstIndex(of: ">") else { return String(piece) }
                return url(String(piece[..<end])) + piece[end...]
            }
            .joined(separator: "<")
        default: value
        }
    }

    /// The same for one request: the fields in which the client has put credentials are hidden as well, whatever they are
    /// called.
    func covering(_ request: HTTPRequest) -> Redaction {
        guard self != .none, !request.credentialFields.isEmpty else { return self }
        let names = headerNames.union(request.credentialFields)
        return Redaction(headerNames: names, parameterNames: parameterNames)
    }

    /// The place that a URL names, for messages: without query and fragment, and without user and password.
    static func place(_ url: String) -> String {
        if let start = startOfTornUser(in: url) { return "\(url[..<start])***" }
        return standard.url(String(url.prefix { $0 != "?" && $0 != "#" }))
    }

    /// Where user and password begin when a slash, a question mark or a hash in the password ends the authority: no port
    /// is anything but digits, and the @ comes later.
    private static func startOfTornUser(in url: String) -> String.Index? {
        guard let slashes = url.range(of: "//") else { return nil }
        let authority = url[slashes.upperBound...].prefix { !"/?#".contains($0) }
        guard !authority.contains("@"), !authority.hasPrefix("["), let colon = authority.firstIndex(of: ":"),
            !authority[colon...].dropFirst().allSatisfy({ $0.isASCII && $0.isNumber }),
            url[authority.endIndex...].contains("@")
        else { return nil }
        return slashes.upperBound
    }

    private func hidingPassword(_ text: Substring) -> String {
        guard let slashes = text.range(of: "//") else { return String(text) }
        let end = text[slashes.upperBound...].firstIndex(of: "/") ?? text.endIndex
        guard let at = text[slashes.upperBound..<end].lastIndex(of: "@") else { return String(text) }
        return "\(text[..<slashes.upperBound])***\(text[at...])"
    }
}

extension HTTPHeaders {
    /// The names of fields whose values are credentials, in lower case.
    public static let sensitiveNames: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key", "apikey",
        "x-auth-token", "x-auth-key", "x-access-token", "x-refresh-token", "x-session-token", "x-csrf-token",
        "x-xsrf-token", "x-signature", "x-amz-security-token", "x-goog-api-key", "x-vault-token", "x-functions-key",
        "ocp-apim-subscription-key", "private-token",
    ]

    /// The fields, one in each line, with the values of ``sensitiveNames`` hidden.
    public var redactedDescription: String { Redaction.standard.headers(self).description }
}
