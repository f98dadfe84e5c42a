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
    ///
    /// `GET /orders`
    func list(
        cursor: String? = nil,
        limit: Int? = nil,
        since: CalendarDay? = nil
    ) async throws(APIError) -> OrdersListResponse {
        let call = APIConfiguration(.get, "orders", query: ["cursor": cursor, "limit": limit, "since": since])
        return try await value(for: call)
    }

    /// Reads the list of `list` page by page.
    func listPages(since: CalendarDay? = nil, pageSize: Int = 50) -> PagedList<Order> {
        PagedList(pageSize: pageSize, strategy: .cursor) { [self] page in
            let call = APIConfiguration(
                .get,
                "orders",
                query: ["cursor": page.cursor, "limit": page.size, "since": since]
            )
            let list: OrdersListResponse = try await value(for: call)
            return Page(list.items, nextCursor: list.nextCursor)
        }
    }

    /// Place an order.
    ///
    /// `POST /orders`
    func create(body: OrdersCreateBody) async throws(APIError) -> Order {
        let call = try APIConfiguration(.post, "orders", body: .form(encoding: body, deepLists: ["lines"]))
        return try await value(for: call)
    }

    /// Sends `GET /orders/archive`.
    func archive(offset: Int? = nil, limit: Int? = nil) async throws(APIError) -> OrdersArchiveResponse {
        let call = APIConfiguration(.get, "orders/archive", query: ["offset": offset, "limit": limit])
        return try await value(for: call)
    }

    /// Reads the list of `archive` page by page.
    func archivePages(pageSize: Int = 30) -> PagedList<Order> {
        PagedList(pageSize: pageSize, strategy: .offset) { [self] page in
            let call = APIConfiguration(.get, "orders/archive", query: ["offset": page.offset, "limit": page.size])
            let list: OrdersArchiveResponse = try await value(for: call)
            return Page(list.data, total: list.total)
        }
    }

    /// Sends `GET /orders/recent`.
    func recent(startingAfter: String? = nil, limit: Int? = nil) async throws(APIError) -> OrdersRecentResponse {
        let call = APIConfiguration(.get, "orders/recent", query: ["starting_after": startingAfter, "limit": limit])
        return try await value(for: call)
    }

    /// Reads the list of `recent` page by page.
    func recentPages(pageSize: Int = 30) -> PagedList<Order> {
        PagedList(pageSize: pageSize, strategy: .lastID(\.id)) { [self] page in
            let call = APIConfiguration(
                .get,
                "orders/recent",
                query: ["starting_after": page.lastID, "limit": page.size]
            )
            let list: OrdersRecentResponse = try await value(for: call)
            return Page(list.data, hasMore: list.hasMore)
        }
    }

    /// Returns the configuration of `events` for reading its response as events or into a file.
    func eventsConfiguration(order: String) -> APIConfiguration {
        APIConfiguration(.get, "orders/{order}/events", values: ["order": order])
    }

    /// Follow an order.
    ///
    /// `GET /orders/{order}/events`
    func events(order: String) async throws(APIError) -> [OrderEvent] {
        let call = eventsConfiguration(order: order)
        return try await value(for: call)
    }
}
