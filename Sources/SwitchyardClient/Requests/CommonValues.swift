public import SwitchyardHTTP

/// The headers and parameters that every request of a service carries.
public struct CommonValues: Sendable {
    /// The header fields of every request; a request's own field of the same name replaces the common one.
    ///
    /// If `Accept` is `*/*` or missing, the decoder of each response decides what is accepted. Any other `Accept` is
    /// sent with every request.
    public var headers: HTTPHeaders {
        didSet { prepare() }
    }
    /// A closure that returns header fields for each request, which are added after ``headers`` and replace fields of
    /// the same name.
    ///
    /// If the closure throws, the call ends with the error. If HTTP's caching rules apply, the closure is also called
    /// before the cache is searched, because a stored response may depend on these fields (`Vary`).
    public var computedHeaders: (@Sendable (APIConfiguration) throws -> HTTPHeaders)?
    /// The parameters of every request.
    ///
    /// They go where the request's ``APIConfiguration/parameters`` go. If that is a body that is not a form, they go
    /// into the query.
    public var parameters: Parameters
    /// A closure that returns parameters for each request, which are added after ``parameters`` and replace parameters
    /// of the same name.
    ///
    /// If the closure throws, the call ends with the error.
    public var computedParameters: (@Sendable (APIConfiguration) throws -> Parameters)?
    /// Whether common parameters replace a request's own parameters of the same name, `false` by default.
    public var parametersOverrideRequest = false

    /// The first invalid field of ``headers``, found once instead of for every request.
    private(set) var invalidHeader: HTTPHeaders.Field?
    /// The header fields for JSON decoders, built once because the transport recognises equal fields by their shared
    /// storage.
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

    /// Returns the header fields for a decoder that accepts the media types; if `types` is `nil`, `Accept` stays as it
    /// is.
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
    /// The request is sent without common parameters; of the common headers it carries only `Accept`, the other
    /// `Accept-` fields and `User-Agent`.
    ///
    /// All other header fields may contain credentials. This is the default.
    case withoutCommonValues
    /// The request is sent like any other.
    case allowed
    /// The request is refused with ``/SwitchyardHTTP/RequestError/URLReason/foreignHost(_:)``.
    case refused
}
