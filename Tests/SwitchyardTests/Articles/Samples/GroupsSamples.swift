import Switchyard
import SwitchyardRequests

// The samples of the article on groups, word for word.

enum GroupsSamples {
    final class ForumAPI: APIManager {
        let client: NetworkClient

        init(client: NetworkClient) {
            self.client = client.scoped()
        }
    }

    struct Token: Decodable, Sendable {
        var user: Int
    }

    static func hold(_ topics: ForumAPI, show: @escaping @Sendable (Any) -> Void) -> APIRequest<[Topic]> {
        // sample
        let request = topics.request([Topic].self, for: APIConfiguration(path: "topics"))
            .onSuccess { topics in show(topics) }
            .onFailure { error in show(error.message) }
        request.resume()
        // end
        return request
    }

    static func together(_ api: ForumAPI, _ ids: [Int]) async throws -> [String] {
        let meRequest = api.request(User.self, for: APIConfiguration(path: "users/7"))
        let topicsRequest = api.request([Topic].self, for: APIConfiguration(path: "topics"))
        // sample
        let users = RequestBatch(
            ids.map { api.request(User.self, for: APIConfiguration(path: "users/\($0)")) },
            options: GroupOptions(policy: .failFast, limit: 4)
        )
        let everybody = try await users.values()

        let (me, topics) = try await RequestGroup.values(of: meRequest, topicsRequest)
        // end
        return everybody.map(\.name) + [me.name] + topics.map(\.title)
    }

    static func chain(_ api: ForumAPI) async -> GroupReport {
        let login = APIConfiguration(path: "login")
        // sample
        let chain = RequestChain()
        chain.add(api.request(Token.self, for: login)) { token, chain in
            chain.add(api.request(User.self, for: APIConfiguration(path: "users/\(token.user)")))
        }
        let report = await chain.finished()
        // end
        return report
    }

    static func graph(_ api: ForumAPI) async throws -> GroupReport {
        let meRequest = api.request(User.self, for: APIConfiguration(path: "users/7"))
        let topicsRequest = api.request([Topic].self, for: APIConfiguration(path: "topics"))
        // sample
        let graph = RequestGraph()
        try graph.add(meRequest, named: "me")
        try graph.add(topicsRequest, named: "topics", after: ["me"])
        let outcome = try await graph.finished()
        // end
        return outcome
    }
}
