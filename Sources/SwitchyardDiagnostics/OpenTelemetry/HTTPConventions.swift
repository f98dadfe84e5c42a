import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The names and attributes of HTTP requests, without data that must not leave the app.
///
/// Source: OpenTelemetry Semantic Conventions for HTTP, the stable part.
struct HTTPConventions: Sendable {
    let redaction: Redaction
    /// Whether the values in queries are shown.
    let showsQueryValues: Bool
    /// The names of the header fields that are shown, in lower case and without duplicates.
    let headerNames: [String]

    /// The methods that are exported by name.
    ///
    /// Any other method is exported as `_OTHER`, so that the number of names is limited.
    private static let methods: Set = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY",
    ]

    init(_ options: OpenTelemetryExporter.Options) {
        redaction = options.redaction
        showsQueryValues = options.showsQueryValues
        headerNames = Set(options.headerNames.map { $0.lowercased() }).sorted()
    }
}

// MARK: - Names

extension HTTPConventions {
    /// Returns the name of a call: the method and the path as the app wrote it.
    func name(of configuration: APIConfiguration) -> String {
        "\(methodName(configuration.sentMethod)) \(path(of: configuration))"
    }

    /// Returns the path of a call if it is a template, such as `users/{id}`.
    func template(of configuration: APIConfiguration) -> String? {
        configuration.place.utf8.contains(UInt8(ascii: "{")) ? path(of: configuration) : nil
    }

    /// Returns the name of an attempt: the method and the template.
    ///
    /// Without a template, the name is the method alone, because a collector expects few different names.
    func name(of method: HTTPMethod, _ template: String?) -> String {
        let name = methodName(method)
        return template.map { "\(name) \($0)" } ?? name
    }

    private func path(of configuration: APIConfiguration) -> String {
        redaction.url(Redaction.place(configuration.place))
    }

    private func methodName(_ method: HTTPMethod) -> String {
        Self.methods.contains(method.name) ? method.name : "HTTP"
    }

    /// Returns the version of a protocol: `2` for `h2`.
    private static func version(of networkProtocol: String?) -> String? {
        guard let name = networkProtocol?.lowercased() else { return nil }
        if let slash = name.lastIndex(of: "/") { return String(name[name.index(after: slash)...]) }
        return name.hasPrefix("h") ? String(name.dropFirst().prefix { $0.isNumber }) : nil
    }
}

// MARK: - Attributes

extension HTTPConventions {
    /// Returns the attributes that a measurement and a span of a request have in common.
    func common(_ request: HTTPRequest, _ template: String?) -> Attributes {
        let origin = request.url.origin
        var attributes: Attributes = [
            "http.request.method": .text(Self.methods.contains(request.method.name) ? request.method.name : "_OTHER"),
            "server.address": .text(origin.host.filter { !"[]".contains($0) }),
            "server.port": .int(origin.port),
        ]
        attributes.set("url.template", template)
        return attributes
    }

    /// Returns the attributes of a request that is sent.
    func attributes(of attempt: AttemptRecord, _ template: String?) -> Attributes {
        let request = attempt.request
        var attributes = common(request, template)
        attributes["url.full"] = .text(shown(request.url))
        if attributes["http.request.method"] == "_OTHER" {
            attributes["http.request.method_original"] = .text(request.method.name)
        }
        attributes.set("switchyard.server", attempt.server)
        attributes["switchyard.attempt.kind"] = .text(attempt.kind.rawValue)
        add(request.headers, as: "http.request.header", to: &attributes)
        return attributes
    }

    /// Adds the result of a request to its attributes.
    ///
    /// - Returns: Whether the request failed: its response has a status of at least 400, or there is no response for
    ///   any reason other than a cancellation.
    @discardableResult
    func add(_ result: Result<HTTPResponse, TransportError>, to attributes: inout Attributes, withFields: Bool) -> Bool
    {
        switch result {
        case .success(let response):
            attributes["http.response.status_code"] = .int(response.status)
            attributes.set("network.protocol.version", Self.version(of: response.metrics?.networkProtocol))
            if withFields { add(response.headers, as: "http.response.header", to: &attributes) }
            attributes["error.type"] = response.status >= 400 ? .text("\(response.status)") : nil
            return response.status >= 400
        case .failure(let error):
            attributes["error.type"] = .text(error.kind.rawValue)
            return error.kind != .cancelled
        }
    }

    private func add(_ headers: HTTPHeaders, as prefix: String, to attributes: inout Attributes) {
        for name in headerNames {
            let values = headers.values(of: name).map { redaction.value($0, ofHeader: name) }
            if !values.isEmpty { attributes["\(prefix).\(name)"] = .list(values) }
        }
    }

    /// Returns a URL without user, password and fragment, and without the values of its query.
    func shown(_ url: RequestURL) -> String {
        let place = redaction.url(Redaction.place(url.text))
        guard let query = url.query, !query.isEmpty else { return place }
        guard !showsQueryValues else { return "\(place)?\(redaction.query(query))" }
        let names = query.split(separator: "&").map { pair in
            pair.firstIndex(of: "=").map { "\(pair[...$0])***" } ?? "***"
        }
        return "\(place)?\(names.joined(separator: "&"))"
    }
}
