// The code samples of the articles, between marks; a test compares each line with the articles.

import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardDiskCache
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardResources
import SwitchyardTransfers

// sample
enum ForumError: Int, ModuleErrorCode {
    case userNotFound = 1001
    case nameTaken = 1002

    var texts: [MessageLanguage: String] {
        switch self {
        case .userNotFound: [.english: "There is no such user.", .simplifiedChinese: "用户不存在"]
        case .nameTaken: [.english: "That name is taken.", .simplifiedChinese: "用户名已被占用"]
        }
    }
}
// end

private struct Screen {
    func show(_ value: some Sendable) {}
    func show(_ value: Topic, isOld: Bool) {}
    func show(_ value: Topic?, _ error: APIError?, isLoading: Bool) {}
    func goBack() {}
    func showLogin() {}
    func offerAgain(_ order: SampleShopAPI.Order) {}
    func note(_ text: String) {}
}

extension Screen {
    func module() throws -> APIModule {
        // sample
        let module = APIModule(
            errors: ModuleErrors(ForumError.self, codes: [301: .userNotFound]),
            envelope: Envelope(code: "code", message: "message", data: "data", success: [0])
        )
        // end
        return module
    }

    func decoding() -> APIModule {
        // sample
        let module = APIModule(
            decoding: JSONDecoding { decoder in
                decoder.keyDecodingStrategy = .convertFromSnakeCase
                decoder.dateDecodingStrategy = .secondsSince1970
            }
        )
        // end
        return module
    }

    func rules(_ users: TopicAPI) async throws {
        // sample
        var configuration = APIConfiguration(path: "users/7")
        configuration.rules = ResponseRules(status: .only([200, 203]), contentType: .lenient)
        configuration.rules?.shape = .object(["id": .integer, "name": .string, "nick": .optional(.string)])
        // end
        // sample
        let csv = ResponseSerializer { response in
            String(decoding: response.data, as: UTF8.self).split(separator: "\n").map(String.init)
        }
        let lines = try await users.response(for: configuration, with: csv).value
        // end
        show(lines)
    }

    func errors(_ users: SampleUserAPI) async {
        // sample
        do throws(APIError) {
            show(try await users.user(id: 7))
        } catch {
            if let words = error.userMessage { show(words) }
            if error.module(ForumError.self) == .userNotFound { goBack() }
        }
        // end
    }

    func errorsOfTask(_ users: SampleUserAPI) {
        // sample
        Task {
            do throws(APIError) {
                show(try await users.user(id: 7))
            } catch {
                if let words = error.userMessage { show(words) }
            }
        }
        // end
    }

    func download(_ film: DownloadConfiguration, with client: NetworkClient) async {
        // sample
        do {
            let file = try await client.download(film)
            show(file.url)
        } catch {
            if let words = APIError(error).userMessage { show(words) }
        }
        // end
    }

    func tables() throws -> ModuleErrors {
        // sample
        let errors = ModuleErrors(
            ForumError.self,
            codes: [301: .userNotFound],
            statuses: [404: .userNotFound, 409: .nameTaken]
        )
        // end
        return errors
    }

    func login(_ error: APIError) {
        // sample
        if error.reason == .security(.loginRequired) { showLogin() }
        // end
    }

    func resend(_ shop: SampleShopAPI, _ order: SampleShopAPI.Order) async {
        // sample
        do throws(APIError) {
            show(try await shop.pay(order))
        } catch {
            if error.isRetryable { offerAgain(order) }  // The same key: safe, whether it was executed or not.
            if error.mayHaveBeenExecuted { note("payment of \(order.id) is open") }
        }
        // end
    }

    func words(_ error: APIError, _ errors: ModuleErrors) -> APIModule {
        // sample
        var messages = ErrorMessages.standard
        messages.set("The forum is being moved.", for: .failed, in: .english)
        messages.set("论坛正在搬迁", for: .failed, in: .simplifiedChinese)
        messages.set("Please sign in.", for: .loginRequired, in: .english)
        messages.set("请登录", for: .loginRequired, in: .simplifiedChinese)
        let module = APIModule(errors: errors, messages: messages)
        // end
        // sample
        struct Problem: Decodable { var title: String }
        let title = error.decodedBody(as: Problem.self)?.title
        // end
        if let title { show(title) }
        return module
    }

    func caching(_ topics: TopicAPI, _ client: NetworkClient) async throws {
        // sample
        var configuration = APIConfiguration(path: "topics/7")
        configuration.cache.lifetime = .seconds(60)
        configuration.cache.staleIfError = .seconds(3_600)
        configuration.cache.tags = ["topics"]
        // end
        // sample
        for try await answer in topics.responses(Topic.self, for: configuration) {
            show(answer.value, isOld: answer.isFromCache)
        }
        // end
        // sample
        let topic = topics.resource(Topic.self, for: configuration)
        try await topic.loadIfNeeded()
        for await state in topic.updates { show(state.value, state.error, isLoading: state.isLoading) }
        // end
        // sample
        let disk = try DiskCache(at: DiskCache.standardFolder())
        client.responseCache = ResponseCache(limits: .init(cost: 20 << 20), disk: disk)
        // end
    }
}

private final class SampleUserAPI: APIManager {
    let client: NetworkClient

    init(client: NetworkClient) {
        self.client = client.scoped()
    }

    func user(id: Int) async throws(APIError) -> Topic {
        try await value(for: APIConfiguration(path: "users/\(id)"))
    }
}

private final class SampleShopAPI: APIManager {
    struct Order: Sendable {
        var id: Int
        var paymentKey: String
    }

    struct Receipt: Decodable, Sendable {}

    let client: NetworkClient

    init(client: NetworkClient) {
        self.client = client.scoped()
    }

    // sample
    func pay(_ order: Order) async throws(APIError) -> Receipt {
        var call = APIConfiguration(path: "payments", method: .post, body: .json(["order": order.id]))
        call.idempotencyKey = .given(order.paymentKey)  // Made with the order and kept with it.
        return try await value(for: call)
    }
    // end
}

private final class SamplePagesAPI: APIManager {
    let client: NetworkClient

    init(client: NetworkClient) {
        self.client = client.scoped()
    }

    // sample
    private let pages = PageRecorder<Topic>(pageSize: 20, identifiedBy: \.id)

    func refreshTopics() async throws(APIError) -> [Topic] {
        try await pages.refresh(load)
    }

    func loadMoreTopics() async throws(APIError) -> [Topic] {
        try await pages.loadMore(load)
    }

    private func load(_ page: PageRequest) async throws(APIError) -> [Topic] {
        try await value(for: .get("topics", query: ["page": page.number, "size": page.size]))
    }
    // end

    func all(_ show: (Topic) -> Void) async throws {
        // sample
        for try await topic in pages.allItems(ahead: 1, load) {
            show(topic)
        }
        // end
    }
}

private struct TopicList: Decodable, Sendable {
    var items: [Topic]
    var next: String?
}

private struct UserList: Decodable, Sendable {
    var items: [User]
    var total: Int
}

private struct User: Decodable, Sendable {
    var id: Int
}

private final class SampleListsAPI: APIManager {
    let client: NetworkClient

    init(client: NetworkClient) {
        self.client = client.scoped()
    }

    // sample
    private let topicPages = PageRecorder<Topic>(strategy: .cursor, identifiedBy: \.id)
    private let userPages = PageRecorder<User>(pageSize: 50)

    private func topics(_ page: PageRequest) async throws(APIError) -> Page<Topic> {
        let list: TopicList = try await value(for: APIConfiguration(path: "topics", query: ["after": page.cursor]))
        return Page(list.items, nextCursor: list.next)
    }

    private func users(_ page: PageRequest) async throws(APIError) -> Page<User> {
        let list: UserList = try await value(for: APIConfiguration(path: "users", query: ["page": page.number]))
        return Page(list.items, total: list.total)
    }
    // end

    // sample
    private func linkedTopics(_ page: PageRequest) async throws(APIError) -> Page<Topic> {
        let answer = try await response([Topic].self, for: APIConfiguration(path: page.link ?? "topics"))
        let links = answer.headers.values(of: "Link")
        return Page(answer.value, linkHeader: links, url: answer.context?.url?.text ?? "").relative(to: client)
    }
    // end

    func all() async throws(APIError) -> ([Topic], [User]) {
        (try await topicPages.refresh(topics), try await userPages.refresh(users))
    }

    func linked() async throws(APIError) -> [Topic] {
        try await PageRecorder<Topic>(strategy: .link).refresh(linkedTopics)
    }
}
