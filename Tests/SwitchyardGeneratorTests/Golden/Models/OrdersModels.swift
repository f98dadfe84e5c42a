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

enum OrderEvent: FieldValue {
    case paid(OrderEventPaid)
    case sent(OrderEventSent)
    case other(JSONValue)

    init(from decoder: any Decoder) throws {
        switch decoder.tag("type") {
        case "paid": self = .paid(try decoder.value())
        case "sent": self = .sent(try decoder.value())
        default: self = .other(try decoder.value())
        }
    }
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
    case placed, paid, sent, minus1
    case other(String)

    static let known: [String: Self] = ["placed": .placed, "paid": .paid, "sent": .sent, "-1": .minus1]
    var rawValue: String { if case .other(let text) = self { text } else { knownText } }
}

struct OrdersArchiveResponse: ObjectDecodable {
    let data: [Order]
    let total: Int

    static let fields = Fields(Self.init, "data total")
}

struct OrdersCreateBody: Encodable, Sendable {
    var lines: [OrdersCreateBodyLine]
    var gift: Bool?
    var deliverAt: Date?

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: FieldName.self)
        try fields.write("lines gift", lines, gift)
        try fields.writeUnixTime("deliver_at", deliverAt)
    }
}

struct OrdersCreateBodyLine: Encodable, Sendable {
    var product: Int64
    var count: Int

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: FieldName.self)
        try fields.write("product count", product, count)
    }
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
