import Foundation
import Switchyard
import SwitchyardServices
import SwitchyardTesting

/// A typical REST backend: no envelope around responses, trailing slashes, pages with `next`, and tokens.
final class RestBackend: Sendable {
    struct State {
        var access = "a1"
        var refresh = "r1"
        var isBusy = false
        var refreshes = 0
        /// How often the third article was changed.
        var changes = 0
    }

    struct Asked: Decodable {
        var username: String?
        var password: String?
        var refresh: String?
        var name: String?
    }

    let server = LoopbackServer()
    let state = Locked(State())
    private static let articles = (1...5).map { RecipesSamples.Article(id: $0, name: "Article \($0)") }

    /// Starts the server.
    init() throws {
        server.route(nil, "/api/articles", answering: .status(301, headers: ["Location": "/api/articles/"]))
        server.route(.get, "/api/articles/") { [unowned self] in try list($0) }
        server.route(.post, "/api/articles/") { [unowned self] in try await create($0) }
        server.route(.get, "/api/articles/{id}/") { [unowned self] in try article($0) }
        server.route(.put, "/api/articles/{id}/") { [unowned self] in try await change($0) }
        server.route(.get, "/api/search/") { try Self.search($0) }
        server.route(.post, "/api/token/") { [unowned self] in try await logIn($0) }
        server.route(.post, "/api/token/refresh/") { [unowned self] in try await refresh($0) }
        server.route(.get, "/api/me/") { [unowned self] in me($0) }
        try server.start()
    }

    var baseURL: String { server.baseURL + "/api" }

    /// Rejects all tokens from now on.
    func forgetEverybody() {
        state.withLock { ($0.access, $0.refresh) = ("gone", "gone") }
    }

    /// Expires the access token, as happens after some minutes.
    func endAccess() {
        state.withLock { $0.access = "ended" }
    }

    func stop() {
        server.stop()
    }

    private static func refused(_ status: Int, _ detail: String) -> LoopbackResponse {
        .json(#"{"detail": "\#(detail)", "code": "refused"}"#, status: status)
    }

    /// The response to an invalid token, which public paths reject too.
    private func refusal(of request: LoopbackRequest) -> LoopbackResponse? {
        guard let field = request.headers["Authorization"] else { return nil }
        let isGood = state.withLock { field == "Bearer \($0.access)" }
        return isGood ? nil : Self.refused(401, "Given token not valid for any token type")
    }

    private func asked(_ request: LoopbackRequest) async throws -> Asked {
        try JSONDecoder().decode(Asked.self, from: try await request.body.collect())
    }
}

// MARK: - Articles

extension RestBackend {
    private func list(_ request: LoopbackRequest) throws -> LoopbackResponse {
        if let refusal = refusal(of: request) { return refusal }
        if state.withLock({ $0.isBusy }) {
            state.withLock { $0.isBusy = false }
            var busy = Self.refused(429, "Request was throttled.")
            busy.headers.set("Retry-After", "0")
            return busy
        }
        func number(_ name: String) -> Int? { request.queryValue(name).flatMap { Int($0) } }
        if let limit = number("limit") {
            let start = number("offset") ?? 0
            return try page(from: start, limit, next: "limit=\(limit)&offset=\(start + limit)")
        }
        if let cursor = request.queryValue("cursor"), let start = Int(cursor.dropFirst()) {
            return try page(from: start, 2, next: "cursor=c\(start + 2)")
        }
        let size = number("page_size") ?? 2
        guard let index = number("page") else { return try page(from: 0, size, next: "cursor=c\(size)") }
        return try page(from: (index - 1) * size, size, next: "page=\(index + 1)&page_size=\(size)")
    }

    private func page(from start: Int, _ count: Int, next: String) throws -> LoopbackResponse {
        struct Page: Encodable {
            var count: Int
            var next: String?
            var results: [RecipesSamples.Article]
        }
        let all = Self.articles
        let end = min(start + count, all.count)
        guard start < end else { return Self.refused(404, "Invalid page.") }
        let link = end < all.count ? "\(baseURL)/articles/?\(next)" : nil
        return .json(try JSONEncoder().encode(Page(count: all.count, next: link, results: Array(all[start..<end]))))
    }

    private func article(_ request: LoopbackRequest) throws -> LoopbackResponse {
        guard let article = Self.articles.first(where: { "\($0.id)" == request.pathValue("id") }) else {
            return Self.refused(404, "No Article matches the given query.")
        }
        return .json(try JSONEncoder().encode(article), headers: ["ETag": version])
    }

    private var version: String { state.withLock { "\"v\($0.changes)\"" } }

    private func change(_ request: LoopbackRequest) async throws -> LoopbackResponse {
        guard request.headers["If-Match"] == version else { return Self.refused(412, "Somebody else was first.") }
        let name = try await asked(request).name ?? ""
        state.withLock { $0.changes += 1 }
        return .json(try JSONEncoder().encode(RecipesSamples.Article(id: 3, name: name)), headers: ["ETag": version])
    }

    /// A bare array of two items with the total in a header field.
    private static func search(_ request: LoopbackRequest) throws -> LoopbackResponse {
        let found = articles.filter { article in request.queryValue("search").map { article.name.contains($0) } ?? true
        }
        let start = ((request.queryValue("page").flatMap { Int($0) } ?? 1) - 1) * 2
        let page = Array(found.dropFirst(start).prefix(2))
        return .json(try JSONEncoder().encode(page), headers: ["X-Total-Count": "\(found.count)"])
    }

    private func create(_ request: LoopbackRequest) async throws -> LoopbackResponse {
        let name = try await asked(request).name ?? ""
        if state.withLock({ $0.isBusy }) {
            var busy = Self.refused(429, "Request was throttled.")
            busy.headers.set("Retry-After", "30")
            return busy
        }
        guard !name.isEmpty else {
            let text = #"{"name": ["This field may not be blank."], "price": ["Required.", "Too low."]}"#
            return .json(text, status: 400)
        }
        return .json(try JSONEncoder().encode(RecipesSamples.Article(id: 6, name: name)), status: 201)
    }
}

// MARK: - Tokens

extension RestBackend {
    private func logIn(_ request: LoopbackRequest) async throws -> LoopbackResponse {
        let asked = try await asked(request)
        guard asked.username == "ada", asked.password == "secret", request.headers["Authorization"] == nil else {
            return Self.refused(401, "No active account found with the given credentials")
        }
        return .json(#"{"access": "a1", "refresh": "r1"}"#)
    }

    private func refresh(_ request: LoopbackRequest) async throws -> LoopbackResponse {
        let token = try await asked(request).refresh
        return state.withLock { state in
            state.refreshes += 1
            guard token == state.refresh else { return Self.refused(401, "Token is invalid or expired") }
            state.access = "a2"
            return .json(#"{"access": "a2"}"#)
        }
    }

    private func me(_ request: LoopbackRequest) -> LoopbackResponse {
        guard request.headers["Authorization"] != nil else {
            return Self.refused(401, "Authentication credentials were not provided.")
        }
        return refusal(of: request) ?? .json(#"{"name": "ada"}"#)
    }
}
