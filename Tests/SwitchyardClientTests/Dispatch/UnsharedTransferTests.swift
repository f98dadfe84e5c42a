import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// Requests that are not identical do not share a transfer.
extension SharedTransferTests {
    private static let differences: [@Sendable (inout APIConfiguration) throws -> Void] = [
        { $0.credential = .bearer("another") },
        { $0.usesCredentials = false },
        { $0.apiVersion = "v2" },
        { $0.usesCDN = true },
        { $0.cdnURL = try RequestURL(validating: "https://cdn.test") },
        { $0.upgradesToHTTPS = true },
        { $0.usesCookies = false },
        { $0.parameterDestination = .query },
        { $0.parameterOptions = ParameterEncodingOptions() },
        { $0.responseBodyLimit = 10 },
        { $0.redirects = .refuse },
        { $0.tls = TLSConfiguration(minimumVersion: .tls13) },
        { $0.stubResponse = HTTPResponse(status: 204) },
        { $0.modifier = { _ in } },
        { $0.interceptors = [.adapting { _, _ in }] },
        { $0.prebuiltRequest = HTTPRequest(url: try RequestURL(validating: "https://elsewhere.test")) },
    ]

    @Test(arguments: differences.indices)
    func `reads that differ in content or credential do not share a transfer`(index: Int) throws {
        var one = Self.shared("list")
        one.credential = .bearer("one")
        var other = one
        try Self.differences[index](&other)

        let name = RequestCoalescing.identical.name(of: other)

        #expect(name == nil || name != RequestCoalescing.identical.name(of: one))
    }

    /// Different values, some of which have equal descriptions.
    private static let values: [ParameterValue] = [
        .data(Data([1])), .data(Data([2])), [.data(Data([3]))], [.data(Data([4]))],
        .date(Date(timeIntervalSince1970: 0.1)), .date(Date(timeIntervalSince1970: 0.2)), "a", ["a"], ["b": "a"], nil,
    ]

    private static let places: [@Sendable (inout APIConfiguration, Parameters) -> Void] = [
        { $0.query = $1 }, { $0.parameters = $1 }, { $0.pathValues = $1 },
    ]

    @Test(arguments: places.indices)
    func `reads with different parameters do not share a transfer`(place: Int) {
        let names = Self.values.map { value in
            var configuration = Self.shared("list")
            Self.places[place](&configuration, Parameters([Parameters.Item(key: "k", value: value)]))
            return RequestCoalescing.identical.name(of: configuration)
        }

        #expect(Set(names).count == Self.values.count)
    }

    @Test func `identical reads of two users use two transfers`() async throws {
        let (client, transport) = try NetworkClient.stubbed(switching: .off) { _ in .never }
        let tasks = ["anna", "bert"].map { user in
            var configuration = Self.shared("me")
            configuration.credential = .bearer(user)
            return Task { [configuration] in await client.failure(of: configuration) }
        }
        await until { client.core.sharedTransfers.requestCount == 2 }

        #expect(client.core.sharedTransfers.count == 2)

        client.cancelAll()
        for task in tasks { #expect(await task.value == .cancelled) }
        #expect(await transport.waitUntilIdle())
    }

    @Test func `a request that a token refresh sends does not join a shared transfer that waits for the refresh`()
        async throws
    {
        let sender = Locked<NetworkClient?>(nil)
        let transport = StubTransport { _ in .status(200) }
        var options = NetworkClient.Options(seed: 1)
        options.credentials = Credentials { _ in
            let client = try #require(sender.withLock { $0 })
            _ = try await client.send(Self.shared("list"))
            return .bearer("fresh")
        }
        let service = try Service.topics(switching: .off)
        let client = try NetworkClient(service: service, transport: transport, options: options, time: ManualClock())
        sender.withLock { $0 = client }

        // If both requests shared a transfer, neither would ever end.
        #expect(try await client.send(Self.shared("list")).status == 200)

        sender.withLock { $0 = nil }
        #expect(transport.requests.map { $0.headers["Authorization"] } == [nil, "Bearer fresh"])
    }
}
