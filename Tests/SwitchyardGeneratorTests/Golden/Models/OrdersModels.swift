// Generated from shop.yaml: Shop, version 1.4, OpenAPI 3.1.0.
// Command: yard generate shop.yaml --name Shop
// Changes to this file are lost when it is generated again.

import Foundation
import Switchyard

struct Order: ObjectDecodable {
    let id: String
    let status: OrderStatus
    let placed: Date
    let sent: Date?
    let additionalProperties: [String: String]

    static let fields = Fields(Self.init, "id status placed sent", unixTimes: "placed", emailDates: "sent")
}

enum OrderEvent: DecodableUnion {
    case paid(OrderEventPaid)
    case sent(OrderEventSent)
    case other(JSONValue)

    static let cases = UnionCases<Self>(tag: "type", .of(Self.paid, tags: "paid"), .of(Self.sent, tags: "sent"))
}

/// Paid.
struct OrderEventPaid: ObjectDecodable {
    let type: String
    let amount: Double

    static let fields = Fields(Self.init, "type amount")
}

/// Sent.
struct OrderEventSent: ObjectDecodable {
    let type: String
    let carrier: String?

    static let fields = Fields(Self.init, "type carrier")
}

enum OrderStatus: OpenEnum {
    case placed, paid, sent, minus1, other(String)

    static let known: [String: Self] = ["placed": .placed, "paid": .paid, "sent": .sent, "-1": .minus1]
    var rawValue: String { if case .other(let text) = self { text } else { knownText } }
}

struct OrdersArchiveResponse: ObjectDecodable {
    let data: [Order]
    let total: Int

    static let fields = Fields(Self.init, "data total")
}

struct OrdersCreateBody: ObjectEncodable {
    var lines: [OrdersCreateBodyLine]
    var gift: Bool?
    var deliverAt: Date?
    var labels: [String]?
    var address: [String: String]?
    var note: [String: String]?

    static let names = FieldNames("lines gift deliver_at labels address note", unixTimes: "deliver_at")
    var fieldValues: FieldValues { [lines, gift, deliverAt, labels, address, note] }
}

struct OrdersCreateBodyLine: ObjectEncodable {
    var product: Int64
    var count: Int

    static let names = FieldNames("product count")
    var fieldValues: FieldValues { [product, count] }
}

struct OrdersListResponse: ObjectDecodable {
    let items: [Order]
    let nextCursor: String?

    static let fields = Fields(Self.init, "items next_cursor")
}

struct OrdersRecentResponse: ObjectDecodable {
    let data: [Order]
    let hasMore: Bool

    static let fields = Fields(Self.init, "data has_more")
}
