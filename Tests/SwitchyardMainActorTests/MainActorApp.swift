import Dispatch
import Switchyard

// The code of an app with the main actor as its default isolation, which is the default of new apps.

/// A model that is not on the main actor, because it is decoded elsewhere.
nonisolated struct Topic: Decodable, Sendable, Hashable {
    let id: Int
    let title: String
    /// Whether it was decoded on the main queue, which runs the main actor.
    let isOfMainQueue: Bool

    /// Marks the main queue.
    static let mainQueue = DispatchSpecificKey<Bool>()

    private enum CodingKeys: CodingKey {
        case id, title
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        title = try container.decode(String.self, forKey: .title)
        isOfMainQueue = DispatchQueue.getSpecific(key: Self.mainQueue) == true
    }
}

nonisolated enum TopicError: Int, ModuleErrorCode {
    case topicNotFound = 1001
}

/// A module of the API, on the main actor like the rest of the app.
final class TopicAPI: APIManager {
    let client: NetworkClient
    let module: APIModule
    private let pages = PageRecorder<Topic>(pageSize: 2)

    init(client: NetworkClient) {
        self.client = client.scoped()
        let errors = ModuleErrors(TopicError.self, codes: [404: .topicNotFound])
        module = APIModule(errors: errors, envelope: Envelope(success: [0]))
    }

    func refreshTopics() async throws(APIError) -> [Topic] {
        try await pages.refresh { page in try await self.topics(page) }
    }

    func loadMoreTopics() async throws(APIError) -> [Topic] {
        try await pages.loadMore { page in try await self.topics(page) }
    }

    func topic(_ id: Int) async throws(APIError) -> Topic {
        try await value(for: APIConfiguration(path: "topics/\(id)"))
    }

    private func topics(_ page: PageRequest) async throws(APIError) -> [Topic] {
        try await value(for: APIConfiguration(path: "topics", query: ["page": page.number, "size": page.size]))
    }
}

/// The state of a screen.
final class TopicScreen {
    private let topics: TopicAPI
    private(set) var titles: [String] = []
    private(set) var message: String?

    init(topics: TopicAPI) {
        self.topics = topics
    }

    func refresh() async {
        do {
            titles = try await topics.refreshTopics().map(\.title)
        } catch {
            message = error.message
        }
    }

    /// The same operation with a callback.
    func load(_ id: Int, then done: @escaping @MainActor () -> Void) -> RequestID {
        topics.value(Topic.self, for: APIConfiguration(path: "topics/\(id)")) { result in
            MainActor.assumeIsolated {
                switch result {
                case .success(let topic): self.titles = [topic.title]
                case .failure(let error): self.message = error.message
                }
                done()
            }
        }
    }
}
