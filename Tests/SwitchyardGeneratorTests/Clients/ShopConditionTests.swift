import Foundation
import Switchyard
import SwitchyardFixtures
import SwitchyardTesting
import Testing

@testable import SwitchyardShopClient

/// The conditional requests of the generated client with a real server.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ShopConditionTests {
    private static let product =
        #"{"id": 7, "created_at": "2026-01-02T03:04:05Z", "title": "Chair", "price": 1, "state": "draft"}"#

    private let server = LoopbackServer()
    private let products: ProductsAPI

    /// Starts a server with one product whose entity tag is `"v2"`.
    init() throws {
        server.route(.get, "/products/7") { request in
            let headers: HTTPHeaders = ["ETag": "\"v2\"", "Cache-Control": "no-cache"]
            let isCurrent = request.headers["If-None-Match"] == "\"v2\""
            return isCurrent ? .status(304, headers: headers) : .json(Self.product, headers: headers)
        }
        server.route(.put, "/products/7") { request in
            .status(request.headers["If-Match"] == "\"v2\"" ? 204 : 412, headers: ["ETag": "\"v3\""])
        }
        try server.start()
        let client = try NetworkClient(service: .loopback([server]))
        products = Shop(client: client, reportsClient: client).products
    }

    @Test func `a generated write with the entity tag of the latest response succeeds`() async throws {
        let response = try await products.getResponse(productID: 7)
        let saved = try await products.replaceResponse(
            productID: 7,
            body: response.value,
            ifMatch: response.headers["ETag"]
        )

        #expect(response.value.title == "Chair")
        #expect(saved.status == 204)
        #expect(saved.headers["ETag"] == "\"v3\"")
    }

    @Test func `in a generated client, a write with an old entity tag throws the code of the documented response`()
        async throws
    {
        let product = try await products.get(productID: 7)

        let error = await #expect(throws: APIError.self) {
            try await products.replace(productID: 7, body: product, ifMatch: "\"v1\"")
        }

        #expect(error?.module(ShopError.self) == .preconditionFailed)
    }

    @Test func `a generated read with a cache policy is revalidated by its entity tag`() async throws {
        var cache = CachePolicy()
        cache.lifetime = .seconds(60)
        cache.freshness = .http

        _ = try await products.get(productID: 7, cache: cache)
        let second = try await products.getResponse(productID: 7, cache: cache)

        #expect(second.source == .revalidated)
        #expect(second.value.title == "Chair")
        #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, "\"v2\""])
    }

    @Test func `a generated call uses a stored response only for the same parameters`() async throws {
        server.route(.get, "/products", answering: .json("[\(Self.product)]"))
        products.client.responseCache = ResponseCache(defaults: CacheDefaults(lifetime: .seconds(600)))
        let prices = [1.0, 2, 1].map { RangeModel(from: $0, to: 9) }

        for price in prices { _ = try await products.list(tags: ["a", "b"], price: price) }

        #expect(server.requests.count == 2)
    }

    @Test func `a generated read with If-None-Match that gets a 304 throws notModified`() async throws {
        let error = await #expect(throws: APIError.self) {
            try await products.get(productID: 7, ifNoneMatch: "\"v2\"")
        }

        #expect(error?.module(ShopError.self) == .notModified)
    }
}
