public import SwitchyardHTTP

/// One call of an API as a value of your own: a case of an enum, for those who keep a whole API in one type.
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
/// Targets of several types go through one client.
public protocol APITarget: Sendable {
    /// The path below the base URL, or an absolute URL that takes its place.
    var path: String { get }
    /// The method; GET unless declared.
    var method: HTTPMethod { get }
    /// The parameters, whose place follows from the method; none unless declared.
    var parameters: Parameters { get }
    /// The body; none unless declared.
    var body: RequestBody { get }
    /// Header fields; none of its own unless declared.
    var headers: HTTPHeaders { get }
    /// An answer for previews and tests; an empty one with status 200 unless declared.
    var sampleResponse: HTTPResponse { get }

    /// Sets everything else: server, timeouts, cache, what the answer has to be.
    ///
    /// Changes nothing unless declared.
    func configure(_ configuration: inout APIConfiguration)
}

extension APITarget {
    /// GET.
    public var method: HTTPMethod { .get }
    /// None.
    public var parameters: Parameters { [:] }
    /// None.
    public var body: RequestBody { .none }
    /// None.
    public var headers: HTTPHeaders { [] }
    /// An empty answer with status 200.
    public var sampleResponse: HTTPResponse { HTTPResponse(status: 200) }

    /// Changes nothing.
    public func configure(_ configuration: inout APIConfiguration) {}

    /// The configuration that the target stands for; what takes configurations takes targets by it.
    public var configuration: APIConfiguration {
        var configuration = APIConfiguration(path: path, method: method, body: body, headers: headers)
        configuration.parameters = parameters
        configure(&configuration)
        return configuration
    }
}
