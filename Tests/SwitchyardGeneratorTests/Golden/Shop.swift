// Generated from shop.yaml: Shop, version 1.4, OpenAPI 3.1.0.
// Command: yard generate shop.yaml --name Shop
// Changes to this file are lost when it is generated again.

import Switchyard

/// Shop.
struct Shop: Sendable {
    /// The error codes by HTTP status.
    static let errors = ModuleErrors(
        ShopError.self,
        statuses: [
            304: .notModified, 404: .notFound, 409: .conflict, 412: .preconditionFailed, 422: .unprocessableContent,
        ]
    )
    /// The common properties of all responses.
    static let module = APIModule(errors: errors, errorBody: ErrorBody(message: "detail", fields: "errors"))

    /// Products and their categories.
    let products: ProductsAPI
    /// Orders of the customer.
    let orders: OrdersAPI
    let reports: ReportsAPI

    /// Creates all managers.
    ///
    /// Each service has its own client.
    init(client: NetworkClient, reportsClient: NetworkClient) {
        products = ProductsAPI(client: client)
        orders = OrdersAPI(client: client)
        reports = ReportsAPI(client: reportsClient)
    }
}

/// The documented errors, whose codes are 1000 plus the HTTP status.
///
/// `error.decodedBody(as: ShopRefusal.self)` decodes the body of most of these errors.
enum ShopError: Int, ModuleErrorCode {
    /// The product has not changed.
    case notModified = 1304
    /// An error response.
    case notFound = 1404
    /// An error response.
    case conflict = 1409
    /// Another client has changed the product.
    case preconditionFailed = 1412
    /// An error response.
    case unprocessableContent = 1422
}

extension Shop {
    /// Credentials for `options.credentials` of the client.
    static func credentials(token: String) -> Credentials {
        Credentials(.bearer(token))
    }

    /// Credentials for `options.credentials` of the client.
    static func credentials(key: String) -> Credentials {
        Credentials(.header("X-Shop-Key", key))
    }
}
