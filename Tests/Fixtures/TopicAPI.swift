import Foundation
package import SwitchyardAPI
package import SwitchyardClient
import SwitchyardHTTP
package import SwitchyardServices
package import SwitchyardTesting

package struct Topic: Decodable, Sendable, Hashable {
    package var id: Int
    package var title: String

    package init(id: Int, title: String) {
        self.id = id
        self.title = title
    }

    /// The first topic as a server sends it.
    package static let answer = StubResponse.json(#"{"id":1,"title":"one"}"#)
}

/// A manager as an app would write it.
package final class TopicAPI: APIManager {
    package let client: NetworkClient
    package let module: APIModule
    package let user: Locked<String?>
    package let pages = PageRecorder<Topic>(pageSize: 2, identifiedBy: \.id)

    package init(client: NetworkClient, module: APIModule = .standard, user: String? = nil) {
        self.client = client.scoped()
        self.module = module
        self.user = Locked(user)
    }

    package var cacheUser: String? { user.withLock { $0 } }

    package static func topic(_ id: Int, lifetime: Duration? = nil) -> APIConfiguration {
        var configuration = APIConfiguration(path: "topics/\(id)")
        configuration.cacheLifetime = lifetime
        return configuration
    }

    package func topic(_ id: Int, lifetime: Duration? = nil) async throws(APIError) -> Topic {
        try await value(for: Self.topic(id, lifetime: lifetime))
    }

    package func refreshTopics() async throws(APIError) -> [Topic] {
        try await pages.refresh(load)
    }

    package func loadMoreTopics() async throws(APIError) -> [Topic] {
        try await pages.loadMore(load)
    }

    private func load(_ page: PageRequest) async throws(APIError) -> [Topic] {
        try await value(for: APIConfiguration(path: "topics", query: ["page": page.number, "size": page.size]))
    }
}

extension NetworkClient {
    /// A client of a service with one server.
    package static func stubbed(
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
