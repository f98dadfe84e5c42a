import Foundation
package import SwitchyardHTTP
import SwitchyardServices

extension RequestGenerator {
    // MARK: - URL

    /// Returns whether a request to a URL with this origin carries the common values.
    func sharesCommonValues(
        _ origin: RequestURL.Origin,
        _ base: BaseURL,
        _ configuration: APIConfiguration
    ) throws(RequestError) -> Bool {
        guard origin != base.origin else { return true }
        switch foreignHosts {
        case .allowed: return true
        case .withoutCommonValues: return false
        case .refused: throw .url(text: configuration.path, reason: .foreignHost(origin.host))
        }
    }

    func url(
        _ joiner: inout URLJoiner,
        query: Parameters,
        _ configuration: APIConfiguration
    ) throws(RequestError) -> RequestURL {
        if !query.isEmpty { try append(query, of: configuration, to: &joiner.output) }
        guard joiner.output.count <= maximumURLLength else {
            let reason = RequestError.URLReason.tooLong(bytes: joiner.output.count, limit: maximumURLLength)
            throw .url(text: configuration.path, reason: reason)
        }
        return RequestURL(trusted: joiner.output.text())
    }

    /// Appends the parameters of a call to a URL or path that may already have a query.
    func append(
        _ query: Parameters,
        of configuration: APIConfiguration,
        to output: inout ByteBuffer
    ) throws(RequestError) {
        let plan = configuration.parameterOptions.map { ParameterSerializerPlan($0.inURL) } ?? queryPlan
        let lead = output.queryLead(plan.options.separator)
        if let customQuery { return try append(query, with: customQuery, lead: lead, to: &output) }
        var serializer = ParameterSerializer(plan, lead: lead)
        try serializer.write(query, to: &output)
    }

    private func append(
        _ query: Parameters,
        with customQuery: @Sendable (Parameters) throws -> String,
        lead: ParameterSerializer.Lead?,
        to output: inout ByteBuffer
    ) throws(RequestError) {
        let text = try RequestError.running("custom query") { try customQuery(query) }
        guard !text.isEmpty else { return }
        if let lead { output.append(UInt8(ascii: lead == .questionMark ? "?" : "&")) }
        output.append(URLEscaping.query(Array(text.utf8)[...]))
    }

    // MARK: - A call's own content

    /// Returns the path with its query, and the body, both without the common values of the generator.
    package func ownContent(
        of configuration: APIConfiguration
    ) throws(RequestError) -> (path: String, content: (body: HTTPBody, contentType: String?)) {
        let parameters = try placedParameters(configuration, sharesCommonValues: false)
        let path = try path(of: configuration, query: parameters.query)
        var call = configuration
        if call.throttle != nil { call.throttle = nil }
        return (path, try body(call, extraFields: parameters.body))
    }

    private func path(of call: APIConfiguration, query: Parameters) throws(RequestError) -> String {
        var path = call.path
        if path.hasByte(UInt8(ascii: "{")) { path = try URLTemplate(path).expanded(with: call.pathValues) }
        guard !query.isEmpty else { return path }
        let place = path.before(UInt8(ascii: "#"))
        var output = ByteBuffer(capacity: 128)
        output.append(String(place))
        try append(query, of: call, to: &output)
        return output.text() + path[place.endIndex...]
    }

    // MARK: - Parameters

    /// Distributes the parameters of a call between the query and a form body.
    func placedParameters(
        _ configuration: APIConfiguration,
        sharesCommonValues: Bool
    ) throws(RequestError) -> (query: Parameters, body: Parameters) {
        if configuration.parameters.isEmpty, !sharesCommonValues || self.common.hasNoParameters {
            return (configuration.query, Parameters())
        }
        let common = sharesCommonValues ? try self.common.resolvedParameters(configuration) : Parameters()
        if common.isEmpty, configuration.parameters.isEmpty { return (configuration.query, Parameters()) }
        let goesToBody =
            switch configuration.parameterDestination {
            case .automatic: !queryMethods.contains(configuration.method)
            case .query: false
            case .body: true
            }
        let overrides = self.common.parametersOverrideRequest
        var query = configuration.query
        var body = Parameters()
        if goesToBody { body = configuration.parameters } else { query.items += configuration.parameters.items }
        if goesToBody, configuration.body.takesFields {
            body.merge(common.without(namesOf: overrides ? [:] : query), overriding: overrides)
        } else {
            query.merge(common.without(namesOf: overrides ? [:] : body), overriding: overrides)
        }
        return (query, body)
    }

    // MARK: - Body

    func body(
        _ configuration: APIConfiguration,
        extraFields: Parameters
    ) throws(RequestError) -> (body: HTTPBody, contentType: String?) {
        if extraFields.isEmpty, configuration.body.isNone { return (.none, nil) }
        var body = try configuration.body.adding(
            extraFields,
            options: configuration.parameterOptions ?? formOptions
        )
        if let type = configuration.headers["Content-Type"] { body = body.taking(contentType: type) }
        if configuration.method.definesNoBody, !configuration.allowsUnusualBody {
            throw .bodyNotAllowed(method: configuration.method)
        }
        let context = bodyContext
        let encoded = try body.encoded(in: context)
        return (configuration.throttle.map(encoded.throttled) ?? encoded, body.contentType(in: context))
    }

    // MARK: - Headers

    func headers(
        _ configuration: APIConfiguration,
        url: RequestURL,
        bodyType: String?,
        sharesCommonValues: Bool
    ) throws(RequestError) -> HTTPHeaders {
        let own = configuration.headers
        if let invalid = own.firstInvalidField { throw Self.refusal(of: invalid) }
        var headers = try common.resolvedHeaders(configuration)
        let invalid = common.computedHeaders == nil ? common.invalidHeader : headers.firstInvalidField
        if let invalid { throw Self.refusal(of: invalid) }
        if !sharesCommonValues { headers = headers.harmless }
        if !own.isEmpty { headers = headers.overridden(by: own) }
        if let bodyType, own["Content-Type"] == nil { headers.set("Content-Type", bodyType) }
        if let cookies, configuration.usesCookies,
            let cookie = cookies.header(for: url, of: configuration, common: headers.values(of: "Cookie"))
        {
            headers.set("Cookie", cookie)
        }
        guard let key = configuration.idempotencyKey.value, own[idempotencyHeader] == nil else { return headers }
        headers.set(idempotencyHeader, key)
        return try checked(headers)
    }

    private func checked(_ headers: HTTPHeaders) throws(RequestError) -> HTTPHeaders {
        guard let invalid = headers.firstInvalidField else { return headers }
        throw Self.refusal(of: invalid)
    }

    static func refusal(of field: HTTPHeaders.Field) -> RequestError {
        .header(name: field.name, reason: field.refusal)
    }
}

extension CookieJar {
    /// Returns the value of the `Cookie` field for a call with cookies of its own or common cookies.
    ///
    /// - Parameters:
    ///   - url: The URL of the request.
    ///   - configuration: The call. Its own cookies replace the common cookies, and stored cookies of the same name.
    ///   - common: The values of the common `Cookie` fields. Stored cookies of the same name replace their cookies.
    /// - Returns: The value, or `nil` if no stored cookie applies.
    func header(for url: RequestURL, of configuration: APIConfiguration, common: [String]) -> String? {
        let own = configuration.headers.values(of: "Cookie")
        return header(for: url, adding: own.isEmpty ? common : own, replacesStored: !own.isEmpty)
    }
}

extension HTTPHeaders {
    /// The fields that are safe to send to another host.
    fileprivate var harmless: HTTPHeaders {
        let names: Set = ["accept", "accept-charset", "accept-encoding", "accept-language", "user-agent"]
        return HTTPHeaders(fields.filter { names.contains($0.name.lowercased()) })
    }
}

extension Parameters {
    /// Returns the parameters whose names `other` does not contain.
    fileprivate func without(namesOf other: Parameters) -> Parameters {
        guard !other.isEmpty else { return self }
        let names = Set(other.items.map(\.key))
        return Parameters(items.filter { !names.contains($0.key) })
    }
}

extension HTTPMethod {
    /// Whether a body has no defined meaning for the method (RFC 9110 sections 9.3.1, 9.3.2 and 9.3.8).
    var definesNoBody: Bool { self == .get || self == .head || self == .trace }
}

extension RequestBody {
    /// Whether parameters can be added to the body as form fields.
    var takesFields: Bool {
        switch kind {
        case .none, .form, .multipart: true
        default: false
        }
    }

    /// Returns the body with further form fields.
    func adding(_ fields: Parameters, options: ParameterEncodingOptions?) throws(RequestError) -> RequestBody {
        guard !fields.isEmpty else { return self }
        switch kind {
        case .none: return .form(fields, options: options)
        case .form(let own, let ownOptions): return .form(Parameters(own.items + fields.items), options: ownOptions)
        case .multipart(var form):
            try form.append(fields, options: options ?? ParameterEncodingOptions())
            return .multipart(form)
        default: throw .body(kind: contentType ?? "request's", reason: .conflict)
        }
    }

    /// Returns the body for a `Content-Type` that the request sets.
    ///
    /// A multipart form takes over the boundary in `contentType`.
    func taking(contentType: String) -> RequestBody {
        guard case .multipart(let form) = kind,
            let boundary = MediaTypeParameters.value(of: "boundary", in: contentType)
        else { return self }
        return .multipart(form.with(boundary: boundary))
    }
}

extension HTTPRequest.Timeouts {
    /// Returns the timeouts for a call.
    ///
    /// A timeout that the configuration sets replaces the timeout of this value.
    func of(_ configuration: APIConfiguration) -> Self {
        var timeouts = self
        timeouts.packedConnect = configuration.packedConnectTimeout.or(packedConnect)
        timeouts.packedIdle = configuration.packedIdleTimeout.or(packedIdle)
        timeouts.packedTotal = configuration.packedTimeout.or(packedTotal)
        return timeouts
    }
}
