// Generated from shop.yaml: Shop, version 1.4, OpenAPI 3.1.0.
// Command: yard generate shop.yaml --name Shop
// Changes to this file are lost when it is generated again.

import Switchyard

/// Shop.
struct Shop: Sendable {
    /// The codes for refusals by their HTTP status.
    static let errors = ModuleErrors(
        ShopError.self,
        statuses: [404: .notFound, 409: .conflict, 412: .preconditionFailed, 422: .unprocessableContent]
    )
    /// The common properties of all responses.
    static let module = APIModule(errors: errors, errorBody: ErrorBody(message: "detail", fields: "errors"))

    /// Products and the categories that they stand in.
    let products: ProductsAPI
    /// Orders of the customer.
    let orders: OrdersAPI
    let reports: ReportsAPI

    /// Creates all managers.
    ///
    /// Each service has a client of its own.
    init(client: NetworkClient, reportsClient: NetworkClient) {
        products = ProductsAPI(client: client)
        orders = OrdersAPI(client: client)
        reports = ReportsAPI(client: reportsClient)
    }
}

/// The refusals that the document describes; a code is 1000 and the HTTP status.
///
/// `error.decodedBody(as: ShopRefusal.self)` reads the body of most of them.
enum ShopError: Int, ModuleErrorCode {
    /// What is wrong.
    case notFound = 1404
    /// What is wrong.
    case conflict = 1409
    /// Somebody else has changed the product.
    case preconditionFailed = 1412
    /// What is wrong.
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
