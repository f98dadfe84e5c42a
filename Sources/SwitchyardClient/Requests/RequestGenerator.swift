public import Foundation
public import SwitchyardHTTP
import SwitchyardServices

/// Builds the request of an ``APIConfiguration`` for one server: URL, headers, body.
///
/// The generator is a value without state of its own; building is pure but for the closures that were handed in.
///
/// ### Use
///
///     var generator = RequestGenerator(headers: ["X-App": "demo"])
///     generator.common.parameters = ["platform": "ios"]
///     let request = try generator.request(for: configuration, on: base)
///
/// ### Customise
/// Set the options, or hand in closures that are asked for each request: ``CommonValues/computedHeaders``,
/// ``CommonValues/computedParameters``.
public struct RequestGenerator: Sendable {
    /// Headers and parameters of every request.
    public var common: CommonValues
    /// Timeouts of requests that set none of their own.
    public var timeouts: HTTPRequest.Timeouts
    /// The largest response body in bytes of requests that set no limit of their own; no limit unless set.
    public var responseBodyLimit: Int?
    /// How the path is joined to the base URL; appended unless set.
    public var join = PathJoin.append
    /// A segment between base URL and path, such as `v2`; none unless set.
    public var apiVersion = ""
    /// Change the path before it is joined, in order.
    public var pathFilters: [PathFilter] = []
    /// Makes the URL in place of base, version, filters and path, when set; an error ends the call.
    ///
    /// A configuration's own ``APIConfiguration/urlRule`` comes first. Parameters are appended to what it returns.
    public var urlRule: URLRule?
    /// Change a configuration before it is checked and built, in order: sources of parameters, for instance.
    ///
    /// Asked for every attempt; an error ends the call.
    public var reformers: [@Sendable (inout APIConfiguration) throws -> Void] = []
    /// Checks a configuration before anything is built; an error ends the call without network access.
    public var validation: (@Sendable (APIConfiguration) throws -> Void)?
    /// Change the finished request, in order, after the call's own ``APIConfiguration/modifier``: signatures, for
    /// instance.
    ///
    /// An error ends the call.
    public var modifiers: [@Sendable (inout HTTPRequest) throws -> Void] = []
    /// Where cookies come from; none unless set.
    public var cookies: CookieJar?
    /// What becomes of absolute URLs that lead to another origin than the base URL's; no credentials unless set.
    public var foreignHosts = ForeignHostRule.withoutCommonValues
    /// How parameters are written into queries.
    public var queryOptions = ParameterEncodingOptions() {
        didSet { queryPlan = ParameterSerializerPlan(queryOptions.inURL) }
    }
    /// Writes the whole query in place of ``queryOptions``, when set; an error ends the call.
    ///
    /// The text is appended to the URL as it is, but for characters that no URL may hold.
    public var customQuery: (@Sendable (Parameters) throws -> String)?
    /// How parameters are written into form bodies.
    public var formOptions = ParameterEncodingOptions()
    /// How values become JSON.
    public var jsonOptions = JSONBodyOptions() {
        didSet { jsonEncoder = jsonOptions.makeEncoder() }
    }
    /// Encodes values of your own types as JSON; one made from ``jsonOptions`` unless set after these.
    ///
    /// It must not be changed once it is here.
    public var jsonEncoder: JSONEncoder
    /// The methods whose ``APIConfiguration/parameters`` go into the query; GET, HEAD and DELETE unless set.
    public var queryMethods: Set<HTTPMethod> = [.get, .head, .delete]
    /// The longest URL in bytes; 65,536 unless set, far above what servers accept.
    public var maximumURLLength = 65_536
    /// The header field of the idempotency key; `Idempotency-Key` unless set.
    public var idempotencyHeader = "Idempotency-Key"

    var queryPlan = ParameterSerializerPlan(ParameterEncodingOptions())

    /// Creates a generator; everything else is set through the properties.
    ///
    /// - Parameters:
    ///   - headers: Header fields of every request; ``/SwitchyardHTTP/HTTPHeaders/standard`` unless given.
    ///   - parameters: Parameters of every request.
    ///   - timeouts: Timeouts of requests that set none of their own; 60 s in all unless given.
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
    ///   - configuration: What to ask. Pass ``APIConfiguration/snapshot()`` when there may be several attempts.
    ///   - base: The server's base URL.
    /// - Returns: The request, complete.
    /// - Throws: ``/SwitchyardHTTP/RequestError`` when the configuration cannot be sent; nothing is sent instead of it.
    public func request(
        for configuration: APIConfiguration,
        on base: BaseURL
    ) throws(RequestError) -> HTTPRequest {
        try request(for: configuration, on: base, home: base)
    }

    /// Builds the request of a configuration for one server, or for its content delivery network.
    ///
    /// - Parameters:
    ///   - configuration: What to ask.
    ///   - base: The base URL.
    ///   - home: The server's own base URL, to which alone credentials go.
    /// - Returns: The request, complete.
    /// - Throws: ``RequestError``.
    func request(
        for configuration: APIConfiguration,
        on base: BaseURL,
        home: BaseURL
    ) throws(RequestError) -> HTTPRequest {
        if reformers.isEmpty { return try checked(configuration, on: base, home) }
        var reformed = configuration
        for reformer in reformers { try RequestError.running("reformer") { try reformer(&reformed) } }
        return try checked(reformed, on: base, home)
    }

    private func checked(
        _ configuration: APIConfiguration,
        on base: BaseURL,
        _ home: BaseURL
    ) throws(RequestError) -> HTTPRequest {
        if let validation { try RequestError.running("validation") { try validation(configuration) } }
        if let rare = configuration.rare?.value {
            if let prebuilt = rare.prebuiltRequest {
                var request = prebuilt
                request.url = prebuilt.url.secured(like: home.url)
                return try finished(completed(request, configuration), configuration, home)
            }
            if configuration.usesCDN, let cdn = rare.cdnURL {
                return try built(for: configuration, on: BaseURL(cdn), home)
            }
        }
        return try built(for: configuration, on: base, home)
    }

    private func built(
        for configuration: APIConfiguration,
        on base: BaseURL,
        _ home: BaseURL
    ) throws(RequestError) -> HTTPRequest {
        var joiner = try URLJoiner(
            path: try Self.secured(try place(of: configuration, on: base), like: home),
            on: base,
            join: join,
            secured: configuration.upgradesToHTTPS
        )
        let shares = try sharesCommonValues(joiner.foreignOrigin, base, configuration)
        let parameters = try placedParameters(configuration, sharesCommonValues: shares)
        let url = try url(&joiner, query: parameters.query, configuration)
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
        // The method decides of what is left open here: behind a redirect it may be another one.
        request.mayBeRepeated = configuration.mayBeRepeated ?? (configuration.idempotencyKey == .none ? nil : true)
        return modifiers.isEmpty && configuration.rare == nil ? request : try finished(request, configuration, home)
    }

    private func completed(_ prebuilt: HTTPRequest, _ configuration: APIConfiguration) -> HTTPRequest {
        var request = prebuilt
        let defaults = timeouts.of(configuration)
        request.timeouts.connect = request.timeouts.connect ?? defaults.connect
        request.timeouts.idle = request.timeouts.idle ?? defaults.idle
        request.timeouts.total = request.timeouts.total ?? defaults.total
        request.responseBodyLimit = request.responseBodyLimit ?? configuration.responseBodyLimit ?? responseBodyLimit
        request.mayBeRepeated = configuration.mayBeRepeated ?? request.mayBeRepeated
        // Whoever reads an answer while it arrives says so when it is sent, not when it is made.
        if configuration.delivery == .stream { request.delivery = .stream }
        return request
    }

    package var bodyContext: BodyEncodingContext {
        BodyEncodingContext(form: formOptions, json: jsonOptions, encoder: jsonEncoder)
    }
}

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
            output.append(String(path.before(UInt8(ascii: "#"))))
            var serializer = ParameterSerializer(plan, lead: output.queryLead())
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
        let isBare = path.utf8.first.map { "?#/".utf8.contains($0) } ?? true
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
            return try Self.secured(url.text, like: base)
        }
        return try Self.secured(try path(configuration), like: base)
    }

    /// Returns a path, or an absolute URL by https where it is one of an https server by http.
    ///
    /// - Throws: ``RequestError/URLReason/downgrade(from:)`` for plain http to another port of an https server.
    private static func secured(_ path: String, like base: BaseURL) throws(RequestError) -> String {
        guard base.url.isSecure, path.utf8.prefix(5).elementsEqual("http:".utf8, by: { $0 | 0x20 == $1 | 0x20 }),
            let url = RequestURL(String(path.before(UInt8(ascii: "#")))), url.isDowngrade(from: base)
        else { return path }
        let secured = url.secured(like: base.url)
        try secured.checkDowngrade(from: base.url)
        return secured.text
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
