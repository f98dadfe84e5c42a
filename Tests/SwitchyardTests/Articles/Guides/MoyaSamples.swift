import Foundation
import Switchyard
import SwitchyardDiagnostics
import SwitchyardRequests
import SwitchyardTesting

// The samples of the guide from Moya, word for word.

enum MoyaSamples {
    // sample
    enum Forum: APITarget {
        case topics(page: Int)
        case topic(id: Int)
        case create(title: String)

        var path: String {
            switch self {
            case .topics, .create: "topics"
            case .topic(let id): "topics/\(id)"
            }
        }

        var method: HTTPMethod {
            if case .create = self { .post } else { .get }
        }

        var parameters: Parameters {
            if case .topics(let page) = self { ["page": page] } else { [:] }
        }

        var body: RequestBody {
            if case .create(let title) = self { .json(["title": title]) } else { .none }
        }

        var sampleResponse: HTTPResponse {
            HTTPResponse(
                status: 200,
                headers: ["Content-Type": "application/json"],
                body: .whole(Data(#"[{"id":1,"title":"one"}]"#.utf8))
            )
        }
    }
    // end

    // sample
    final class ForumAPI: APIManager {
        let client: NetworkClient

        init(client: NetworkClient) {
            self.client = client.scoped()
        }

        func topics(page: Int) async throws(APIError) -> [Topic] {
            try await value(for: Forum.topics(page: page).configuration)
        }
    }
    // end

    static func plugins(
        _ options: inout NetworkClient.Options,
        token: String,
        log: some LogSink,
        show: @escaping @Sendable (Bool) -> Void
    ) {
        // sample
        options.interceptors = [
            .logging(to: log, .verbose),
            .activity { isActive in show(isActive) },
        ]
        options.credentials = Credentials(.bearer(token))
        // end
    }

    static func stub(_ service: Service) async throws -> [Topic] {
        // sample
        let transport = StubTransport { _ in .response(Forum.topics(page: 1).sampleResponse) }
        let forum = ForumAPI(client: try NetworkClient(service: service, transport: transport))
        let topics = try await forum.topics(page: 1)
        // end
        return topics
    }

    static func map(_ forum: ForumAPI) async throws -> [String] {
        // sample
        var configuration = Forum.topics(page: 1).configuration
        configuration.rules = ResponseRules(status: .only([200, 203]))
        let topics = try await forum.value([Topic].self, for: configuration, at: "data.items")

        let titles = ResponseSerializer.decodable([Topic].self, at: "data.items").map { $0.map(\.title) }
        let answer = try await forum.response(for: configuration, with: titles)
        // end
        return topics.map(\.title) + answer.value
    }

    static func share(_ forum: ForumAPI) async throws -> ([Topic], [Topic]) {
        // sample
        var configuration = Forum.topics(page: 1).configuration
        configuration.sharing = .identical

        let call = configuration
        async let one = forum.value([Topic].self, for: call)
        async let other = forum.value([Topic].self, for: call)
        let topics = try await (one, other)
        // end
        return topics
    }
}
