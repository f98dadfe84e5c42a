import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardServices
import SwitchyardTesting

struct Topic: Decodable, Sendable, Hashable {
    var id: Int
    var title: String
}

/// A manager as an app would write it.
final class TopicAPI: APIManager {
    let client: NetworkClient
    let module: APIModule
    let user: Locked<String?>
    let pages = PageRecorder<Topic>(pageSize: 2, identifiedBy: \.id)

    init(client: NetworkClient, module: APIModule = .standard, user: String? = nil) {
        self.client = client.scoped()
        self.module = module
        self.user = Locked(user)
    }

    var cacheUser: String? { user.withLock { $0 } }

    static func topic(_ id: Int, lifetime: Duration? = nil) -> APIConfiguration {
        var configuration = APIConfiguration(path: "topics/\(id)")
        configuration.cacheLifetime = lifetime
        return configuration
    }

    func topic(_ id: Int, lifetime: Duration? = nil) async throws(APIError) -> Topic {
        try await value(for: Self.topic(id, lifetime: lifetime))
    }

    func refreshTopics() async throws(APIError) -> [Topic] {
        try await pages.refresh(load)
    }

    func loadMoreTopics() async throws(APIError) -> [Topic] {
        try await pages.loadMore(load)
    }

    private func load(_ page: PageRequest) async throws(APIError) -> [Topic] {
        try await value(for: APIConfiguration(path: "topics", query: ["page": page.number, "size": page.size]))
    }
}

extension NetworkClient {
    /// A client of a service with one server.
    static func stubbed(
        _ transport: StubTransport,
        environments: [ServiceEnvironment] = ["release", "test"],
        options: NetworkClient.Options = NetworkClient.Options(),
        time: any TimeSource = ManualClock()
    ) throws -> NetworkClient {
        let urls = try environments.map { ($0, try ServerURL("http://\($0.rawValue).example/v1")) }
        let server = Server(name: "primary", baseURLs: Dictionary(uniqueKeysWithValues: urls))
        let service = try Service(
            name: "topics",
            servers: [server],
            defaultEnvironment: environments[0],
            switching: .off
        )
        return try NetworkClient(service: service, transport: transport, options: options, time: time)
    }
}
