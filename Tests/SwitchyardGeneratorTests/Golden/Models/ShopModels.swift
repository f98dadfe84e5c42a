// Generated from shop.yaml: Shop, version 1.4, OpenAPI 3.1.0.
// Command: yard generate shop.yaml --name Shop
// Changes to this file are lost when it is generated again.

import Switchyard

/// Problem.
struct ShopRefusal: Sendable {
    let detail: String
    let errors: [String: [String]]?
}

extension ShopRefusal: Decodable {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.fields()
        detail = try fields.value("detail")
        errors = try fields.optional("errors")
    }
}
