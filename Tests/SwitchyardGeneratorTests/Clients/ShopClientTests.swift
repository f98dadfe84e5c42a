import Foundation
import Switchyard
import SwitchyardFixtures
import SwitchyardTesting
import Testing

@testable import SwitchyardShopClient

/// The generated client of the shop with a real server.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ShopClientTests {
    private func shop(_ servers: LoopbackServer...) throws -> Shop {
        for server in servers { try server.start() }
        let client = try NetworkClient(service: .loopback(servers))
        return Shop(client: client, reportsClient: client)
    }

    private static let product =
        #"{"id": 7, "created_at": "2026-01-02T03:04:05.678Z", "title": "Chair", "price": 12.5, "state": "on sale"}"#

    @Test func `a generated call sends its parameters as the OpenAPI document specifies`() async throws {
        let server = LoopbackServer()
        server.route(.get, "/products", answering: .json("[\(Self.product)]"))
        let shop = try shop(server)

        let products = try await shop.products.list(
            acceptCurrency: "EUR",
            page: 2,
            tags: ["a", "b"],
            fields: ["x", "y"],
            price: RangeModel(from: 1, to: 2.5),
            available: true,
            in: "sofas & more"
        )

        #expect(products.first?.title == "Chair")
        #expect(products.first?.createdAt == Date(timeIntervalSince1970: 1_767_323_045.678))
        let request = try #require(server.requests.first)
        let items = Set(request.target.split(separator: "?").last?.split(separator: "&").map(String.init) ?? [])
        #expect(
            items == [
                "page=2", "tags=a", "tags=b", "fields=x%2Cy", "price%5Bfrom%5D=1.0", "price%5Bto%5D=2.5",
                "available=true", "in=sofas%20%26%20more",
            ]
        )
        #expect(request.headers["Accept-Currency"] == "EUR")
    }

    @Test func `a generated call sends the members of an exploded object as parameters of their own`() async throws {
        let server = LoopbackServer()
        server.route(.get, "/products", answering: .json("[]"))

        _ = try await shop(server).products.list(acceptCurrency: "EUR", attributes: ["color": "red", "a&b": "x=y"])

        let query = server.requests.first?.target.split(separator: "?").last
        #expect(query?.split(separator: "&").sorted() == ["a%26b=x%3Dy", "color=red"])
    }

    @Test func `a generated call does not send parameters and fields that are empty lists or objects`() async throws {
        let server = LoopbackServer()
        server.route(.get, "/products", answering: .json("[]"))
        server.route(.post, "/orders", answering: .json(#"{"id": "o1", "status": "paid", "placed": 1}"#))
        server.route(.get, "/categories", answering: .json(#"{"name": "all"}"#))
        let shop = try shop(server)

        _ = try await shop.products.list(acceptCurrency: "EUR", tags: [], fields: [], attributes: [:])
        _ = try await shop.orders.create(body: OrdersCreateBody(lines: [], gift: true, labels: [], address: [:]))
        _ = try? await shop.products.listCategories(seen: [])

        #expect(server.requests.map(\.target) == ["/products", "/orders", "/categories"])
        #expect(server.requests.map(\.text) == ["", "gift=true", ""])
        #expect(server.requests.map { $0.headers["Cookie"] } == [nil, nil, nil])
    }

    @Test func `a generated call sends an object with the separator that the document specifies`() async throws {
        let server = LoopbackServer()
        server.route(.get, "/products", answering: .json("[]"))
        server.route(.post, "/orders", answering: .json(#"{"id": "o1", "status": "paid", "placed": 1}"#))
        let shop = try shop(server)

        _ = try await shop.products.list(acceptCurrency: "EUR", material: ["oak": 100])
        _ = try await shop.orders.create(body: OrdersCreateBody(lines: [], note: ["R": "100"]))

        #expect(server.requests.first?.target == "/products?material=oak%7C100")
        #expect(server.requests.last?.text == "note=R%20100")
        #expect((["R": 100, "G": 200] as ParameterValue).joined(by: "|") == "R|100|G|200")
    }

    private static let texts: [(ParameterValue, String?, String?)] = [
        ([], nil, nil), ([nil], nil, nil), ([:], nil, nil), (["a": nil], nil, nil), ("", "", ""), ([""], "", ""),
        (["R": 100, "G": nil, "B": ""], "R,100,B,", "R=100,B="),
    ]

    @Test(arguments: texts)
    func `an empty list or object, or one with only null values, has no text in a header field`(
        value: ParameterValue,
        text: String?,
        pairs: String?
    ) {
        #expect(value.plainText == text)
        #expect(value.pairs == pairs)
    }

    @Test(arguments: [
        ("dark", "theme=dark"), ("abc+/=%20", "theme=abc+/=%20"), ("a; admin=1", "theme=a%3B%20admin=1"),
        ("50 %+", "theme=50%20%25%2B"), ("a\r\nX: 1", "theme=a%0D%0AX:%201"), ("\"ü\\", "theme=%22%C3%BC%5C"),
    ])
    func `a cookie value is percent-encoded if a cookie cannot contain it`(theme: String, field: String) async throws {
        let server = LoopbackServer()
        server.route(.get, "/categories", answering: .json(#"{"name": "all"}"#))

        _ = try? await shop(server).products.listCategories(theme: theme)

        #expect(server.requests.map { $0.headers["Cookie"] } == [field])
    }

    @Test func `a generated call with a cookie parameter also sends the stored cookies`() async throws {
        let server = LoopbackServer()
        server.route(.get, "/categories", answering: .json(#"{"name": "all"}"#))
        try server.start()
        let jar = CookieJar()
        jar.store(Cookie(name: "session", value: "1", domain: "127.0.0.1"))
        let client = try NetworkClient(service: .loopback([server])) { $0.generator.cookies = jar }

        _ = try? await Shop(client: client, reportsClient: client).products.listCategories(theme: "dark")

        #expect(server.requests.map { $0.headers["Cookie"] } == ["session=1; theme=dark"])
    }

    @Test func `commas separate the elements of a list in a cookie, and commas in elements are percent-encoded`()
        async throws
    {
        let server = LoopbackServer()
        server.route(.get, "/categories", answering: .json(#"{"name": "all"}"#))

        _ = try? await shop(server).products.listCategories(seen: ["a", "b,c"])

        #expect(server.requests.map { $0.headers["Cookie"] } == ["seen=a,b%2Cc"])
    }

    @Test func `a generated enum keeps a value that the document does not list`() async throws {
        let server = LoopbackServer()
        let body = Self.product.replacing("on sale", with: "auctioned").replacing("12.5", with: "[1]")
        server.route(.get, "/products/7", answering: .json(body))

        let product = try await shop(server).products.get(productID: 7)

        #expect(product.state == .other("auctioned"))
        guard case .other(let price) = product.price else {
            Issue.record("\(product.price)")
            return
        }
        #expect(price == [1])
    }

    @Test func `a generated union is decoded by its discriminator`() async throws {
        let server = LoopbackServer()
        let body = Self.product.dropLast() + #", "seller": {"kind": "company", "legal_name": "Wood Ltd"}}"#
        server.route(.get, "/products/7", answering: .json(String(body)))

        let product = try await shop(server).products.get(productID: 7)

        guard case .company(let company) = product.seller else {
            Issue.record("\(String(describing: product.seller))")
            return
        }
        #expect(company.legalName == "Wood Ltd")
    }

    @Test(arguments: [
        ("Tue, 03 Mar 2026 10:00:00 +0000", 1_772_532_000), ("3 Mar 2026 10:00:00 GMT", 1_772_532_000),
        ("Tue, 03 Mar 2026 12:00:00 +0200", 1_772_532_000), ("Wed, 31 Dec 1969 23:59:59 Z", -1),
        ("Tue, 03 Foo 2026 10:00:00 GMT", nil), ("2026-03-03", nil), ("", nil),
    ])
    func `a generated model reads a date in the format of RFC 2822`(text: String, seconds: Double?) {
        #expect(Date(rfc2822: text)?.timeIntervalSince1970 == seconds)
    }

    @Test func `a generated model writes a date in the format of RFC 2822`() {
        #expect(Date(timeIntervalSince1970: 1_772_532_000).rfc2822 == "Tue, 03 Mar 2026 10:00:00 +0000")
        #expect(Date(timeIntervalSince1970: -1).rfc2822 == "Wed, 31 Dec 1969 23:59:59 +0000")
    }

    @Test func `a generated model without required properties is decoded`() async throws {
        let server = LoopbackServer()
        let member = #", "size": {"width": 30, "height": null, "measured_at": 60, "legs": [40, null]}}"#
        let body = Self.product.dropLast() + member
        server.route(.get, "/products/7", answering: .json(String(body)))

        let size = try await shop(server).products.get(productID: 7).size

        #expect(size?.width == 30)
        #expect(size?.height == nil)
        #expect(size?.measuredAt == Date(timeIntervalSince1970: 60))
        #expect(size?.legs == [40, nil])
    }

    @Test func `a generated client converts a documented error response to an error code of the module`() async throws {
        let server = LoopbackServer()
        server.route(.get, "/products/9", answering: .json(#"{"detail": "No such product."}"#, status: 404))

        let error = await #expect(throws: APIError.self) { try await shop(server).products.get(productID: 9) }

        #expect(error?.module(ShopError.self) == .notFound)
        #expect(error?.message == "No such product.")
        #expect(error?.decodedBody(as: ShopRefusal.self)?.detail == "No such product.")
    }

    @Test func `a generated call sends its body without read-only properties`() async throws {
        let server = LoopbackServer()
        server.route(.post, "/products", answering: .json(Self.product, status: 201))
        let money = Money(amount: "9", currency: .eur)
        let new = Product(title: "Table", state: .draft, price: .money(money), released: CalendarDay("2026-02-03"))

        _ = try await shop(server).products.create(body: new)

        let request = try #require(server.requests.first)
        let sent = try JSONValue(parsing: request.body)
        #expect(
            sent == [
                "title": "Table", "state": "draft", "price": ["amount": "9", "currency": "EUR"],
                "released": "2026-02-03",
            ]
        )
        #expect(request.headers["Idempotency-Key"] != nil)
    }

    @Test func `in a generated form, array elements have indexes and dates are seconds`() async throws {
        let server = LoopbackServer()
        server.route(
            .post,
            "/orders",
            answering: .json(#"{"id": "o1", "status": "paid", "placed": 86400, "note": "x"}"#)
        )
        let lines = [OrdersCreateBodyLine(product: 1, count: 2), OrdersCreateBodyLine(product: 3, count: 4)]
        let body = OrdersCreateBody(lines: lines, gift: true, deliverAt: Date(timeIntervalSince1970: 60))

        let order = try await shop(server).orders.create(body: body)

        #expect(order.placed == Date(timeIntervalSince1970: 86_400))
        #expect(order.additionalProperties == ["note": "x"])
        let fields = Parameters(parsing: server.requests.first?.text ?? "")
        #expect(
            Set(fields.items.map { "\($0.key)=\($0.value.plainText ?? "")" }) == [
                "lines[0][product]=1", "lines[0][count]=2", "lines[1][product]=3", "lines[1][count]=4", "gift=true",
                "deliver_at=60",
            ]
        )
    }

    @Test func `a generated form has its lists and objects in the style that the document specifies`() async throws {
        let server = LoopbackServer()
        server.route(.post, "/orders", answering: .json(#"{"id": "o1", "status": "paid", "placed": 1}"#))
        let body = OrdersCreateBody(lines: [], labels: ["a", "b"], address: ["city": "Ulm"])

        _ = try await shop(server).orders.create(body: body)

        #expect(server.requests.first?.text.split(separator: "&").sorted() == ["city=Ulm", "labels=a%2Cb"])
    }

    @Test func `a generated form keeps the order of the elements of a long list`() async throws {
        let server = LoopbackServer()
        server.route(.post, "/orders", answering: .json(#"{"id": "o1", "status": "paid", "placed": 1}"#))
        let lines = (0..<12).map { OrdersCreateBodyLine(product: $0, count: 1) }

        _ = try await shop(server).orders.create(body: OrdersCreateBody(lines: lines))

        let fields = Parameters(parsing: server.requests.first?.text ?? "").items.filter { $0.key.contains("product") }
        #expect(fields.map(\.key) == (0..<12).map { "lines[\($0)][product]" })
        #expect(fields.map { $0.value.plainText } == (0..<12).map { "\($0)" })
    }

    @Test func `a generated multipart form contains files, fields and JSON`() async throws {
        let server = LoopbackServer()
        server.route(.post, "/products/7/files", answering: .json(#"{"count": 2}"#))
        let form = ProductsAddFilesForm(
            files: [.data(Data("one".utf8), fileName: "1.txt"), .data(Data("two".utf8), fileName: "2.txt")],
            purpose: .manual,
            labels: ["a": "b"]
        )

        let response = try await shop(server).products.addFiles(productID: 7, form: form)

        #expect(response.count == 2)
        let text = server.requests.first?.text ?? ""
        for part in ["name=\"files\"; filename=\"1.txt\"", "two", "name=\"purpose\"", "manual", #"{"a":"b"}"#] {
            #expect(text.contains(part), "\(part)")
        }
    }

    @Test func `if a body can be JSON or a form with files, an argument named body is sent as JSON`()
        async throws
    {
        let server = LoopbackServer()
        server.route(.post, "/products/7/files", answering: .json(#"{"count": 1}"#))
        let body = ProductsAddFilesBody(addresses: ["https://a.example/1.txt"])

        _ = try await shop(server).products.addFiles(productID: 7, body: body)

        #expect(server.requests.first?.text == #"{"addresses":["https://a.example/1.txt"]}"#)
        #expect(server.requests.first?.headers["Content-Type"] == "application/json")
    }

    @Test func `a generated call returns binary and text responses unchanged`() async throws {
        let server = LoopbackServer()
        server.route(.get, "/products/7/picture", answering: .data(Data([1, 2, 3])))
        server.route(.put, "/products/7/picture", answering: .status(204))
        server.route(.get, "/reports", answering: .text("a,b"))
        let shop = try shop(server)

        #expect(try await shop.products.picture(productID: 7) == Data([1, 2, 3]))
        #expect(try await shop.reports.get(day: CalendarDay(year: 2026, month: 1, day: 2)) == "a,b")
        try await shop.products.setPicture(productID: 7, body: .data(Data([9])))
        #expect(server.requests.last?.headers["Content-Type"] == "image/png")
    }

    @Test func `an operation whose response may have no body returns nil if there is no body`() async throws {
        let server = LoopbackServer()
        server.route(.get, "/products/7", answering: .status(204))
        server.route(.get, "/orders/o1/events", answering: .json(#"[{"type": "sent"}, {"type": "paid", "amount": 1}]"#))
        let shop = try shop(server)

        let events = try await shop.orders.events(order: "o1")
        guard case .sent? = events.first, case .paid(let paid)? = events.last else {
            Issue.record("\(events)")
            return
        }
        #expect(paid.amount == 1)
    }
}
