/// Headers and parameters that every request of a service carries.
public struct CommonValues: Sendable {
    /// Header fields of every request; a request's own field of the same name takes their place.
    public var headers: HTTPHeaders {
        didSet { invalidHeader = headers.firstInvalidField }
    }
    /// Header fields that are asked for each request, after ``headers`` and over them; an error ends the call.
    ///
    /// Where HTTP's rules decide on stored answers they are asked for before one is looked for too, since an answer may
    /// depend on them (`Vary`).
    public var computedHeaders: (@Sendable (APIConfiguration) throws -> HTTPHeaders)?
    /// Parameters of every request.
    ///
    /// They go where the request's ``APIConfiguration/parameters`` go; where that would be a body of another kind than a
    /// form, into the query.
    public var parameters: Parameters
    /// Parameters that are asked for each request, after ``parameters`` and over them; an error ends the call.
    public var computedParameters: (@Sendable (APIConfiguration) throws -> Parameters)?
    /// Whether common parameters win over a request's own of the same name; off unless set.
    public var parametersOverrideRequest = false

    /// What is wrong with ``headers``, looked up once and not for every request.
    private(set) var invalidHeader: HTTPHeaders.Field?

    /// Creates the values.
    public init(headers: HTTPHeaders = [:], parameters: Parameters = [:]) {
        self.headers = headers
        self.parameters = parameters
        invalidHeader = headers.firstInvalidField
    }

    func resolvedParameters(_ configuration: APIConfiguration) throws(RequestError) -> Parameters {
        guard let computedParameters else { return parameters }
        let computed = try RequestError.running("common parameters") { try computedParameters(configuration) }
        var result = parameters
        result.merge(computed, overriding: true)
        return result
    }

    func resolvedHeaders(_ configuration: APIConfiguration) throws(RequestError) -> HTTPHeaders {
        computedHeaders == nil ? headers : headers.overridden(by: try computedFields(configuration))
    }

    func computedFields(_ configuration: APIConfiguration) throws(RequestError) -> HTTPHeaders {
        guard let computedHeaders else { return [:] }
        return try RequestError.running("common headers") { try computedHeaders(configuration) }
    }
}

/// What becomes of a request whose path is an absolute URL of another origin than the base URL's.
public enum ForeignHostRule: Sendable, Hashable {
    /// It is sent without common parameters, and of the common headers only with `Accept`, its relatives and
    /// `User-Agent`, since all others may hold credentials; the default.
    case withoutCommonValues
    /// It is sent like any other.
    case allowed
    /// It is refused with ``RequestError/URLReason/foreignHost(_:)``.
    case refused
}
