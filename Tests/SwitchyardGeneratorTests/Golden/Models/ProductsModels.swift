// Generated from shop.yaml: Shop, version 1.4, OpenAPI 3.1.0.
// Command: yard generate shop.yaml --name Shop
// Changes to this file are lost when it is generated again.

import Foundation
import Switchyard

struct Category: ObjectDecodable {
    let name: String
    @Indirect var parent: Category?
    let children: [Category]?

    static let fields = Fields(Self.init, "name parent children")
}

struct Company: ObjectDecodable, Encodable {
    var kind: String
    var legalName: String

    static let fields = Fields(Self.init, "kind legal_name")

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: FieldName.self)
        try fields.write("kind legal_name", kind, legalName)
    }
}

struct Money: ObjectDecodable, Encodable {
    var amount: String
    var currency: MoneyCurrency

    static let fields = Fields(Self.init, "amount currency")

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: FieldName.self)
        try fields.write("amount currency", amount, currency)
    }
}

enum MoneyCurrency: OpenEnum {
    case eur, usd
    case other(String)

    static let known: [String: Self] = ["EUR": .eur, "USD": .usd]
    var rawValue: String { if case .other(let text) = self { text } else { knownText } }
}

struct Person: ObjectDecodable, Encodable {
    var kind: String
    var name: String

    static let fields = Fields(Self.init, "kind name")

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: FieldName.self)
        try fields.write("kind name", kind, name)
    }
}

/// A product of the shop.
struct Product: ObjectDecodable, Encodable {
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
    var size: Size?

    static let fields = Fields(
        Self.init,
        "id created_at title state price default seller released attributes self size"
    )

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: FieldName.self)
        try fields.write("id created_at title state price default", id, createdAt, title, state, price, `default`)
        try fields.write("seller released attributes self size", seller, released, attributes, selfValue, size)
    }
}

enum ProductPrice: FieldValue, Encodable {
    case number(Double)
    case money(Money)
    case other(JSONValue)

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

struct ProductsAddFilesBody: MultipartBody {
    var files: [FilePart]
    var cover: FilePart?
    var purpose: ProductsAddFilesBodyPurpose
    var labels: [String: String]?

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

struct ProductsAddFilesResponse: ObjectDecodable {
    let count: Int

    static let fields = Fields(Self.init, "count")
}

struct ProductsUpdateBody: Encodable, Sendable {
    var title: String?
    var state: ProductState?

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: FieldName.self)
        try fields.write("title state", title, state)
    }
}

struct RangeModel: Encodable, Sendable {
    var from: Double?
    var to: Double?

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: FieldName.self)
        try fields.write("from to", from, to)
    }
}

enum Seller: FieldValue, Encodable {
    case person(Person)
    case company(Company)
    case other(JSONValue)

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

struct Size: ObjectDecodable, Encodable {
    var width: Int?
    var height: Int?
    var measuredAt: Date?

    static let fields = Fields(Self.init, "width height measured_at", unixTimes: "measured_at")

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: FieldName.self)
        try fields.write("width height", width, height)
        try fields.writeUnixTime("measured_at", measuredAt)
    }
}
