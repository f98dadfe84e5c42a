public import SwitchyardClient
public import SwitchyardHTTP
public import SwitchyardTransport

/// One call of an API as a custom value, such as a case of an enum that contains all calls of an API.
///
///     enum Topics: APITarget {
///         case list(page: Int)
///         case create(title: String)
///
///         var path: String { "topics" }
///         var method: HTTPMethod { if case .create = self { .post } else { .get } }
///         var parameters: Parameters {
///             switch self {
///             case .list(let page): ["page": page]
///             case .create(let title): ["title": title]
///             }
///         }
///     }
///
///     let response = try await client.send(Topics.list(page: 1))
///
/// One client can send targets of several types.
public protocol APITarget: Sendable {
    /// The path below the base URL, or an absolute URL that replaces the base URL.
    var path: String { get }
    /// The method, GET by default.
    var method: HTTPMethod { get }
    /// The parameters, none by default.
    ///
    /// The method decides whether the parameters are sent in the query or in the body.
    var parameters: Parameters { get }
    /// The body, none by default.
    var body: RequestBody { get }
    /// The header fields, none by default.
    var headers: HTTPHeaders { get }
    /// A response for previews and tests, by default an empty response with status 200.
    var sampleResponse: HTTPResponse { get }

    /// Sets every other option of the call, such as the server, timeouts, cache and validation of the response.
    ///
    /// The default implementation changes nothing.
    func configure(_ configuration: inout APIConfiguration)
}

extension APITarget {
    /// By default, GET.
    public var method: HTTPMethod { .get }
    /// By default, no parameters.
    public var parameters: Parameters { [:] }
    /// By default, no body.
    public var body: RequestBody { .none }
    /// By default, no header fields.
    public var headers: HTTPHeaders { [] }
    /// By default, an empty response with status 200.
    public var sampleResponse: HTTPResponse { HTTPResponse(status: 200) }

    /// Changes nothing.
    public func configure(_ configuration: inout APIConfiguration) {}

    /// The configuration that the target describes, for functions that take a configuration.
    public var configuration: APIConfiguration {
        var configuration = APIConfiguration(path: path, method: method, body: body, headers: headers)
        configuration.parameters = parameters
        configure(&configuration)
        return configuration
    }
}

extension NetworkClient {
    /// Sends the request of a target and returns the response, whatever its status.
    ///
    /// Cancelling the task cancels the request.
    ///
    /// - Parameters:
    ///   - target: The target.
    ///   - id: The identifier of the request, with which another task can cancel it.
    ///   - progress: A handler for the progress of each attempt, called on a thread of the transport.
    /// - Returns: The response of the attempt that was used.
    /// - Throws: ``/SwitchyardClient/RequestFailure`` if there is no response.
    public nonisolated(nonsending) func send(
        _ target: any APITarget,
        id: RequestID = RequestID(),
        progress: TransferProgressHandler? = nil
    ) async throws(RequestFailure) -> ServiceResponse {
        try await send(target.configuration, id: id, progress: progress)
    }
}
