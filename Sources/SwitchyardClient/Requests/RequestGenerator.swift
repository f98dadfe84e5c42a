public import Foundation
public import SwitchyardHTTP
import SwitchyardServices

/// A builder of requests.
///
/// The generator turns an ``APIConfiguration`` into URL, headers and body for one server.
///
/// The generator is a value without hidden state. Building a request has no side effects other than those of the
/// closures that you set.
///
/// ### Use
///
///     var generator = RequestGenerator(headers: ["X-App": "demo"])
///     generator.parameters = ["platform": "ios"]
///     let request = try generator.request(for: configuration, on: base)
///
/// ### Customize
/// Set the options, or set closures that are called for each request: ``computedHeaders``, ``computedParameters``.
public struct RequestGenerator: Sendable {
    /// The headers and parameters of every request.
    package var common: CommonValues
    /// The timeouts that apply to requests without timeouts of their own.
    public var timeouts: HTTPRequest.Timeouts
    /// The maximum size of the response body in bytes, for requests without a limit of their own.
    ///
    /// The default is no limit.
    public var responseBodyLimit: Int?
    /// The way in which the path is joined to the base URL.
    ///
    /// By default, the path is appended.
    public var join = PathJoin.append
    /// A path segment between the base URL and the path, such as `v2`, none by default.
    public var apiVersion = ""
    /// The filters that change the path before it is joined to the base URL, in order.
    package var pathFilters: [PathFilter] = []
    /// A closure that returns the URL of a call, in place of joining base URL, version, filters and path.
    ///
    /// If the closure throws, the call ends with the error. If a call sets its own ``APIConfiguration/urlRule``, that
    /// closure is used instead. Parameters are appended to the URL that the closure returns.
    public var urlRule: (@Sendable (_ base: RequestURL, _ configuration: APIConfiguration) throws -> RequestURL?)?
    /// The closures that change a configuration before it is validated and built, for example to add parameters.
    ///
    /// The closures run in order for every attempt. If a closure throws, the call ends with the error.
    public var transforms: [@Sendable (inout APIConfiguration) throws -> Void] = []
    /// A closure that validates a configuration before anything is built.
    ///
    /// If the closure throws, the call ends with the error and without network access.
    public var validation: (@Sendable (APIConfiguration) throws -> Void)?
    /// The closures that change the finished request, for example to sign it.
    ///
    /// The closures run in order, after the call's own ``APIConfiguration/modifier``. If a closure throws, the call
    /// ends with the error.
    public var modifiers: [@Sendable (inout HTTPRequest) throws -> Void] = []
    /// The jar that holds the cookies, none by default.
    ///
    /// A call that sets the header field `Cookie` sends the cookies of the jar too. If both have a cookie of the same
    /// name, only the call's own cookie is sent. If the field is one of the common ``headers``, its cookies are sent
    /// with the cookies of the jar too, but a cookie of the jar replaces a common cookie of the same name, because the
    /// server may have changed it.
    public var cookies: CookieJar?
    /// The handling of calls whose path is an absolute URL with another origin than the base URL.
    ///
    /// By default they are sent without common values.
    public var foreignHosts = CrossOriginPolicy.withoutCommonValues
    /// The options for encoding parameters into queries.
    public var queryOptions = ParameterEncodingOptions() {
        didSet { queryPlan = ParameterSerializerPlan(queryOptions.inURL) }
    }
    /// A closure that encodes the whole query in place of ``queryOptions``.
    ///
    /// If the closure throws, the call ends with the error. The text is appended to the URL as it is, except that
    /// characters not allowed in a URL are escaped.
    public var customQuery: (@Sendable (Parameters) throws -> String)?
    /// The options for encoding parameters into form bodies.
    public var formOptions = ParameterEncodingOptions()
    /// The options for encoding values as JSON.
    public var jsonOptions = JSONBodyOptions() {
        didSet { jsonEncoder = jsonOptions.makeEncoder() }
    }
    /// The encoder for values of your own types as JSON.
    ///
    /// Setting ``jsonOptions`` replaces the encoder, so set the encoder after the options. Do not change the encoder
    /// after you have set it here.
    public var jsonEncoder: JSONEncoder
    /// The methods whose ``APIConfiguration/parameters`` go into the query, GET, HEAD and DELETE by default.
    public var queryMethods: Set<HTTPMethod> = [.get, .head, .delete]
    /// The maximum length of a URL in bytes, 65,536 by default.
    ///
    /// Servers usually accept much less.
    public var maximumURLLength = 65_536
    /// The name of the header field for the idempotency key, `Idempotency-Key` by default.
    public var idempotencyHeader = "Idempotency-Key"

    var queryPlan = ParameterSerializerPlan(ParameterEncodingOptions())

    /// Creates a generator.
    ///
    /// All other settings are properties.
    ///
    /// - Parameters:
    ///   - headers: The header fields of every request, ``/SwitchyardHTTP/HTTPHeaders/standard`` by default.
    ///   - parameters: The parameters of every request.
    ///   - timeouts: The timeouts that apply to requests without timeouts of their own, 60 s in total by default.
    public init(
        headers: HTTPHeaders = .standard,
        parameters: Parameters = [:],
        timeouts: HTTPRequest.Timeouts = HTTPRequest.Timeouts(total: .seconds(60))
    ) {
        common = CommonValues(headers: headers, parameters: parameters)
        self.timeouts = timeouts
        jsonEncoder = JSONBodyOptions().makeEncoder()
    }

    /// Builds the request of a configuration for one server.
    ///
    /// - Parameters:
    ///   - configuration: The description of the call. If there may be several attempts, pass
    ///     ``APIConfiguration/snapshot()``.
    ///   - base: The server's base URL.
    /// - Returns: The complete request.
    /// - Throws: ``/SwitchyardHTTP/RequestError`` if the configuration is invalid.
    package func request(
        for configuration: APIConfiguration,
        on base: BaseURL
    ) throws(RequestError) -> HTTPRequest {
        try request(for: configuration, on: base, home: base)
    }

    /// Builds the request of a configuration for one server or for its content delivery network.
    ///
    /// - Parameters:
    ///   - configuration: The description of the call.
    ///   - base: The base URL.
    ///   - home: The server's own base URL, the only origin that receives credentials.
    ///   - role: The role of the server, whose paths may differ from those of the service.
    /// - Returns: The complete request.
    /// - Throws: ``RequestError``.
    func request(
        for configuration: APIConfiguration,
        on base: BaseURL,
        home: BaseURL,
        as role: ServerRole? = nil
    ) throws(RequestError) -> HTTPRequest {
        guard !transforms.isEmpty else { return try checked(configuration, on: base, home, role) }
        return try checked(transformed(configuration), on: base, home, role)
    }

    private func checked(
        _ configuration: APIConfiguration,
        on base: BaseURL,
        _ home: BaseURL,
        _ role: ServerRole?
    ) throws(RequestError) -> HTTPRequest {
        if let validation { try RequestError.running("validation") { try validation(configuration) } }
        if let rare = configuration.rare?.value {
            if let prebuilt = rare.prebuiltRequest {
                var request = prebuilt
                request.url = prebuilt.url.secured(like: home.url)
                return try finished(completed(request, configuration), configuration, home)
            }
            if configuration.usesCDN, let cdn = rare.cdnURL {
                return try built(for: configuration, on: BaseURL(cdn), home, nil)
            }
        }
        return try built(for: configuration, on: base, home, role)
    }

    /// Returns the method and URL of a call, without its parameters and before any modifier runs.
    func form(
        of configuration: APIConfiguration,
        on base: BaseURL
    ) throws(RequestError) -> (method: HTTPMethod, url: RequestURL) {
        let configuration = try transformed(configuration)
        let joiner = try URLJoiner(path: try place(of: configuration, on: base), on: base, join: join, secured: false)
        return (configuration.sentMethod, RequestURL(trusted: joiner.output.text()))
    }

    private func transformed(_ configuration: APIConfiguration) throws(RequestError) -> APIConfiguration {
        var transformed = configuration
        for reformer in transforms { try RequestError.running("reformer") { try reformer(&transformed) } }
        return transformed
    }

    private func built(
        for configuration: APIConfiguration,
        on base: BaseURL,
        _ home: BaseURL,
        _ role: ServerRole?
    ) throws(RequestError) -> HTTPRequest {
        let place = try Self.secured(try place(of: configuration, on: base), like: home)
        var joiner = try URLJoiner(
            path: place,
            on: base,
            join: join,
            secured: configuration.upgradesToHTTPS
        )
        let shares =
            if let origin = joiner.foreignOrigin { try sharesCommonValues(origin, base, configuration) } else { true }
        let parameters = try placedParameters(configuration, sharesCommonValues: shares)
        var url = try url(&joiner, query: parameters.query, configuration)
        if let role, !URLParts.areAbsolute(in: place) { url = role.rewritten(url, below: base) }
        let (body, bodyType) = try body(configuration, extraFields: parameters.body)
        let headers = try headers(configuration, url: url, bodyType: bodyType, sharesCommonValues: shares)
        var request = HTTPRequest(
            method: configuration.method,
            url: url,
            headers: headers,
            body: body,
            timeouts: timeouts.of(configuration),
            delivery: configuration.delivery,
            responseBodyLimit: configuration.responseBodyLimit ?? responseBodyLimit
        )
        // If the value stays `nil`, the method decides whether the request may be repeated. A redirect may change the
        // method later.
        request.mayBeRepeated = configuration.mayBeRepeated ?? (configuration.idempotencyKey == .none ? nil : true)
        guard modifiers.isEmpty, configuration.rare == nil else { return try finished(request, configuration, home) }
        return consume request
    }

    private func completed(_ prebuilt: HTTPRequest, _ configuration: APIConfiguration) -> HTTPRequest {
        var request = prebuilt
        let defaults = timeouts.of(configuration)
        request.timeouts.connect = request.timeouts.connect ?? defaults.connect
        request.timeouts.idle = request.timeouts.idle ?? defaults.idle
        request.timeouts.total = request.timeouts.total ?? defaults.total
        request.responseBodyLimit = request.responseBodyLimit ?? configuration.responseBodyLimit ?? responseBodyLimit
        request.mayBeRepeated = configuration.mayBeRepeated ?? request.mayBeRepeated
        // The code that reads a streamed response sets the delivery on the configuration when the call is sent. A
        // prebuilt request was made before that.
        if configuration.delivery == .stream { request.delivery = .stream }
        return request
    }

    package var bodyContext: BodyEncodingContext {
        BodyEncodingContext(form: formOptions, json: jsonOptions, encoder: jsonEncoder)
    }
}

/// A filter that changes the path of a request before it is joined to the base URL.
package struct PathFilter: Sendable {
    /// Whether absolute URLs also pass through the filter, `false` by default.
    package var appliesToAbsoluteURLs: Bool
    /// A closure that returns the path to use, which may include a query.
    package var transform: @Sendable (String, APIConfiguration) throws -> String

    /// Creates a filter.
    ///
    /// - Parameters:
    ///   - appliesToAbsoluteURLs: Whether absolute URLs also pass through the filter.
    ///   - transform: Returns the path to use. If it throws, the call ends with the error.
    package init(
        appliesToAbsoluteURLs: Bool = false,
        transform: @escaping @Sendable (String, APIConfiguration) throws -> String
    ) {
        self.appliesToAbsoluteURLs = appliesToAbsoluteURLs
        self.transform = transform
    }

    /// Returns a filter that appends parameters to the query of the path.
    package static func appending(_ parameters: Parameters) -> PathFilter {
        let plan = ParameterSerializerPlan(ParameterEncodingOptions())
        return PathFilter { path, _ throws(RequestError) in
            var output = ByteBuffer(capacity: path.utf8.count + 64)
            output.append(String(path.before(UInt8(ascii: "#"))))
            var serializer = ParameterSerializer(plan, lead: output.queryLead())
            try serializer.write(parameters, to: &output)
            return output.text()
        }
    }
}

/// A closure that returns the URL of a call to a server with this base URL, or `nil` if the usual rules apply.
package typealias URLRule = @Sendable (_ base: RequestURL, _ configuration: APIConfiguration) throws -> RequestURL?

extension RequestGenerator {
    /// Returns the path with its placeholders expanded, its filters applied and the API version prepended.
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
        let isBare = path.utf8.first.map { "?#/".utf8.contains($0) } ?? true
        return isBare ? "\(version)\(path)" : "\(version)/\(path)"
    }

    /// Returns the path that a call must set to reach exactly `url`, or `nil` if there is no such path.
    ///
    /// `path` is the part of `url` after the base URL. If `path` begins with a scheme or is empty, the result begins
    /// with a slash. URLs are compared in normal form.
    func path(withoutItsVersion path: String, of url: RequestURL, on base: BaseURL) -> String? {
        guard let name = name(of: path) else { return nil }
        let wanted = url.normalForm
        return [name, "/\(name)"].first { name in
            let place = try? self.path(APIConfiguration(path: name))
            let text = try? place.map { try URLJoiner(path: $0, on: base, join: join, secured: false).output.text() }
            let found = text.map { RequestURL(trusted: $0) }
            // An empty path and the path `/` have the same normal form, but the result must be exactly the one in
            // `url`.
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

    /// Returns the text that is joined to the base URL: the URL from the URL rule if there is one, otherwise the path.
    func place(of configuration: APIConfiguration, on base: BaseURL) throws(RequestError) -> String {
        if let rule = configuration.rare?.value.urlRule ?? urlRule,
            let url = try RequestError.running("URL rule", { try rule(base.url, configuration) })
        {
            return try Self.secured(url.text, like: base)
        }
        return try Self.secured(try path(configuration), like: base)
    }

    /// Returns a path.
    ///
    /// If the path is an absolute http URL of a server with https, the result has https instead of http.
    ///
    /// - Throws: ``RequestError/URLReason/downgrade(from:)`` for plain http to another port of an https server.
    private static func secured(_ path: String, like base: BaseURL) throws(RequestError) -> String {
        guard path.begins(withScheme: "http"), base.url.isSecure,
            let url = RequestURL(String(path.before(UInt8(ascii: "#")))), url.isDowngrade(from: base)
        else { return path }
        let secured = url.secured(like: base.url)
        try secured.checkDowngrade(from: base.url)
        return secured.text
    }

    /// Returns the request after all modifiers have run, and checks its header fields again.
    ///
    /// Credentials are added before the modifiers run, so that a signature covers the credentials. Only a credential
    /// that is a digest of the request itself is added after the modifiers. Credentials are added only if the request
    /// goes to the server's own origin, or to the same host with https in place of http.
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
