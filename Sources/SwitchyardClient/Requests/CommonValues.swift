public import SwitchyardHTTP

/// The headers and parameters that every request of a service carries.
public struct CommonValues: Sendable {
    /// The header fields of every request.
    ///
    /// A request's own field of the same name replaces the common field.
    ///
    /// If `Accept` is `*/*` or missing, the media types of each response's decoder are sent in its place. Any other
    /// `Accept` is sent with every request.
    public var headers: HTTPHeaders {
        didSet { prepare() }
    }
    /// A closure that returns further header fields for each request.
    ///
    /// These fields replace fields of the same name in ``headers``.
    ///
    /// If the closure throws, the call ends with the error. If HTTP's caching rules apply, the closure is also called
    /// before the cache is searched, because a stored response may depend on these fields (`Vary`).
    public var computedHeaders: (@Sendable (APIConfiguration) throws -> HTTPHeaders)?
    /// The parameters of every request.
    ///
    /// The parameters are sent in the same place as the request's ``APIConfiguration/parameters``, the query or a form
    /// body. If the request has another kind of body, they are sent in the query.
    public var parameters: Parameters
    /// A closure that returns further parameters for each request.
    ///
    /// These parameters replace parameters of the same name in ``parameters``.
    ///
    /// If the closure throws, the call ends with the error.
    public var computedParameters: (@Sendable (APIConfiguration) throws -> Parameters)?
    /// Whether common parameters replace a request's own parameters of the same name, `false` by default.
    public var parametersOverrideRequest = false

    /// The first invalid field of ``headers``.
    ///
    /// The field is determined when ``headers`` is set, not for every request.
    private(set) var invalidHeader: HTTPHeaders.Field?
    /// The header fields for JSON decoders.
    ///
    /// The fields are built only once, because the transport recognizes equal header fields by their shared storage.
    private var headersForJSON = HTTPHeaders()

    private static let json = "application/json"

    /// Creates the common values.
    package init(headers: HTTPHeaders = [:], parameters: Parameters = [:]) {
        self.headers = headers
        self.parameters = parameters
        prepare()
    }

    private mutating func prepare() {
        invalidHeader = headers.firstInvalidField
        headersForJSON = headers.accepting(Self.json)
    }

    /// Returns the header fields for a decoder that accepts these media types.
    ///
    /// If `types` is `nil`, `Accept` is not changed.
    private func headers(for types: String?) -> HTTPHeaders {
        guard let types else { return headers }
        return types == Self.json ? headersForJSON : headers.accepting(types)
    }

    func resolvedParameters(_ configuration: APIConfiguration) throws(RequestError) -> Parameters {
        guard let computedParameters else { return parameters }
        let computed = try RequestError.running("common parameters") { try computedParameters(configuration) }
        var result = parameters
        result.merge(computed, overriding: true)
        return result
    }

    func resolvedHeaders(_ configuration: APIConfiguration) throws(RequestError) -> HTTPHeaders {
        let fixed = headers(for: configuration.acceptedTypes)
        return computedHeaders == nil ? fixed : fixed.overridden(by: try computedFields(configuration))
    }

    func computedFields(_ configuration: APIConfiguration) throws(RequestError) -> HTTPHeaders {
        guard let computedHeaders else { return [:] }
        return try RequestError.running("common headers") { try computedHeaders(configuration) }
    }
}

extension HTTPHeaders {
    /// Returns the fields with the media types in `Accept`, unless the fields already accept something more specific
    /// than `*/*`.
    fileprivate func accepting(_ types: String) -> HTTPHeaders {
        guard values(of: "Accept").allSatisfy({ $0 == "*/*" }) else { return self }
        var fields = self
        fields.set("Accept", types)
        return fields
    }
}

/// The handling of a request whose path is an absolute URL with another origin than the base URL.
public enum CrossOriginPolicy: Sendable, Hashable {
    /// The request is sent without common parameters and with few common header fields. This is the default.
    ///
    /// The fields that are sent are `Accept`, `Accept-Charset`, `Accept-Encoding`, `Accept-Language` and `User-Agent`.
    /// All other fields may contain credentials.
    case withoutCommonValues
    /// The request is sent with all common values, like a request to the base URL's origin.
    case allowed
    /// The request is refused with ``/SwitchyardHTTP/RequestError/URLReason/foreignHost(_:)``.
    case refused
}
