// Generated from shop.yaml: Shop, version 1.4, OpenAPI 3.1.0.
// Command: yard generate shop.yaml --name Shop
// Changes to this file are lost when it is generated again.

import Switchyard

/// Problem.
struct ShopRefusal: ObjectDecodable {
    let detail: String
    let errors: [String: [String]]?

    static let fields = Fields(Self.init, "detail errors")
}
