public import SwitchyardHTTP
import SwitchyardServices

/// Changes the path of a request before it is joined to the base URL.
public struct PathFilter: Sendable {
    /// Whether absolute URLs pass through the filter too; off unless given.
    public var appliesToAbsoluteURLs: Bool
    /// Returns the path to use; it may add a query.
    public var transform: @Sendable (String, APIConfiguration) throws -> String

    /// Creates a filter.
    ///
    /// - Parameters:
    ///   - appliesToAbsoluteURLs: Whether absolute URLs pass through it too.
    ///   - transform: Returns the path to use; what it throws ends the call.
    public init(
        appliesToAbsoluteURLs: Bool = false,
        transform: @escaping @Sendable (String, APIConfiguration) throws -> String
    ) {
        self.appliesToAbsoluteURLs = appliesToAbsoluteURLs
        self.transform = transform
    }

    /// A filter that appends parameters to the path's query.
    public static func appending(_ parameters: Parameters) -> PathFilter {
        let plan = ParameterSerializerPlan(ParameterEncodingOptions())
        return PathFilter { path, _ throws(RequestError) in
            var output = ByteBuffer(capacity: path.utf8.count + 64)
            let fragment = path.firstIndex(of: "#") ?? path.endIndex
            output.append(String(path[..<fragment]))
            let hasQuery = path[..<fragment].contains("?")
            var serializer = ParameterSerializer(plan, lead: hasQuery ? .separator : .questionMark)
            try serializer.write(parameters, to: &output)
            return output.text()
        }
    }
}

/// Makes the URL of a call from the server's base URL; `nil` leaves it to the usual rules.
public typealias URLRule = @Sendable (_ base: BaseURL, _ configuration: APIConfiguration) throws -> RequestURL?

extension RequestGenerator {
    /// The path with its placeholders filled, its filters applied and its version in front.
    func path(_ configuration: APIConfiguration) throws(RequestError) -> String {
        var path = configuration.path
        if path.hasByte(UInt8(ascii: "{")) {
            path = try URLTemplate(path).expanded(with: configuration.pathValues)
        }
        for filter in pathFilters where filter.appliesToAbsoluteURLs || !URLParts.areAbsolute(in: path) {
            path = try RequestError.running("path filter") { try filter.transform(path, configuration) }
        }
        if configuration.rare == nil, apiVersion.isEmpty { return path }
        let version = configuration.apiVersion ?? apiVersion
        guard !version.isEmpty, !URLParts.areAbsolute(in: path) else { return path }
        let isBare = path.isEmpty || path.hasPrefix("?") || path.hasPrefix("#") || path.hasPrefix("/")
        return isBare ? "\(version)\(path)" : "\(version)/\(path)"
    }

    /// What a call has to name for a path that stands behind the base URL; `nil` when there is no such text.
    ///
    /// It leads to just this URL, however that is written: where the path begins with a scheme, or is empty, it has a slash
    /// in front.
    func path(withoutItsVersion path: String, of url: RequestURL, on base: BaseURL) -> String? {
        guard let name = name(of: path) else { return nil }
        let wanted = url.normalForm
        return [name, "/\(name)"].first { name in
            let place = try? self.path(APIConfiguration(path: name))
            let text = try? place.map { try URLJoiner(path: $0, on: base, join: join, secured: false).output.text() }
            let found = text.map { RequestURL(trusted: $0) }
            // A slash that is the whole path is kept, although it means no more than none.
            return found?.normalForm == wanted && found?.path.isEmpty == url.path.isEmpty
        }
    }

    private func name(of path: String) -> String? {
        guard pathFilters.isEmpty, urlRule == nil, !path.hasByte(UInt8(ascii: "{")) else { return nil }
        guard !apiVersion.isEmpty else { return path }
        let (bytes, version) = (Array(path.utf8), Array(apiVersion.utf8))
        guard let rest = PercentEncoding.rest(of: bytes, behind: version).map({ String(decoding: $0, as: UTF8.self) })
        else { return nil }
        if rest.hasPrefix("/") { return String(rest.dropFirst()) }
        return rest.isEmpty || rest.hasPrefix("?") ? rest : nil
    }

    /// What is joined to the base URL: the URL that a rule makes, else the path.
    func place(of configuration: APIConfiguration, on base: BaseURL) throws(RequestError) -> String {
        if let rule = configuration.rare?.value.urlRule ?? urlRule,
            let url = try RequestError.running("URL rule", { try rule(base, configuration) })
        {
            return url.text
        }
        return try path(configuration)
    }

    /// The request after all modifiers, its headers checked again.
    ///
    /// Credentials come before the modifiers, so that a signature covers them, but for a digest of the request itself; and
    /// only where the server's own origin is asked, also under https in place of http.
    func finished(
        _ request: HTTPRequest,
        _ configuration: APIConfiguration,
        _ home: BaseURL
    ) throws(RequestError) -> HTTPRequest {
        var request = request
        if configuration.prebuiltRequest == nil {
            request.networkAccess = configuration.networkAccess
            request.traffic = configuration.traffic
            request.tls = configuration.tls
        }
        let authorization = configuration.authorization
        if let authorization, request.url.isAt(home) {
            if !authorization.answersWhole { try authorize(&request, authorization) }
            request.credentialFields = authorization.names
        }
        if let modifier = configuration.modifier { try RequestError.running("modifier") { try modifier(&request) } }
        for modifier in modifiers { try RequestError.running("modifier") { try modifier(&request) } }
        if let authorization, authorization.answersWhole, request.url.isAt(home) {
            try authorize(&request, authorization)
        }
        guard let invalid = request.headers.firstInvalidField else { return request }
        throw Self.refusal(of: invalid)
    }

    private func authorize(
        _ request: inout HTTPRequest,
        _ authorization: RequestAuthorization
    ) throws(RequestError) {
        try RequestError.running("credentials") { try authorization.apply(&request) }
    }
}
