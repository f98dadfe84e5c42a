import Foundation
import Switchyard
import SwitchyardDiagnostics
import SwitchyardDiskCache
import SwitchyardResources
import SwitchyardStreams
import SwitchyardTesting
import SwitchyardTransfers

// The samples of README.md, word for word.

struct Topic: Codable, Sendable, Hashable {
    let id: Int
    let title: String
}

struct User: Codable, Sendable, Hashable {
    let id: Int
    let name: String
}

// sample
final class TopicAPI: APIManager {
    let client: NetworkClient
    private let pages = PageRecorder<Topic>(pageSize: 20)

    init(client: NetworkClient) {
        self.client = client.scoped()
    }

    func refreshTopics() async throws(APIError) -> [Topic] {
        try await pages.refresh { page in try await self.topics(page) }
    }

    func loadMoreTopics() async throws(APIError) -> [Topic] {
        try await pages.loadMore { page in try await self.topics(page) }
    }

    private func topics(_ page: PageRequest) async throws(APIError) -> [Topic] {
        try await value(for: .get("topics", query: ["page": page.number, "size": page.size]))
    }
}
// end

// sample
enum UserError: Int, ModuleErrorCode {
    case userNotFound = 1001
    case nameTaken = 1002
}

final class UserAPI: APIManager {
    let client: NetworkClient
    let module: APIModule

    init(client: NetworkClient) {
        self.client = client.scoped()
        let errors = ModuleErrors(UserError.self, statuses: [404: .userNotFound, 409: .nameTaken])
        module = APIModule(errors: errors, envelope: Envelope(success: [0]))
    }

    func user(id: Int) async throws(APIError) -> User {
        var configuration = APIConfiguration.get("users/\(id)")
        configuration.cache.lifetime = .seconds(60)
        return try await value(for: configuration)
    }
}
// end

func composing(file: URL) throws -> TopicAPI {
    // sample
    let service = try ServiceCatalog.service(contentsOf: file)
    let client = try NetworkClient(service: service)
    let topics = TopicAPI(client: client)
    // end
    return topics
}

/// Samples of different sections in one function, as a reader would combine them.
///
/// Managers are created and used in a function that throws only errors of calls.
func sideBySide(_ service: Service, show: (Any) -> Void, showMissingUser: () -> Void) async throws {
    let client = try NetworkClient(service: service)
    let topics = TopicAPI(client: client)
    let users = UserAPI(client: client)
    do throws(APIError) {
        show(try await topics.refreshTopics())
        let user = try await users.user(id: 7)
        show(user)
    } catch {
        switch error.module(UserError.self) {
        case .userNotFound: showMissingUser()
        default: show(error.message)
        }
    }
}

/// Creates a manager where only errors of calls may be thrown.
func screen(_ client: NetworkClient) async throws(APIError) -> User {
    try await UserAPI(client: client).user(id: 7)
}

func switching(_ client: NetworkClient) async throws {
    // sample
    try client.switchEnvironment(to: .test)
    try client.switchServer(to: "secondary")
    for await event in client.events() { print(event) }
    // end
}

/// A closure, in which Swift infers the type of an error only if it is named.
func showing(
    _ users: UserAPI,
    show: @escaping @Sendable (Any) -> Void,
    showMissingUser: @escaping @Sendable () -> Void
) -> Task<Void, Never> {
    Task {
        // sample
        do throws(APIError) {
            let user = try await users.user(id: 7)
            show(user)
        } catch {
            switch error.module(UserError.self) {
            case .userNotFound: showMissingUser()
            default: show(error.message)
            }
        }
        // end
    }
}

func configuring(_ service: Service, token: String) throws -> NetworkClient {
    // sample
    let client = try NetworkClient(service: service) { options in
        options.generator.headers.set("X-App", "demo")
        options.perEnvironment = { generator, environment in
            if environment == .develop { generator.timeouts.total = .seconds(120) }
        }
        options.rules.add("/images/**") { $0.cache.lifetime = .seconds(3600) }
        options.retry = RetryPolicy(maximumRetries: 2)
        options.credentials = Credentials(.bearer(token))
        options.interceptors = [.logging(to: StandardErrorSink())]
    }
    // end
    return client
}

func transferring(_ client: NetworkClient, to file: URL) async throws -> Int {
    // sample
    let film = try await client.download(DownloadConfiguration(path: "films/7.mov", to: .file(file))) { progress in
        print(progress.fraction ?? 0)
    }
    let answer = try await client.upload(UploadConfiguration(path: "films", from: .file(film.url)))
    for try await event in client.eventSource(.get("news")) { print(event.data) }
    // end
    return answer.status
}

func following(_ topics: TopicAPI, _ configuration: APIConfiguration, show: (Topic?, APIError?, Bool) -> Void)
    async throws
{
    let client = topics.client
    // sample
    client.responseCache = ResponseCache(disk: try DiskCache(at: DiskCache.standardFolder()))
    let topic = topics.resource(Topic.self, for: configuration)
    topic.startLoading()
    for await state in topic.updates { show(state.value, state.error, state.isLoading) }
    // end
}

func callingBack(_ topics: TopicAPI) {
    // sample
    let id = topics.value([Topic].self, for: .get("topics")) { result in
        print(result)
    }
    topics.cancel(id)
    // end
}

func testing() throws -> LoopbackServer {
    // sample
    let server = LoopbackServer()
    server.route(.get, "/topics") { _ in .json("[]") }
    try server.start()
    server.fault = .hang
    // end
    return server
}

// sample
struct TableTransport: Transport {
    let answers: [String: Data]

    struct Done: TransportTask {
        func cancel() {}
    }

    func start(
        _ request: HTTPRequest,
        progress: TransferProgressHandler?,
        completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
    ) -> any TransportTask {
        let body = answers[request.url.text]
        completion(.success(HTTPResponse(status: body == nil ? 404 : 200, body: .whole(body ?? Data()))))
        return Done()
    }

    func shutdown() {}
}
// end
