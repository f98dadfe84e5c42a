import SwitchyardClient
public import SwitchyardHTTP

extension APIError: RedactedDescribable {
    /// The error on one line for a log: code, reason, location and circumstances, without credentials and without the
    /// body.
    public var description: String {
        var parts = ["APIError \(code.number)", loginAdvice ?? reason.description]
        parts += context.facts
        if mayHaveBeenExecuted { parts.append("may have been executed") }
        return parts.joined(separator: ", ")
    }
}

extension APIError {
    /// The client's reason why the call has no credential, or `nil` if the call failed for another reason.
    private var loginAdvice: String? {
        guard reason == .security(.loginRequired), let failure = context.underlying as? RequestFailure,
            case .credentials = failure.reason
        else { return nil }
        return "security: loginRequired: \(failure.reason)"
    }

    /// The maximum number of characters of a body in ``debugDescription``.
    private static let debugLength = 200

    /// The ``description`` with the first 200 characters of a text body.
    ///
    /// Credentials are removed.
    public var debugDescription: String {
        guard let body = debugBody else { return description }
        return "\(description), body \"\(body)\""
    }

    private var debugBody: String? {
        guard !context.body.isEmpty, context.status != nil else { return nil }
        let shown = Redaction.standard.answer(context.body, contentType: headers.contentType)
        guard let text = HTTPResponse(status: 0, headers: headers, body: .whole(shown)).text else { return nil }
        let isText = !text.unicodeScalars.prefix(Self.debugLength).contains { $0.value == 0xFFFD || $0.value == 0 }
        guard isText else { return nil }
        let line = LineRedaction.standard.text(String(text.prefix(4 * Self.debugLength)))
        return line.count > Self.debugLength ? "\(line.prefix(Self.debugLength))…" : line
    }
}

extension APIError.Context: RedactedDescribable {
    /// The circumstances of the error on one line for a log, without credentials and without the body.
    public var description: String { facts.joined(separator: ", ") }
}

extension APIError.Reason: RedactedDescribable {
    /// The reason on one line for a log, without credentials.
    public var description: String { LineRedaction.standard.text(summary) }

    /// The reason in words for a log.
    var summary: String {
        switch self {
        case .transport(let error): "transport: \(error)"
        case .cancelled(let cancellation): cancellation.summary
        case .status(let status): "status \(status) is not accepted"
        case .body(let reason): "body: \(reason.summary)"
        case .module(let failure): failure.summary
        case .list(let reason): "list: \(reason): \(reason.meaning)"
        case .configuration(let reason): "configuration: \(reason.summary)"
        case .tokenRefresh(let outage): "the credentials could not be refreshed for a transient reason: \(outage)"
        case .security(let reason): "security: \(reason.summary)"
        case .limited(let reason): reason.summary
        case .cache(let reason): "cache: \(reason): \(reason.meaning)"
        }
    }
}

extension APIError.BodyReason {
    /// The reason in words for a log.
    var summary: String {
        switch self {
        case .contentType(let received, let acceptable):
            "content type is \(received ?? "missing"), expected one of \(acceptable.joined(separator: " "))"
        case .empty: "empty, but the call expects a value"
        case .responseLost: "the response was lost, but the server has executed the call"
        case .truncated: "ended before it was complete"
        case .tooLarge(let limit): limit.map { "larger than \($0) bytes" } ?? "larger than its limit"
        case .compression: "cannot be decompressed"
        case .digest: "does not have the expected digest"
        case .text(let encoding): "not \(encoding) text"
        case .decoding(let failure): failure.description
        case .shape(let violation): violation.description
        }
    }
}

extension APIError.Cancellation {
    /// The origin of the cancellation, as the end of a log line.
    fileprivate var summary: String {
        switch self {
        case .caller: "cancelled by the caller"
        case .ownerReleased: "cancelled, because the manager that made the call was released"
        case .superseded: "cancelled, because a newer call replaced it, or the user or the environment changed"
        }
    }
}

extension APIError.ListReason {
    /// The meaning of the reason in words, for a log.
    fileprivate var meaning: String {
        switch self {
        case .noData: "the first page is empty"
        case .noMoreData: "there is no page after the last loaded page"
        case .repeatedPosition: "the next page was already loaded"
        case .pageLimit: "the list has more pages than the recorder may load"
        }
    }
}

extension APIError.ConfigurationReason {
    /// The reason in words for a log.
    fileprivate var summary: String {
        switch self {
        case .request(let error): error.message
        case .invalidRequest(let text): "the request is invalid: \(text)"
        case .unknownServer(let name): "the service has no server \"\(name)\""
        case .unserved(let request): request.description
        case .unsupported(let text): "the request is not supported: \(text)"
        case .clientClosed: "the client has been shut down"
        case .moduleCodes(let clash): clash.description
        case .other(let text): text
        }
    }
}

extension APIError.SecurityReason {
    /// The name of the reason, and its meaning in words, for a log.
    fileprivate var summary: String {
        switch self {
        case .handshake: "handshake: the TLS handshake failed"
        case .certificate: "certificate: the server's certificate was rejected"
        case .foreignOrigin(let origin): "foreignOrigin: a link leads to \(origin), which is not the server's origin"
        case .loginRequired: "loginRequired: \(CredentialError.missing.advice)"
        case .forbidden(let rule): "forbidden: \(rule)"
        }
    }
}

extension APIError.CacheReason {
    /// The meaning of the reason in words, for a log.
    fileprivate var meaning: String {
        switch self {
        case .expired: "the stored response has expired, or its date is in the future"
        case .versionMismatch: "the cache policies of the stored response and of the call have different versions"
        case .sensitiveDataMismatch: "the response was stored for another value of sensitiveData, such as another user"
        case .appVersionMismatch: "the response was stored by another version of the app"
        case .invalidLifetime: "the call has no cache lifetime, so no response is stored for it"
        case .invalidMetadata: "no response is stored, or its metadata cannot be read"
        case .invalidData: "the stored response is damaged"
        }
    }
}

extension APIError.LimitReason {
    /// The reason in words for a log.
    var summary: String {
        switch self {
        case .deadline: "limited: no response within the deadline"
        case .rate(let pause): "limited: too many requests\(pause.map { ", try again in \($0)" } ?? "")"
        case .queue: "limited: too many requests are already waiting"
        case .overload: "limited: every server is overloaded"
        }
    }
}

extension ModuleFailure {
    /// The failure in words for a log.
    var summary: String {
        let own = code.map { "code \($0)" } ?? "no code of the module"
        let server = serverCode.map { " for the server's code \($0)" } ?? ""
        return "module \(module): \(own)\(server)"
    }
}

extension APIError.Context {
    /// The underlying error, or `nil` if it is an error of this library.
    ///
    /// The reason already states such an error.
    private var foreignError: (any Error)? {
        switch underlying {
        case is RequestFailure, is TransportError: nil
        default: underlying
        }
    }

    /// The method and path of the request, and the URL to which redirects led.
    private var way: String? {
        guard let method, !redirects.isEmpty else {
            return path.map { [method?.name, $0].compactMap { $0 }.joined(separator: " ") }
        }
        return RedirectStep.way(of: method, along: redirects) { $0 }
    }

    /// The known facts, with the most useful facts first.
    fileprivate var facts: [String] {
        let named: [(String, String?)] = [
            ("service", service), ("environment", environment), ("server", server),
            ("request", requestID.map(\.description)),
            ("path", way),
            ("attempts", attempts > 0 ? String(attempts) : nil),
            ("elapsed", elapsed.map { "\($0)" }),
            ("status", status.map(String.init)),
        ]
        let answered: [String?] = [
            headers.isEmpty ? nil : "headers \(LineRedaction.standard.headers(headers))",
            bodyLength > 0 ? "body \(bodyLength) bytes" : nil,
            foreignError.map { "underlying \(type(of: $0))" },
        ]
        return named.compactMap { name, value in value.map { "\(name) \(LineRedaction.standard.text($0))" } }
            + answered.compactMap { $0 }
    }
}
