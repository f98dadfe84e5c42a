import Foundation
import Switchyard
import SwitchyardServerLists

/// The samples of the article on server lists, word for word.
enum ServerListsSamples {
    static func start(
        _ client: NetworkClient,
        _ folder: URL,
        _ publicKey: String,
        _ urls: [URL],
        _ options: ServerList.Options
    ) throws -> ServerList {
        // sample
        let list = try ServerList(
            for: client,
            from: urls,
            keys: [ServerListKey(name: "k1", publicKey: publicKey)],
            hosts: ["*.example.com", "*.example.net"],
            store: folder,
            options: options
        )
        // end
        return list
    }

    static func options(_ options: inout ServerList.Options) {
        // sample
        options.builtInVersion = 12
        options.startDelay = .seconds(60)
        options.reachability = SystemReachability.shared
        // end
    }

    static func watch(_ list: ServerList, log: (String) -> Void) async {
        // sample
        for await event in list.events() {
            switch event {
            case .applied(let version, let difference): log("server list \(version): \(difference)")
            case .refused, .expired, .notStored: log("\(event)")
            case .unchanged, .unreachable: break
            }
        }
        // end
    }

    static func refreshWithoutServers(_ client: NetworkClient, _ list: ServerList) -> Task<Void, Never> {
        // sample
        let events = client.events()
        let following = Task {
            for await event in events {
                guard case .ejected = event.event.kind else { continue }
                let servers = client.service.servers(in: client.environment)
                let general = servers.filter { $0.serves == .everything }.map(\.name)
                let isServed = client.servers.contains { general.contains($0.id) && $0.state == .healthy }
                if !isServed { await list.refresh() }
            }
        }
        // end
        return following
    }

    struct TopicLists {
        let api: TopicAPI
        let list: ServerList
        let call: APIConfiguration

        // sample
        func topics() async throws(APIError) -> [Topic] {
            do throws(APIError) {
                return try await api.value([Topic].self, for: call)
            } catch {
                guard error.isSafeToRetry, await list.refresh() else { throw error }
                return try await api.value([Topic].self, for: call)
            }
        }
        // end
    }
}
