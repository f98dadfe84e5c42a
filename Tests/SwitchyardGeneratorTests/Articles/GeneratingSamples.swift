import Foundation
public import Switchyard
import SwitchyardFixtures
import SwitchyardTesting
import Testing

@testable import SwitchyardShopClient

// sample
extension Shop {
    /// The service that the document describes.
    public static func service() throws(CatalogError) -> Service {
        try ServiceCatalog.service(contentsOf: Bundle.module.bundleURL.appending(path: "Services/shop.json"))
    }
}
// end

/// Compiles and runs the samples of the article on generating.
@Suite(.timeLimit(.minutes(5)), .prompt) struct GeneratingSamples {
    private func makeShop(_ file: URL, _ token: String) throws -> Shop {
        // sample
        let service = try ServiceCatalog.service(contentsOf: file)
        let client = try NetworkClient(service: service) { options in
            options.credentials = Shop.credentials(token: token)
        }
        let shop = Shop(client: client, reportsClient: client)
        // end
        return shop
    }

    private func makeOtherClients(_ service: Service) throws -> [NetworkClient] {
        // sample
        let sandbox = try NetworkClient(service: service, environment: "sandbox")
        let local = try NetworkClient(service: Service(name: "shop", baseURL: "http://127.0.0.1:8080/v1"))
        // end
        return [sandbox, local]
    }

    private func readProduct(_ shop: Shop) async throws -> [String] {
        var lines: [String] = []
        let show: (String) -> Void = { lines.append($0) }
        // sample
        do throws(APIError) {
            let product = try await shop.products.get(productID: 7)
            show(product.title)
        } catch {
            switch error.module(ShopError.self) {
            case .notFound: show("There is no such product.")
            default: show(error.message)
            }
        }
        // end
        return lines
    }

    private func renameProduct(_ shop: Shop) async throws {
        // sample
        let response = try await shop.products.getResponse(productID: 7)
        var product = response.value
        product.title = "Oak chair"
        try await shop.products.replace(productID: 7, body: product, ifMatch: response.headers["ETag"])
        // end
    }

    private func readCached(_ shop: Shop) async throws -> String {
        // sample
        var cache = CachePolicy()
        cache.lifetime = .seconds(600)
        cache.freshness = .http
        let product = try await shop.products.get(productID: 7, cache: cache)
        // end
        return product.title
    }

    private func readProducts(_ shop: Shop) async throws -> [String] {
        var lines: [String] = []
        let show: (String) -> Void = { lines.append($0) }
        // sample
        let list = shop.products.listPages(tags: ["wood"], pageSize: 50)
        for try await product in list.all { show(product.title) }
        // end
        // sample
        try await list.refresh()
        while list.recorder.hasMore { try await list.loadMore() }
        // end
        return lines + list.recorder.items.map(\.title)
    }

    @Test func `the clients for other environments and servers use their base URLs`() throws {
        let clients = try makeOtherClients(ServiceCatalog.service(contentsOf: shopServiceFile))

        #expect(clients.map(\.environment) == ["sandbox", .release])
    }

    /// The service file of the reviewed client.
    private var shopServiceFile: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Golden/Services/shop.json")
    }

    @Test func `the code samples in the article about generated clients run without errors`() async throws {
        let server = LoopbackServer()
        let product =
            #"{"id": 7, "created_at": "2026-01-02T03:04:05Z", "title": "Chair", "price": 1, "state": "draft"}"#
        server.route(.get, "/products", answering: .json("[\(product)]"))
        server.route(.get, "/products/7", answering: .json("{}", status: 404))
        try server.start()
        let text =
            #"{"service": "shop", "defaultEnvironment": "test", "servers": [{"name": "a", "baseURLs": {"test": "\#(server.baseURL)"}}]}"#
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("article-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("shop.json")
        try Data(text.utf8).write(to: file)

        let shop = try makeShop(file, "t")

        #expect(try await readProduct(shop) == ["There is no such product."])
        #expect(try await readProducts(shop) == ["Chair", "Chair"])
        server.route(.get, "/products/7", answering: .json(product, headers: ["ETag": "\"v1\""]))
        server.route(.put, "/products/7", answering: .status(204))
        try await renameProduct(shop)
        #expect(server.requests.last?.headers["If-Match"] == "\"v1\"")
        #expect(try await readCached(shop) == "Chair")
    }
}
