import Foundation
import Switchyard
import SwitchyardFixtures
import SwitchyardTesting
import Testing

@testable import SwitchyardShopClient

/// The lists of the generated client with a server that dies on the way.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ShopListTests {
    private static func product(_ id: Int) -> String {
        #"{"id": \#(id), "created_at": "2026-01-02T03:04:05Z", "title": "P", "price": 1, "state": "draft"}"#
    }

    private static func order(_ id: Int) -> String { #"{"id": "\#(id)", "status": "paid", "placed": 1}"# }

    /// A server with 100 products and orders.
    private func server() throws -> LoopbackServer {
        let server = LoopbackServer()
        server.route(.get, "/products") { request in
            let page = request.queryValue("page").flatMap { Int($0) } ?? 1
            let size = request.queryValue("per_page").flatMap { Int($0) } ?? 20
            let ids = ((page - 1) * size)..<min(100, page * size)
            let next =
                "<http://\(request.headers["Host"] ?? "")/products?page=\(page + 1)&per_page=\(size)>; rel=\"next\""
            let headers: HTTPHeaders = ids.upperBound < 100 ? ["Link": next] : [:]
            return .json("[\(ids.map(Self.product).joined(separator: ","))]", headers: headers)
        }
        server.route(.get, "/orders") { request in
            let start = request.queryValue("cursor").flatMap { Int($0) } ?? 0
            let ids = start..<min(100, start + 20)
            let next = ids.upperBound < 100 ? "\"\(ids.upperBound)\"" : "null"
            return .json(#"{"items": [\#(ids.map(Self.order).joined(separator: ","))], "next_cursor": \#(next)}"#)
        }
        server.route(.get, "/orders/archive") { request in
            let start = request.queryValue("offset").flatMap { Int($0) } ?? 0
            let ids = start..<min(100, start + 20)
            return .json(#"{"data": [\#(ids.map(Self.order).joined(separator: ","))], "total": 100}"#)
        }
        server.route(.get, "/orders/recent") { request in
            let start = request.queryValue("starting_after").flatMap { Int($0) }.map { $0 + 1 } ?? 0
            let ids = start..<min(100, start + 20)
            return .json(
                #"{"data": [\#(ids.map(Self.order).joined(separator: ","))], "has_more": \#(ids.upperBound < 100)}"#
            )
        }
        try server.start()
        return server
    }

    private func shop(_ servers: [LoopbackServer]) throws -> Shop {
        let client = try NetworkClient(service: .loopback(servers))
        return Shop(client: client, reportsClient: client)
    }

    @Test func `a list with page links continues on the second server when the first dies`() async throws {
        let servers = [try server(), try server()]
        let list = try shop(servers).products.listPages(pageSize: 20)
        var ids: [Int64] = []

        for try await product in list.all {
            ids.append(product.id ?? -1)
            if ids.count == 30 { servers[0].stop() }
        }

        #expect(ids == Array(0..<100))
        #expect(!servers[1].requests.isEmpty)
    }

    enum Kind: CaseIterable {
        case cursor
        case offset
        case lastID
    }

    @Test(arguments: Kind.allCases)
    func `a list that is paged by cursor, offset or last ID continues when a server dies`(kind: Kind) async throws {
        let servers = [try server(), try server()]
        let orders = try shop(servers).orders
        let list =
            switch kind {
            case .cursor: orders.listPages(pageSize: 20)
            case .offset: orders.archivePages(pageSize: 20)
            case .lastID: orders.recentPages(pageSize: 20)
            }

        try await list.refresh()
        servers[0].stop()
        while list.recorder.hasMore { try await list.loadMore() }

        #expect(list.recorder.items.map(\.id) == (0..<100).map(String.init))
    }
}
