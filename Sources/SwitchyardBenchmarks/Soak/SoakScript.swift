import Foundation
import Switchyard
import SwitchyardRequests
import SwitchyardTesting

/// Random requests and responses of every kind.
enum SoakScript {
    /// Returns a random result for a request; faults are about as frequent as successful responses.
    @Sendable static func answer(to request: HTTPRequest) -> StubResponse {
        switch Int.random(in: 0..<24) {
        case 0: .failure(.connectionRefused)
        case 1: .failure(.connectTimeout)
        case 2: .failure(.connectionReset)
        case 3: .failure(.truncated)
        case 4: .failure(.protocolViolation)
        case 5: .failure(.timeout)
        case 6: .failure(.offline)
        case 7: .status(429, headers: ["Retry-After": "0"])
        case 8: .status([500, 502, 503, 504, 404, 401].randomElement() ?? 500)
        case 9: .never
        case 10: .chunks([Data("one".utf8), Data("two".utf8)], failing: TransportError(.truncated, message: "cut"))
        case 11: .status(302, headers: ["Location": "/elsewhere"])
        case 12...15: .delayed(by: .milliseconds(Int.random(in: 0...4)), on: SystemTime.shared, .json("[1]"))
        default: .json("[1]")
        }
    }

    /// Returns a random request with one of 48 paths.
    ///
    /// On the first of these paths, the real servers have faults.
    @Sendable static func configuration(_ number: Int) -> APIConfiguration {
        var configuration = APIConfiguration(path: "list/\(number % 48)", timeout: .milliseconds(100))
        configuration.priority = [RequestPriority.low, .normal, .high][number % 3]
        configuration.tags = ["tag \(number % 5)"]
        switch number % 7 {
        case 0:
            configuration.method = .post
            configuration.body = .json(["n": number])
        case 1: configuration.sharing = .identical
        case 2: configuration.limits = [limit]
        case 3: configuration.retry = .standard
        case 4: configuration.idempotencyKey = .automatic
        default: break
        }
        return configuration
    }

    private static let limit = RateLimit(.bucket(perSecond: 50_000, burst: 500))

    /// The client options for all requests.
    static var options: NetworkClient.Options {
        var options = NetworkClient.Options()
        options.limits = [ConcurrencyLimit(total: 500, perServer: 400)]
        options.interceptors = [.observing("count") { _ in }]
        return options
    }

    /// Returns a service of three servers that do not exist.
    static func service(_ policy: SwitchPolicy) throws -> Service {
        let servers = try ["primary", "secondary", "tertiary"].map { name in
            try Server(name: name, baseURLs: ["release": ServerURL("http://\(name).example")])
        }
        return try Service(name: "soak", servers: servers, defaultEnvironment: "release", switching: policy)
    }
}
