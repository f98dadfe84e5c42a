public import SwitchyardHTTP

/// The values that every request of a client carries.
extension RequestGenerator {
    /// The header fields of every request.
    ///
    /// A request's own field of the same name replaces the common field.
    ///
    /// If `Accept` is `*/*` or missing, the media types of each response's decoder are sent in its place. Any other
    /// `Accept` is sent with every request.
    public var headers: HTTPHeaders {
        get { common.headers }
        set { common.headers = newValue }
    }

    /// A closure that returns further header fields for each request.
    ///
    /// These fields replace fields of the same name in ``headers``.
    ///
    /// If the closure throws, the call ends with the error. If HTTP's caching rules apply, the closure is also called
    /// before the cache is searched, because a stored response may depend on these fields (`Vary`).
    public var computedHeaders: (@Sendable (APIConfiguration) throws -> HTTPHeaders)? {
        get { common.computedHeaders }
        set { common.computedHeaders = newValue }
    }

    /// The parameters of every request.
    ///
    /// The parameters are sent in the same place as the request's ``APIConfiguration/parameters``, the query or a form
    /// body. If the request has another kind of body, they are sent in the query.
    public var parameters: Parameters {
        get { common.parameters }
        set { common.parameters = newValue }
    }

    /// A closure that returns further parameters for each request.
    ///
    /// These parameters replace parameters of the same name in ``parameters``.
    ///
    /// If the closure throws, the call ends with the error.
    public var computedParameters: (@Sendable (APIConfiguration) throws -> Parameters)? {
        get { common.computedParameters }
        set { common.computedParameters = newValue }
    }

    /// Whether common parameters replace a request's own parameters of the same name, `false` by default.
    public var parametersOverrideRequest: Bool {
        get { common.parametersOverrideRequest }
        set { common.parametersOverrideRequest = newValue }
    }
}
