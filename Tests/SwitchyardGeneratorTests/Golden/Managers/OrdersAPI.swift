// Generated from shop.yaml: Shop, version 1.4, OpenAPI 3.1.0.
// Command: yard generate shop.yaml --name Shop
// Changes to this file are lost when it is generated again.

import Switchyard

/// Orders of the customer.
final class OrdersAPI: APIManager {
    let client: NetworkClient
    let module = Shop.module

    init(client: NetworkClient) {
        self.client = client.scoped()
    }

    /// List orders.
    func list(
        cursor: String? = nil,
        limit: Int? = nil,
        since: CalendarDay? = nil
    ) async throws(APIError) -> OrdersListResponse {
        try await value(.get, "orders", query: ["cursor": cursor, "limit": limit, "since": since])
    }

    /// Reads the list of `list` page by page.
    func listPages(since: CalendarDay? = nil, pageSize: Int = 50) -> PagedList<Order> {
        PagedList(pageSize: pageSize, strategy: .cursor) { [self] page in
            let list = try await self.list(cursor: page.cursor, limit: page.size, since: since)
            return Page(list.items, nextCursor: list.nextCursor)
        }
    }

    /// Place an order.
    func create(body: OrdersCreateBody) async throws(APIError) -> Order {
        try await value(
            .post,
            "orders",
            body: .form(
                encoding: body,
                deepLists: ["lines"],
                exploded: ["address"],
                joined: ["labels": ",", "note": " "]
            )
        )
    }

    /// Sends `GET /orders/archive`.
    func archive(offset: Int? = nil, limit: Int? = nil) async throws(APIError) -> OrdersArchiveResponse {
        try await value(.get, "orders/archive", query: ["offset": offset, "limit": limit])
    }

    /// Reads the list of `archive` page by page.
    func archivePages(pageSize: Int = 30) -> PagedList<Order> {
        PagedList(pageSize: pageSize, strategy: .offset) { [self] page in
            let list = try await self.archive(offset: page.offset, limit: page.size)
            return Page(list.data, total: list.total)
        }
    }

    /// Sends `GET /orders/recent`.
    func recent(startingAfter: String? = nil, limit: Int? = nil) async throws(APIError) -> OrdersRecentResponse {
        try await value(.get, "orders/recent", query: ["starting_after": startingAfter, "limit": limit])
    }

    /// Reads the list of `recent` page by page.
    func recentPages(pageSize: Int = 30) -> PagedList<Order> {
        PagedList(pageSize: pageSize, strategy: .lastID(\.id)) { [self] page in
            let list = try await self.recent(startingAfter: page.lastID, limit: page.size)
            return Page(list.data, hasMore: list.hasMore)
        }
    }

    /// Returns the configuration of `events` for reading its response as events or into a file.
    func eventsConfiguration(order: String) -> APIConfiguration {
        APIConfiguration(.get, "orders/{order}/events", values: ["order": order])
    }

    /// Follow an order.
    func events(order: String) async throws(APIError) -> [OrderEvent] {
        let call = eventsConfiguration(order: order)
        return try await value(for: call)
    }
}
