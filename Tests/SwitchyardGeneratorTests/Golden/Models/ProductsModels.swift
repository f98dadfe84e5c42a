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

struct Company: ObjectCodable {
    var kind: String
    var legalName: String

    static let fields = Fields(Self.init, "kind legal_name")
    var fieldValues: FieldValues { [kind, legalName] }
}

struct Money: ObjectCodable {
    var amount: String
    var currency: MoneyCurrency

    static let fields = Fields(Self.init, "amount currency")
    var fieldValues: FieldValues { [amount, currency] }
}

enum MoneyCurrency: OpenEnum {
    case eur, usd, other(String)

    static let known: [String: Self] = ["EUR": .eur, "USD": .usd]
    var rawValue: String { if case .other(let text) = self { text } else { knownText } }
}

struct Person: ObjectCodable {
    var kind: String
    var name: String

    static let fields = Fields(Self.init, "kind name")
    var fieldValues: FieldValues { [kind, name] }
}

/// A product of the shop.
struct Product: ObjectCodable {
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
    var fieldValues: FieldValues {
        [id, createdAt, title, state, price, `default`, seller, released, attributes, selfValue, size]
    }
}

enum ProductPrice: DecodableUnion, EncodableUnion {
    case number(Double)
    case money(Money)
    case other(JSONValue)

    static let cases = UnionCases<Self>(.of(Self.number), .of(Self.money))
    var content: any Encodable {
        switch self {
        case .number(let value): value
        case .money(let value): value
        case .other(let value): value
        }
    }
}

enum ProductState: OpenEnum {
    case draft, onSale, soldOut, other(String)

    static let known: [String: Self] = ["draft": .draft, "on sale": .onSale, "sold_out": .soldOut]
    var rawValue: String { if case .other(let text) = self { text } else { knownText } }
}

struct ProductsAddFilesBody: ObjectEncodable {
    var addresses: [String]
    var cover: ProductsAddFilesBodyCover?

    static let names = FieldNames("addresses cover")
    var fieldValues: FieldValues { [addresses, cover] }
}

struct ProductsAddFilesBodyCover: ObjectEncodable {
    var address: String?

    static let names = FieldNames("address")
    var fieldValues: FieldValues { [address] }
}

struct ProductsAddFilesForm: MultipartBody {
    var files: [FilePart]
    var cover: FilePart?
    var purpose: ProductsAddFilesFormPurpose
    var labels: [String: String]?

    func add(to form: inout MultipartForm) throws(APIError) {
        form.add("files", files: files)
        form.add("cover", files: cover.map { [$0] })
        form.add("purpose", purpose)
        try form.add("labels", json: labels)
    }
}

enum ProductsAddFilesFormPurpose: OpenEnum {
    case manual, picture, other(String)

    static let known: [String: Self] = ["manual": .manual, "picture": .picture]
    var rawValue: String { if case .other(let text) = self { text } else { knownText } }
}

struct ProductsAddFilesResponse: ObjectDecodable {
    let count: Int

    static let fields = Fields(Self.init, "count")
}

struct ProductsUpdateBody: ObjectEncodable {
    var title: String?
    var state: ProductState?

    static let names = FieldNames("title state")
    var fieldValues: FieldValues { [title, state] }
}

struct RangeModel: ObjectEncodable {
    var from: Double?
    var to: Double?

    static let names = FieldNames("from to")
    var fieldValues: FieldValues { [from, to] }
}

enum Seller: DecodableUnion, EncodableUnion {
    case person(Person)
    case company(Company)
    case other(JSONValue)

    static let cases = UnionCases<Self>(
        tag: "kind",
        .of(Self.person, tags: "person Person"),
        .of(Self.company, tags: "company Company")
    )
    var content: any Encodable {
        switch self {
        case .person(let value): value
        case .company(let value): value
        case .other(let value): value
        }
    }
}

struct Size: ObjectCodable {
    var width: Int?
    var height: Int?
    var measuredAt: Date?
    var legs: [Int?]?

    static let fields = Fields(Self.init, "width height measured_at legs", unixTimes: "measured_at")
    var fieldValues: FieldValues { [width, height, measuredAt, legs] }
}
