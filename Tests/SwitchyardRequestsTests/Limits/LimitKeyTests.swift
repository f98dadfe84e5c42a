import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardServices
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct LimitKeyTests {
    private func prebuilt(_ url: String, method: HTTPMethod = .get) throws -> APIConfiguration {
        var configuration = APIConfiguration()
        configuration.prebuiltRequest = HTTPRequest(method: method, url: try RequestURL(validating: url))
        return configuration
    }

    private func user(_ id: Int) -> APIConfiguration {
        var configuration = APIConfiguration(path: "users/{id}")
        configuration.pathValues = ["id": id]
        return configuration
    }

    private static let equallyDescribed: [[ParameterValue]] = [
        [.data(Data([1, 2])), .data(Data([3, 4]))],
        [.date(Date(timeIntervalSince1970: 1.25)), .date(Date(timeIntervalSince1970: 1.75))],
        [.string("1"), .integer(1)],
    ]

    @Test(arguments: equallyDescribed)
    func `different parameter values have different limit keys even if their descriptions are equal`(
        values: [ParameterValue]
    ) {
        let calls = values.map { APIConfiguration(path: "x", query: Parameters([.init(key: "v", value: $0)])) }

        #expect(LimitKey.call(calls[0]) != LimitKey.call(calls[1]))
        #expect(LimitKey.parameters("v")(calls[0]) != LimitKey.parameters("v")(calls[1]))
    }

    @Test func `a call without a parameter has another limit key than a call with the parameter`() {
        let with = APIConfiguration(path: "x", query: ["v": "-"])

        #expect(LimitKey.parameters("v")(with) != LimitKey.parameters("v")(APIConfiguration(path: "x")))
    }

    @Test func `path values are part of a limit key for calls, but not of a limit key for endpoints`() {
        #expect(LimitKey.call(user(1)) != LimitKey.call(user(2)))
        #expect(LimitKey.call(user(1)) == LimitKey.call(user(1)))
        #expect(LimitKey.endpoint(user(1)) == LimitKey.endpoint(user(2)))
    }

    @Test func `calls with equal custom limit keys share a limit, and calls without a key are unlimited`() async throws
    {
        let limit = RateLimit(
            .interval(.seconds(5)),
            by: .custom { $0.path.hasPrefix("search") ? "search" : nil },
            excess: .refuse
        )
        let (client, _) = try NetworkClient.limited([limit])

        #expect(await client.failure(of: .path("search/users")) == nil)
        #expect(await client.failure(of: .path("search/topics")) == .rateLimited(retryAfter: .seconds(5)))
        for _ in 0..<2 { #expect(await client.failure(of: .path("topics")) == nil) }
        #expect(limit.keyCount == 1)
    }

    @Test func `limit keys distinguish a prebuiltRequest by its method and URL`() throws {
        let first = try prebuilt("https://a.example/x?page=1")

        #expect(try LimitKey.endpoint(first) != LimitKey.endpoint(prebuilt("https://b.example/x?page=1")))
        #expect(try LimitKey.endpoint(first) != LimitKey.endpoint(prebuilt("https://a.example/y?page=1")))
        #expect(try LimitKey.endpoint(first) != LimitKey.endpoint(prebuilt("https://a.example/x", method: .put)))
        #expect(try LimitKey.endpoint(first) == LimitKey.endpoint(prebuilt("https://a.example/x?page=2")))
        #expect(try LimitKey.call(first) != LimitKey.call(prebuilt("https://a.example/x?page=2")))
        #expect(try LimitKey.parameters("page")(first) != LimitKey.parameters("page")(prebuilt("https://a.example/x")))
    }

    @Test func `two calls with prebuiltRequest to different URLs do not supersede each other`() async throws {
        let latest = LatestWins()
        let (client, transport) = try NetworkClient.limited([latest]) { _ in .never }
        let calls = try ["https://a.example/x", "https://b.example/y"].map { try prebuilt($0) }

        let first = Task { await client.failure(of: calls[0]) }
        #expect(await transport.waitForRequests(1))
        let second = Task { await client.failure(of: calls[1]) }
        #expect(await transport.waitForRequests(2))

        client.cancelAll()
        #expect(await first.value == .cancelled)
        #expect(await second.value == .cancelled)
    }
}
