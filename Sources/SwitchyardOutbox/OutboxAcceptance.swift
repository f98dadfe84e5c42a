public import SwitchyardClient
public import SwitchyardHTTP

/// The rule that decides from a response whether the server has accepted a stored request.
///
///     options.accepts = OutboxAcceptance(contentTypes: [.json])
///     options.accepts = OutboxAcceptance { entry, response in response.headers["X-Receipt"] != nil }
///
/// An ``Outbox`` applies the rule to each response with a status below 400. If a redirect has changed the method to
/// GET, the outbox applies the rule to a response with any status. A request whose response is not accepted stays in
/// the outbox: see ``OutboxEvent/unconfirmed(_:_:reason:pause:)``.
public struct OutboxAcceptance: Sendable {
    private let rule: @Sendable (OutboxEntry, ServiceResponse) -> Bool

    /// Creates a rule from a closure.
    ///
    /// - Parameter accepts: Returns whether the server has accepted the request. The closure runs on no particular
    ///   actor. The response's `context` contains the redirects that were followed.
    public init(_ accepts: @escaping @Sendable (_ entry: OutboxEntry, _ response: ServiceResponse) -> Bool) {
        rule = accepts
    }

    /// Creates a rule that accepts a response if ``standard`` accepts it and its body has one of the given content
    /// types.
    ///
    /// - Parameter contentTypes: The content types. A response without a body needs no content type.
    public init(contentTypes: [MediaType]) {
        self.init { entry, response in
            guard Self.standard.accepts(response, to: entry) else { return false }
            guard response.data?.isEmpty == false, !response.isOutcome(of: entry) else { return true }
            guard let type = response.headers.contentType.flatMap({ MediaType($0) }) else { return false }
            return contentTypes.contains { $0.includes(type) }
        }
    }

    /// The default rule of an outbox.
    ///
    /// The rule accepts a 2xx response to a request with the stored method. It also accepts a 303 redirect from the
    /// host that the request was sent to, because such a redirect leads to the outcome of the request (RFC 9110 section
    /// 15.4.4). The rule does not accept a redirect that changes a POST to a GET (301 and 302, RFC 9110 sections 15.4.2
    /// and 15.4.3), whatever the response to the GET. The rule does not accept an HTML page if the request asks for
    /// JSON or has a JSON body, or if the page comes from another host.
    public static let standard = OutboxAcceptance { entry, response in
        guard response.isConfirmed(for: entry) else { return false }
        guard (200..<300).contains(response.status), response.isPage else { return true }
        return !entry.expectsJSON && !response.isFromElsewhere
    }

    /// Returns whether a response shows that the server has accepted a request.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - entry: The stored request.
    /// - Returns: Whether the request was accepted.
    public func accepts(_ response: ServiceResponse, to entry: OutboxEntry) -> Bool { rule(entry, response) }
}

/// The reason why a response does not show that the server has accepted a stored request.
public enum OutboxDoubt: Sendable, Hashable {
    /// The request was redirected by a response with this status, and nothing shows that the request was executed.
    case redirected(status: Int)
    /// The rule in ``Outbox/Options/accepts`` does not accept the response.
    case unacceptable(status: Int, contentType: String?)
}

extension OutboxDoubt: CustomStringConvertible {
    /// A short description of the response.
    public var description: String {
        switch self {
        case .redirected(let status): "redirected with status \(status)"
        case .unacceptable(let status, let type):
            "response with status \(status) and \(type.map { "content type \($0)" } ?? "no content type")"
        }
    }

    init(_ response: ServiceResponse, to entry: OutboxEntry) {
        if let turn = response.turn(of: entry) {
            self = .redirected(status: turn.status)
        } else if (300..<400).contains(response.status) {
            self = .redirected(status: response.status)
        } else {
            let type = response.headers.contentType.flatMap { MediaType($0) }
            self = .unacceptable(status: response.status, contentType: type.map { "\($0)" })
        }
    }
}

extension ServiceResponse {
    /// Returns the first redirect that changed the method of the request, or `nil` if there is none.
    func turn(of entry: OutboxEntry) -> RedirectStep? {
        context.redirects.first { $0.method.name != entry.method }
    }

    /// Returns whether a 303 redirect changed the request to a GET, so that this response is the response to the GET.
    fileprivate func isOutcome(of entry: OutboxEntry) -> Bool { turn(of: entry)?.status == 303 }

    /// Returns whether the status and the redirects before it show that the request was executed.
    fileprivate func isConfirmed(for entry: OutboxEntry) -> Bool {
        guard let turn = turn(of: entry) else { return (200..<300).contains(status) || status == 303 }
        // A redirect to a login page does not show that the request was executed.
        guard turn.status == 303, ![401, 407, 511].contains(status) else { return false }
        return turn.from.origin.host == context.redirects.first?.from.origin.host
    }

    /// Whether redirects have led to another host than that of the first request.
    fileprivate var isFromElsewhere: Bool {
        guard let first = context.redirects.first else { return false }
        return first.from.origin.host != context.url?.origin.host
    }

    /// Whether the body is an HTML page, according to its content type or its first bytes.
    fileprivate var isPage: Bool {
        guard let data, !data.isEmpty else { return false }
        let type = headers.contentType.flatMap { MediaType($0) }
        if let type, ["html", "xhtml+xml"].contains(type.subtype) { return true }
        let start = data.prefix(512).drop { [9, 10, 13, 32, 0xEF, 0xBB, 0xBF].contains($0) }
        let text = String(decoding: start.prefix(14), as: UTF8.self).lowercased()
        return text.hasPrefix("<!doctype html") || text.hasPrefix("<html")
    }
}
