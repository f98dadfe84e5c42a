package import SwitchyardHTTP

/// The headers and parameters that every request of a service carries, stored apart from the other settings of a
/// ``RequestGenerator``.
package struct CommonValues: Sendable {
    /// The header fields of every request.
    package var headers: HTTPHeaders {
        didSet { prepare() }
    }
    /// A closure that returns further header fields for each request.
    package var computedHeaders: (@Sendable (APIConfiguration) throws -> HTTPHeaders)?
    /// The parameters of every request.
    package var parameters: Parameters
    /// A closure that returns further parameters for each request.
    package var computedParameters: (@Sendable (APIConfiguration) throws -> Parameters)?
    /// Whether common parameters replace a request's own parameters of the same name, `false` by default.
    package var parametersOverrideRequest = false

    /// The first invalid field of ``headers``.
    ///
    /// The field is determined when ``headers`` is set, not for every request.
    private(set) var invalidHeader: HTTPHeaders.Field?
    /// ``headers`` as sent by calls that accept JSON (`Accept: application/json`).
    ///
    /// These fields are built only once, because the transport recognizes equal header fields by their shared storage.
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

    /// Whether no request carries common parameters.
    var hasNoParameters: Bool { parameters.isEmpty && computedParameters == nil }

    func resolvedParameters(_ configuration: APIConfiguration) throws(RequestError) -> Parameters {
        guard let computedParameters else { return parameters }
        let computed = try RequestError.running("common parameters") { try computedParameters(configuration) }
        var result = parameters
        result.merge(computed, overriding: true)
        return result
    }

    /// Returns the header fields for a call, with the media types that its decoder accepts in `Accept`.
    func resolvedHeaders(_ configuration: APIConfiguration) throws(RequestError) -> HTTPHeaders {
        let types = configuration.acceptedTypes
        let fixed = types == Self.json ? headersForJSON : types.map(headers.accepting) ?? headers
        return computedHeaders == nil ? fixed : fixed.overridden(by: try computedFields(configuration))
    }

    func computedFields(_ configuration: APIConfiguration) throws(RequestError) -> HTTPHeaders {
        guard let computedHeaders else { return [:] }
        return try RequestError.running("common headers") { try computedHeaders(configuration) }
    }
}

extension HTTPHeaders {
    /// Returns the fields with `types` as the value of `Accept`, or the fields unchanged if they already accept
    /// something more specific than `*/*`.
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
