public import SwitchyardHTTP

/// A redirect that was followed.
public struct RedirectStep: Sendable, Hashable {
    /// The status of the response.
    public var status: Int
    /// The URL that returned the redirect.
    public var from: RequestURL
    /// The URL of the next request.
    public var to: RequestURL
    /// The method of the next request.
    public var method: HTTPMethod
    /// The fragment of the next URL, or `nil` if there is none.
    ///
    /// A fragment is never sent.
    ///
    /// A target without a fragment inherits the fragment of the previous URL (RFC 9110 section 10.2.2).
    package var fragment: String?

    /// Creates the record of a followed redirect.
    package init(status: Int, from: RequestURL, to: RequestURL, method: HTTPMethod, fragment: String? = nil) {
        self.status = status
        self.from = from
        self.to = to
        self.method = method
        self.fragment = fragment
    }
}

extension RedirectStep {
    /// Returns a text with a request and its redirects.
    ///
    /// The text points out a redirect that turns a write request into a GET, because the final response may then be the
    /// response to the GET and not to the write.
    ///
    /// - Parameters:
    ///   - method: The method of the first request.
    ///   - steps: The redirects.
    ///   - shown: Returns the text of a URL for display.
    /// - Returns: The text, such as `POST http://a.example/x, 302 turned it into GET http://a.example/x/`.
    package static func way(
        of method: HTTPMethod,
        along steps: [RedirectStep],
        _ shown: (String) -> String
    ) -> String {
        guard let first = steps.first else { return method.name }
        var (way, last) = ("\(method) \(shown(first.from.text))", method)
        for step in steps {
            way += step.method == last ? ", \(step.status) led to " : ", \(step.status) turned it into \(step.method) "
            way += shown(step.to.text)
            last = step.method
        }
        return way
    }
}

extension RedirectStep: CustomStringConvertible {
    /// The status and both URLs, with credentials hidden.
    public var description: String {
        "\(status) from \(Redaction.standard.url(from.text)) to \(method) \(Redaction.standard.url(to.text))"
    }
}

/// The reason why a redirect was not followed and no response could be returned.
public enum RedirectError: Error, Sendable, Hashable {
    /// There were more redirects than the policy allows.
    case tooMany(limit: Int)
    /// The redirect leads to a URL that was already requested in the same way, so following it would never end.
    case loop(RequestURL)
    /// The redirect leads from https to http, where everyone on the network path could read the data.
    case insecure(RequestURL)
    /// The redirect leads to another origin, which the policy forbids.
    case foreignOrigin(RequestURL.Origin)
    /// The target of the redirect cannot be requested, for instance `file:`, `javascript:`, or a URL without a host.
    case unusableTarget(RequestError)
    /// The request for the target of the redirect could not be built.
    case invalidRequest(RequestError)
    /// The redirect leads to a server of the service that does not serve the request.
    case unserved(UnservedRequest)
}

extension RedirectError: CustomStringConvertible {
    /// The error in words, without queries and passwords.
    public var description: String {
        switch self {
        case .tooMany(let limit): "more than \(limit) redirects"
        case .loop(let url): "redirects form a loop at \(Redaction.place(url.text))"
        case .insecure(let url): "a redirect leads from https to \(Redaction.place(url.text)): must stay on https"
        case .foreignOrigin(let origin):
            "a redirect leads to another origin, \(origin), which the redirect policy forbids"
        case .unusableTarget(let error): "a redirect has an invalid target: \(error)"
        case .invalidRequest(let error): "the request after a redirect cannot be built: \(error)"
        case .unserved(let request): "a redirect cannot be followed: \(request)"
        }
    }
}

extension RedirectStep: RedactedDescribable {}
extension RedirectError: RedactedDescribable {}
