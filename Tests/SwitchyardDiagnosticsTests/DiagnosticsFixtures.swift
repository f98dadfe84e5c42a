import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting

@testable import SwitchyardDiagnostics

extension NetworkClient {
    /// A client with the given interceptors and a stub transport.
    static func watched(
        _ interceptors: [RequestInterceptor],
        time: any TimeSource = ManualClock(),
        _ answer: @escaping @Sendable (HTTPRequest) -> StubResponse
    ) throws -> NetworkClient {
        var options = Options(seed: 1)
        options.interceptors = interceptors
        return try NetworkClient(
            service: try Service.topics(switching: .off),
            transport: StubTransport(answer),
            options: options,
            time: time
        )
    }
}

extension APIConfiguration {
    /// A login request with a secret in every part.
    static var login: APIConfiguration {
        var configuration = APIConfiguration(
            path: "login",
            method: .post,
            query: ["token": "secret-query", "page": 1],
            headers: ["Authorization": "Bearer secret-header", "Cookie": "sid=secret-cookie", "X-Trace": "7"]
        )
        configuration.body = .json(["password": "secret-body", "user": "me"])
        return configuration
    }
}

extension StubResponse {
    /// The response to a login request.
    static let loggedIn = StubResponse.status(
        200,
        headers: ["Content-Type": "application/json", "Set-Cookie": "sid=secret-set; Path=/"],
        body: Data(#"{"access_token":"secret-answer","name":"me"}"#.utf8)
    )
}
