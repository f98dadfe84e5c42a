// Generated from shop.yaml: Shop, version 1.4, OpenAPI 3.1.0.
// Command: yard generate shop.yaml --name Shop
// Changes to this file are lost when it is generated again.

import Foundation
import Switchyard

struct Category: Sendable {
    let name: String
    @Indirect var parent: Category?
    let children: [Category]?
}

extension Category: Decodable {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.fields()
        name = try fields.value("name")
        parent = try fields.optional("parent")
        children = try fields.optional("children")
    }
}

struct Company: Sendable {
    var kind: String
    var legalName: String
}

extension Company: Codable {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.fields()
        kind = try fields.value("kind")
        legalName = try fields.value("legal_name")
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: FieldName.self)
        try fields.write(kind, "kind")
        try fields.write(legalName, "legal_name")
    }
}

struct Money: Sendable {
    var amount: String
    var currency: MoneyCurrency
}

extension Money: Codable {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.fields()
        amount = try fields.value("amount")
        currency = try fields.value("currency")
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: FieldName.self)
        try fields.write(amount, "amount")
        try fields.write(currency, "currency")
    }
}

enum MoneyCurrency: OpenEnum {
    case eur, usd
    case other(String)

    static let known: [String: Self] = ["EUR": .eur, "USD": .usd]
    var rawValue: String { if case .other(let text) = self { text } else { knownText } }
}

struct Person: Sendable {
    var kind: String
    var name: String
}

extension Person: Codable {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.fields()
        kind = try fields.value("kind")
        name = try fields.value("name")
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: FieldName.self)
        try fields.write(kind, "kind")
        try fields.write(name, "name")
    }
}

/// A product of the shop.
struct Product: Sendable {
    var id: Int64?
    var createdAt: Date?
    /// The title, in the language of the request.
    var title: String
    var state: ProductState
    var price: ProductPrice
    var `default`: Bool?
    var seller: Seller?
    var released: CalendarDay?
    var attributes: [String: JSONValue]?
    var selfValue: String?
}

extension Product: Codable {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.fields()
        id = try fields.optional("id")
        createdAt = try fields.optional("created_at")
        title = try fields.value("title")
        state = try fields.value("state")
        price = try fields.value("price")
        `default` = try fields.optional("default")
        seller = try fields.optional("seller")
        released = try fields.optional("released")
        attributes = try fields.optional("attributes")
        selfValue = try fields.optional("self")
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: FieldName.self)
        try fields.write(id, "id")
        try fields.write(createdAt, "created_at")
        try fields.write(title, "title")
        try fields.write(state, "state")
        try fields.write(price, "price")
        try fields.write(`default`, "default")
        try fields.write(seller, "seller")
        try fields.write(released, "released")
        try fields.write(attributes, "attributes")
        try fields.write(selfValue, "self")
    }
}

enum ProductPrice: Sendable {
    case number(Double)
    case money(Money)
    case other(JSONValue)
}

extension ProductPrice: Codable {
    init(from decoder: any Decoder) throws {
        if let value: Double = decoder.attempt() {
            self = .number(value)
        } else if let value: Money = decoder.attempt() {
            self = .money(value)
        } else {
            self = .other(try decoder.value())
        }
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .number(let value): try encoder.write(value)
        case .money(let value): try encoder.write(value)
        case .other(let value): try encoder.write(value)
        }
    }
}

enum ProductState: OpenEnum {
    case draft, onSale, soldOut
    case other(String)

    static let known: [String: Self] = ["draft": .draft, "on sale": .onSale, "sold_out": .soldOut]
    var rawValue: String { if case .other(let text) = self { text } else { knownText } }
}

struct ProductsAddFilesBody: Sendable {
    var files: [FilePart]
    var cover: FilePart?
    var purpose: ProductsAddFilesBodyPurpose
    var labels: [String: String]?
}

extension ProductsAddFilesBody: MultipartBody {
    func add(to form: inout MultipartForm) throws(APIError) {
        form.add("files", files: files)
        form.add("cover", files: cover.map { [$0] })
        form.add("purpose", purpose)
        try form.add("labels", json: labels)
    }
}

enum ProductsAddFilesBodyPurpose: OpenEnum {
    case manual, picture
    case other(String)

    static let known: [String: Self] = ["manual": .manual, "picture": .picture]
    var rawValue: String { if case .other(let text) = self { text } else { knownText } }
}

struct ProductsAddFilesResponse: Sendable {
    let count: Int
}

extension ProductsAddFilesResponse: Decodable {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.fields()
        count = try fields.value("count")
    }
}

struct ProductsUpdateBody: Sendable {
    var title: String?
    var state: ProductState?
}

extension ProductsUpdateBody: Encodable {
    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: FieldName.self)
        try fields.write(title, "title")
        try fields.write(state, "state")
    }
}

struct RangeModel: Sendable {
    var from: Double?
    var to: Double?
}

extension RangeModel: Encodable {
    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: FieldName.self)
        try fields.write(from, "from")
        try fields.write(to, "to")
    }
}

enum Seller: Sendable {
    case person(Person)
    case company(Company)
    case other(JSONValue)
}

extension Seller: Codable {
    init(from decoder: any Decoder) throws {
        switch decoder.tag("kind") {
        case "person": self = .person(try decoder.value())
        case "company": self = .company(try decoder.value())
        default: self = .other(try decoder.value())
        }
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .person(let value): try encoder.write(value)
        case .company(let value): try encoder.write(value)
        case .other(let value): try encoder.write(value)
        }
    }
}
