// Generated from shop.yaml: Shop, version 1.4, OpenAPI 3.1.0.
// Command: yard generate shop.yaml --name Shop
// Changes to this file are lost when it is generated again.

import Foundation
import Switchyard

/// Products and their categories.
final class ProductsAPI: APIManager {
    let client: NetworkClient
    let module = Shop.module

    init(client: NetworkClient) {
        self.client = client.scoped()
    }

    /// List products.
    func list(
        acceptCurrency: String? = nil,
        page: Int? = nil,
        perPage: Int? = nil,
        tags: [String]? = nil,
        fields: [String]? = nil,
        price: RangeModel? = nil,
        available: Bool? = nil,
        attributes: [String: String]? = nil,
        material: [String: Int]? = nil,
        in: String? = nil
    ) async throws(APIError) -> [Product] {
        var call = try APIConfiguration(
            .get,
            "products",
            query: [
                "page": page, "per_page": perPage, "tags": tags, "fields": fields?.joined(by: ","),
                "price": parameter(price), "available": available, "attributes": parameter(attributes),
                "material": parameter(material).joined(by: "|"), "in": `in`,
            ],
            headers: ["Accept-Currency": acceptCurrency],
            exploded: ["attributes"]
        )
        call.usesCredentials = false
        return try await value(for: call)
    }

    /// Reads the list of `list` page by page.
    func listPages(
        acceptCurrency: String? = nil,
        tags: [String]? = nil,
        fields: [String]? = nil,
        price: RangeModel? = nil,
        available: Bool? = nil,
        attributes: [String: String]? = nil,
        material: [String: Int]? = nil,
        in: String? = nil,
        pageSize: Int = 20
    ) -> PagedList<Product> {
        PagedList(pageSize: pageSize, strategy: .link) { [self] page in
            var call = try APIConfiguration(
                .get,
                "products",
                query: [
                    "per_page": page.size, "tags": tags, "fields": fields?.joined(by: ","), "price": parameter(price),
                    "available": available, "attributes": parameter(attributes),
                    "material": parameter(material).joined(by: "|"), "in": `in`,
                ],
                headers: ["Accept-Currency": acceptCurrency],
                exploded: ["attributes"]
            )
            call.usesCredentials = false
            return try await linkedPage([Product].self, call.following(page.link)) { Page($0) }
        }
    }

    /// Create a product.
    func create(
        body: Product,
        acceptCurrency: String? = nil,
        idempotencyKey: IdempotencyKey = .automatic
    ) async throws(APIError) -> Product {
        var call = APIConfiguration(.post, "products", headers: ["Accept-Currency": acceptCurrency], body: .json(body))
        call.idempotencyKey = idempotencyKey
        return try await value(for: call)
    }

    /// Returns the response of `get` with its header fields, such as `ETag`.
    func getResponse(
        productID: Int64,
        ifNoneMatch: String? = nil,
        cache: CachePolicy = CachePolicy()
    ) async throws(APIError) -> APIResponse<Product> {
        var call = APIConfiguration(
            .get,
            "products/{productID}",
            values: ["productID": productID],
            headers: ["If-None-Match": ifNoneMatch]
        )
        call.cache = cache
        call.allowsAnonymous = true
        return try await response(for: call)
    }

    /// Get a product.
    func get(
        productID: Int64,
        ifNoneMatch: String? = nil,
        cache: CachePolicy = CachePolicy()
    ) async throws(APIError) -> Product {
        try await getResponse(productID: productID, ifNoneMatch: ifNoneMatch, cache: cache).value
    }

    /// Returns the response of `replace` with its header fields, such as `ETag`.
    func replaceResponse(
        productID: Int64,
        body: Product,
        ifMatch: String? = nil
    ) async throws(APIError) -> APIResponse<EmptyBody> {
        let call = APIConfiguration(
            .put,
            "products/{productID}",
            values: ["productID": productID],
            headers: ["If-Match": ifMatch],
            body: .json(body)
        )
        return try await response(for: call, with: .empty)
    }

    /// Replace a product.
    func replace(productID: Int64, body: Product, ifMatch: String? = nil) async throws(APIError) {
        _ = try await replaceResponse(productID: productID, body: body, ifMatch: ifMatch)
    }

    /// Sends `PATCH /products/{product_id}`.
    @available(*, deprecated)
    func update(
        productID: Int64,
        ifMatch: String? = nil,
        body: ProductsUpdateBody? = nil
    ) async throws(APIError) -> Product? {
        let call = APIConfiguration(
            .patch,
            "products/{productID}",
            values: ["productID": productID],
            headers: ["If-Match": ifMatch],
            body: body.map { .json($0) } ?? .none
        )
        return try await value(Product?.self, for: call)
    }

    /// Returns the configuration of `picture` for reading its response as events or into a file.
    func pictureConfiguration(productID: Int64) -> APIConfiguration {
        APIConfiguration(.get, "products/{productID}/picture", values: ["productID": productID])
    }

    /// Sends `GET /products/{product_id}/picture`.
    func picture(productID: Int64) async throws(APIError) -> Data {
        let call = pictureConfiguration(productID: productID)
        return try await response(for: call, with: .data).value
    }

    /// Sends `PUT /products/{product_id}/picture`.
    func setPicture(productID: Int64, body: RequestBody) async throws(APIError) {
        let call = APIConfiguration(
            .put,
            "products/{productID}/picture",
            values: ["productID": productID],
            headers: ["Content-Type": "image/png"],
            body: body
        )
        try await send(call)
    }

    /// Sends `POST /products/{product_id}/files`.
    func addFiles(productID: Int64, body: ProductsAddFilesBody) async throws(APIError) -> ProductsAddFilesResponse {
        try await value(.post, "products/{productID}/files", values: ["productID": productID], body: .json(body))
    }

    /// Sends `POST /products/{product_id}/files`.
    func addFiles(
        productID: Int64,
        form body: ProductsAddFilesForm
    ) async throws(APIError) -> ProductsAddFilesResponse {
        try await value(.post, "products/{productID}/files", values: ["productID": productID], body: .multipart(body))
    }

    /// List categories.
    func listCategories(theme: String? = nil, seen: [String]? = nil) async throws(APIError) -> Category {
        try await value(.get, "categories", headers: ["Cookie": Parameters.cookies(["theme": theme, "seen": seen])])
    }
}
