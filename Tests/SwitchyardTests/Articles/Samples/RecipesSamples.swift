import Foundation
import Switchyard
import SwitchyardDiagnostics
import SwitchyardRequests

/// The samples of the article of recipes, word for word.
enum RecipesSamples {
    struct Article: Codable, Sendable, Hashable {
        var id: Int
        var name: String
    }

    struct Draft: Encodable, Sendable {
        var name: String
    }

    static func client(_ baseURL: String, _ credentials: Credentials) throws -> NetworkClient {
        // sample
        let service = try Service(name: "shop", baseURL: baseURL)
        let client = try NetworkClient(service: service) { options in
            options.credentials = credentials
            options.retry = RetryPolicy(maximumRetries: 2)
            options.interceptors = [.logging(to: StandardErrorSink())]
        }
        // end
        return client
    }

    // sample
    enum ShopError: Int, ModuleErrorCode {
        case invalid = 1001
        case notFound = 1002
    }

    final class ShopAPI: APIManager {
        let client: NetworkClient
        let module = APIModule(
            errors: ModuleErrors(ShopError.self, statuses: [400: .invalid, 404: .notFound]),
            errorBody: ErrorBody()
        )

        init(client: NetworkClient) {
            self.client = client.scoped()
        }

        func article(_ id: Int) async throws(APIError) -> Article {
            try await value(for: APIConfiguration(path: "articles/\(id)/"))
        }

        func create(_ draft: Draft) async throws(APIError) -> Article {
            try await value(for: APIConfiguration(path: "articles/", method: .post, body: .json(draft)))
        }
    }
    // end

    static func create(
        _ draft: Draft,
        _ shop: ShopAPI,
        show: (Any) -> Void,
        mark: (String, [String]) -> Void,
        offerAgain: (Duration) -> Void
    ) async {
        // sample
        do throws(APIError) {
            show(try await shop.create(draft))
        } catch {
            for (field, messages) in error.fieldMessages { mark(field, messages) }
            if let pause = error.retryAfter { offerAgain(pause) }
            show(error.message)
        }
        // end
    }

    // sample
    struct Listing<Item: Decodable & Sendable>: Decodable, Sendable {
        var next: String?
        var results: [Item]
    }

    final class ArticleListAPI: APIManager {
        let client: NetworkClient
        let numbered = PageRecorder<Article>(pageSize: 20, identifiedBy: \.id)
        let counted = PageRecorder<Article>(pageSize: 20, strategy: .offset, identifiedBy: \.id)
        let linked = PageRecorder<Article>(pageSize: 20, strategy: .link, identifiedBy: \.id)

        init(client: NetworkClient) {
            self.client = client.scoped()
        }

        // ?page=2
        func byNumber(_ page: PageRequest) async throws(APIError) -> Page<Article> {
            let list = try await list(["page": page.number, "page_size": page.size])
            return Page(list.results, hasMore: list.next != nil)
        }

        // ?limit=20&offset=20
        func byOffset(_ page: PageRequest) async throws(APIError) -> Page<Article> {
            let list = try await list(["limit": page.size, "offset": page.offset])
            return Page(list.results, hasMore: list.next != nil)
        }

        // For lists that name the next page by its URL, such as a URL that contains a cursor.
        func byLink(_ page: PageRequest) async throws(APIError) -> Page<Article> {
            let list = try await list(page.isFirst ? ["page_size": page.size] : [:], at: page.link)
            return Page(list.results, nextLink: list.next).relative(to: client)
        }

        private func list(_ query: Parameters, at link: String? = nil) async throws(APIError) -> Listing<Article> {
            var call = APIConfiguration(path: link ?? "articles/", query: query)
            call.allowsAnonymous = true
            return try await value(for: call)
        }
    }
    // end

    static func read(_ articles: ArticleListAPI) async throws(APIError) -> [Article] {
        // sample
        try await articles.numbered.refresh(articles.byNumber)
        while articles.numbered.hasMore { try await articles.numbered.loadMore(articles.byNumber) }
        // end
        return articles.numbered.items
    }

    // sample
    final class SearchAPI: APIManager {
        let client: NetworkClient
        let found = PageRecorder<Article>(pageSize: 20, identifiedBy: \.id)

        init(client: NetworkClient) {
            self.client = client.scoped()
        }

        func search(_ text: String?) async throws(APIError) -> [Article] {
            found.reset()
            return try await found.refresh { try await page($0, text) }
        }

        func page(_ page: PageRequest, _ text: String?) async throws(APIError) -> Page<Article> {
            var query: Parameters = ["page": page.number, "page_size": page.size]
            query.set("search", text)
            let response = try await response([Article].self, for: APIConfiguration(path: "search/", query: query))
            return Page(response.value, total: response.headers["X-Total-Count"].flatMap { Int($0) })
        }
    }
    // end

    // sample
    final class EditorAPI: APIManager {
        let client: NetworkClient

        init(client: NetworkClient) {
            self.client = client.scoped()
        }

        func read(_ id: Int) async throws(APIError) -> (article: Article, version: String?) {
            let response = try await response(Article.self, for: APIConfiguration(path: "articles/\(id)/"))
            return (response.value, response.headers["ETag"])
        }

        func save(_ article: Article, over version: String?) async throws(APIError) -> Article {
            var call = APIConfiguration(path: "articles/\(article.id)/", method: .put, body: .json(article))
            call.headers["If-Match"] = version
            return try await value(for: call)
        }
    }
    // end

    static func dates() -> APIModule {
        // sample
        let decoding = JSONDecoding { decoder in
            decoder.dateDecodingStrategy = .custom { decoder in
                let text = try decoder.singleValueContainer().decode(String.self)
                if let date = HTTPDate.date(from: text) { return date }
                let place = DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "no date of HTTP")
                throw DecodingError.dataCorrupted(place)
            }
        }
        let module = APIModule(decoding: decoding)
        // end
        return module
    }

    // sample
    struct TokenPair: Decodable, Sendable {
        var access: String
        var refresh: String?
    }

    final class TokenAPI: APIManager {
        let client: NetworkClient

        init(client: NetworkClient) {
            self.client = client.withoutCredentials()
        }

        func logIn(_ name: String, password: String) async throws(APIError) -> Credential {
            let body = RequestBody.json(["username": name, "password": password])
            let pair: TokenPair = try await value(for: APIConfiguration(path: "token/", method: .post, body: body))
            return .bearer(pair.access, refreshToken: pair.refresh)
        }

        func refresh(_ token: String) async throws(APIError) -> Credential {
            let body = RequestBody.json(["refresh": token])
            let call = APIConfiguration(path: "token/refresh/", method: .post, body: body)
            let pair: TokenPair = try await value(for: call)
            return .bearer(pair.access, refreshToken: pair.refresh ?? token)
        }
    }
    // end

    static func credentials() -> Credentials {
        // sample
        let credentials = Credentials { refresh in
            guard let token = refresh.credential?.refreshToken else { return nil }
            do throws(APIError) {
                return try await TokenAPI(client: refresh.client).refresh(token)
            } catch {
                if error.status == 401 { throw CredentialError.loginRequired }
                throw error
            }
        }
        // end
        return credentials
    }

    static func logIn(_ client: NetworkClient, _ credentials: Credentials, _ name: String, _ password: String)
        async throws
    {
        // sample
        let credential = try await TokenAPI(client: client).logIn(name, password: password)
        credentials.set(credential, in: client.environment)
        // end
    }

    static func log() -> LogOptions {
        // sample
        var redaction = Redaction.standard
        redaction.parameterNames.formUnion(["access", "refresh"])
        let log = LogOptions(level: .debug, parts: [.requestBody, .responseBody], redaction: redaction)
        // end
        return log
    }
}
