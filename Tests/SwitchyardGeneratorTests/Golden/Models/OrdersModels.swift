// Generated from shop.yaml: Shop, version 1.4, OpenAPI 3.1.0.
// Command: yard generate shop.yaml --name Shop
// Changes to this file are lost when it is generated again.

import Foundation
import Switchyard

struct Order: Sendable {
    let id: String
    let status: OrderStatus
    let placed: Date
    let sent: Date?
    let additionalProperties: [String: String]
}

extension Order: Decodable {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.fields()
        id = try fields.value("id")
        status = try fields.value("status")
        placed = try fields.unixTime("placed")
        sent = try fields.optionalHTTPDate("sent")
        additionalProperties = try fields.others(than: ["id", "status", "placed", "sent"])
    }
}

enum OrderEvent: Sendable {
    case paid(OrderEventPaid)
    case sent(OrderEventSent)
    case other(JSONValue)
}

extension OrderEvent: Decodable {
    init(from decoder: any Decoder) throws {
        switch decoder.tag("type") {
        case "paid": self = .paid(try decoder.value())
        case "sent": self = .sent(try decoder.value())
        default: self = .other(try decoder.value())
        }
    }
}

/// Paid.
struct OrderEventPaid: Sendable {
    let type: String
    let amount: Double
}

extension OrderEventPaid: Decodable {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.fields()
        type = try fields.value("type")
        amount = try fields.value("amount")
    }
}

/// Sent.
struct OrderEventSent: Sendable {
    let type: String
    let carrier: String?
}

extension OrderEventSent: Decodable {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.fields()
        type = try fields.value("type")
        carrier = try fields.optional("carrier")
    }
}

enum OrderStatus: OpenEnum {
    case placed, paid, sent, minus1
    case other(String)

    static let known: [String: Self] = ["placed": .placed, "paid": .paid, "sent": .sent, "-1": .minus1]
    var rawValue: String { if case .other(let text) = self { text } else { knownText } }
}

struct OrdersArchiveResponse: Sendable {
    let data: [Order]
    let total: Int
}

extension OrdersArchiveResponse: Decodable {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.fields()
        data = try fields.value("data")
        total = try fields.value("total")
    }
}

struct OrdersCreateBody: Sendable {
    var lines: [OrdersCreateBodyLine]
    var gift: Bool?
    var deliverAt: Date?
}

extension OrdersCreateBody: Encodable {
    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: FieldName.self)
        try fields.write(lines, "lines")
        try fields.write(gift, "gift")
        try fields.writeUnixTime(deliverAt, "deliver_at")
    }
}

struct OrdersCreateBodyLine: Sendable {
    var product: Int64
    var count: Int
}

extension OrdersCreateBodyLine: Encodable {
    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: FieldName.self)
        try fields.write(product, "product")
        try fields.write(count, "count")
    }
}

struct OrdersListResponse: Sendable {
    let items: [Order]
    let nextCursor: String?
}

extension OrdersListResponse: Decodable {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.fields()
        items = try fields.value("items")
        nextCursor = try fields.optional("next_cursor")
    }
}

struct OrdersRecentResponse: Sendable {
    let data: [Order]
    let hasMore: Bool
}

extension OrdersRecentResponse: Decodable {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.fields()
        data = try fields.value("data")
        hasMore = try fields.value("has_more")
    }
}
