import Foundation
import Switchyard
import SwitchyardFixtures
import SwitchyardTesting
import Testing

/// The recipe on home and away, with a reachability provider of the test and real servers.
///
/// The clock of the client stands still unless the test advances it, so a call that ends has waited exactly as long as
/// the clock was advanced.
@Suite(.timeLimit(.minutes(5)), .prompt) struct HomeAndAwayTests {
    private let home = LoopbackServer()
    private let away = LoopbackServer()
    private let network = ManualReachability(.reachable(.local))
    private let clock = ManualClock()
    private let folder: TemporaryFolder

    private let lights = APIConfiguration(path: "lights")
    private let switching = APIConfiguration(path: "lights", method: .post)
    private static let hedgeDelay = Duration.milliseconds(250)

    init() throws {
        folder = try TemporaryFolder.made()
        for (server, name) in [(home, "home"), (away, "away")] {
            server.route(.get, "/identity", answering: .text("house-7"))
            server.route(nil, "/lights", answering: .text(name))
            try server.start()
        }
    }

    /// Starts the client with the template of the article, at home.
    private func start() async throws -> (client: NetworkClient, following: Task<Void, Never>) {
        let text = try #require(try ArticleText.article("Recipes").split(separator: "```json\n").last)
        let template = try #require(text.split(separator: "```").first)
            .replacing("http://192.168.1.20:8123", with: home.baseURL)
            .replacing("https://house.example.com", with: away.baseURL)
        let file = try folder.file("house.json", Data(template.utf8))
        let (client, following) = try HomeAndAwaySamples.client(file, "house-7", network, time: clock)
        await home.waitForRequests(1)
        return (client, following)
    }

    private func stop(_ client: NetworkClient, _ following: Task<Void, Never>) {
        following.cancel()
        client.shutdown()
        home.stop()
        away.stop()
    }

    private func places(_ client: NetworkClient, _ calls: [APIConfiguration]) async throws
        -> [String?]
    {
        try await withThrowingTaskGroup(of: String?.self) { group in
            for call in calls { group.addTask { try await client.send(call).text } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test func `in the recipe for two addresses, calls at home go to the home address`() async throws {
        let (client, following) = try await start()
        defer { stop(client, following) }

        #expect(try await places(client, [lights, switching]) == ["home", "home"])
        #expect(clock.now == .zero)
    }

    @Test(arguments: [.blackHole, .hang] as [Fault])
    func `in the recipe for two addresses, leaving home delays a call by at most one hedging delay`(fault: Fault)
        async throws
    {
        let (client, following) = try await start()
        defer { stop(client, following) }
        #expect(try await places(client, [lights]) == ["home"])
        await away.waitForRequests(1)

        home.fault = fault
        network.status = .reachable(.cellular)
        await away.waitForRequests(2)
        async let during = places(client, [lights, switching, lights, switching])
        await clock.waitForTimers(1, in: Self.hedgeDelay)
        clock.advance(by: Self.hedgeDelay)

        #expect(try await during == ["away", "away", "away", "away"])
        #expect(try await places(client, [lights, switching]) == ["away", "away"])
        #expect(MonotonicTime.zero.duration(to: clock.now) == Self.hedgeDelay)
    }

    @Test func `in the recipe for two addresses, calls return to the home server when the device comes home`()
        async throws
    {
        let (client, following) = try await start()
        defer { stop(client, following) }
        await away.waitForRequests(1)
        home.fault = .hang
        network.status = .reachable(.cellular)
        await away.waitForRequests(2)
        await clock.waitForTimers(1, in: Self.hedgeDelay)
        clock.advance(by: Self.hedgeDelay)
        #expect(try await places(client, [lights]) == ["away"])

        home.fault = nil
        network.status = .reachable(.local)
        await away.waitForRequests(4)

        #expect(try await places(client, [lights, switching]) == ["home", "home"])
        #expect(MonotonicTime.zero.duration(to: clock.now) == Self.hedgeDelay)
    }

    @Test func `in the recipe for two addresses, a computer with another identity receives no call`() async throws {
        home.route(.get, "/identity", answering: .text("printer"))
        let (client, following) = try await start()
        defer { stop(client, following) }

        #expect(try await places(client, [lights, switching]) == ["away", "away"])
        #expect(home.requests.map(\.path) == ["/identity"])
    }

    @Test
    func
        `if the server at home fails, calls go to the public address, also without a change of the path`()
        async throws
    {
        let (client, following) = try await start()
        defer { stop(client, following) }
        #expect(try await places(client, [lights]) == ["home"])

        home.fault = .refuse

        #expect(try await places(client, [lights, switching]) == ["away", "away"])
    }
}
