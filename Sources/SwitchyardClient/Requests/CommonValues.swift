public import SwitchyardHTTP

/// Headers and parameters that every request of a service carries.
public struct CommonValues: Sendable {
    /// Header fields of every request; a request's own field of the same name takes their place.
    ///
    /// An `Accept` of `*/*`, or none, leaves it to the reader of each answer what is asked for; another one goes with all.
    public var headers: HTTPHeaders {
        didSet { prepare() }
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
    /// The same fields for readers of JSON, made once: a transport takes fields that lie in one place for the same.
    private var headersForJSON = HTTPHeaders()

    private static let json = "application/json"

    /// Creates the values.
    public init(headers: HTTPHeaders = [:], parameters: Parameters = [:]) {
        self.headers = headers
        self.parameters = parameters
        prepare()
    }

    private mutating func prepare() {
        invalidHeader = headers.firstInvalidField
        headersForJSON = headers.accepting(Self.json)
    }

    /// The header fields of every request whose answer has such a reader; anything is asked for when `types` is `nil`.
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
    /// The fields with these types in `Accept`, unless they ask for others.
    fileprivate func accepting(_ types: String) -> HTTPHeaders {
        guard values(of: "Accept").allSatisfy({ $0 == "*/*" }) else { return self }
        var fields = self
        fields.set("Accept", types)
        return fields
    }
}

/// What becomes of a request whose path is an absolute URL of another origin than the base URL's.
public enum ForeignHostRule: Sendable, Hashable {
    /// It is sent without common parameters, and of the common headers only with `Accept`, its relatives and
    /// `User-Agent`, since all others may hold credentials; the default.
    case withoutCommonValues
    /// It is sent like any other.
    case allowed
    /// It is refused with ``/SwitchyardHTTP/RequestError/URLReason/foreignHost(_:)``.
    case refused
}
