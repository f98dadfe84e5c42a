import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Requests and groups that start as one user do not continue as another user.
@Suite(.timeLimit(.minutes(5)), .prompt) struct GroupOwnerTests {
    private let credentials = Credentials { _ in nil }

    private func start(
        whileAsked: @escaping @Sendable (HTTPRequest) -> Void = { _ in }
    ) throws -> (TopicAPI, StubTransport) {
        credentials.set(.bearer("ann"), in: .release)
        let transport = StubTransport { request in
            whileAsked(request)
            return Topic.answer
        }
        var options = NetworkClient.Options()
        options.credentials = credentials
        return (TopicAPI(client: try .stubbed(transport, options: options)), transport)
    }

    private func request(_ topics: TopicAPI, _ number: Int) -> APIRequest<Topic> {
        topics.request(for: TopicAPI.topic(number), on: .global())
    }

    @Test func `a request object belongs to the user who was logged in when it was created`() async throws {
        let (topics, transport) = try start()
        let request = request(topics, 1)

        credentials.set(.bearer("bob"), in: .release)

        await #expect(throws: APIError.self) { try await request.value() }
        #expect(transport.requests.isEmpty)
        #expect(try await request.repeated().value().id == 1)
        #expect(transport.requests.first?.headers["Authorization"] == "Bearer bob")
    }

    @Test(arguments: [false, true])
    func `a request object is not sent after a switch to another environment`(hasCredentials: Bool) async throws {
        let transport = StubTransport { _ in Topic.answer }
        var options = NetworkClient.Options()
        if hasCredentials {
            credentials.set(.bearer("ann"), in: .release)
            credentials.set(.bearer("bob"), in: .test)
            options.credentials = credentials
        }
        let topics = TopicAPI(client: try .stubbed(transport, options: options))
        let request = request(topics, 1)

        try topics.client.switchEnvironment(to: .test)

        await #expect(throws: APIError.self) { try await request.value() }
        #expect(transport.requests.isEmpty)
        #expect(try await request.repeated().value().id == 1)
    }

    @Test(arguments: [false, true])
    func `a request chain does not continue after the logged-in user changes`(isMadeLater: Bool) async throws {
        let (topics, transport) = try start()
        let chain = RequestChain(options: GroupOptions(policy: .failFast, queue: .global()))
        let credentials = credentials
        let second = isMadeLater ? nil : request(topics, 2)
        chain.add(request(topics, 1)) { _, chain in
            credentials.set(.bearer("bob"), in: .release)
            chain.add(second ?? topics.request(Topic.self, for: TopicAPI.topic(2), on: .global()))
        }

        let report = await chain.finished()

        #expect(report.outcome != .succeeded)
        #expect(transport.requests.allSatisfy { $0.headers["Authorization"] == "Bearer ann" })
    }

    @Test(arguments: [true, false], [true, false])
    func `a request chain continues in another environment only through another client`(
        isOther: Bool,
        hasCredentials: Bool
    ) async throws {
        var (topics, transport) = try start()
        if !hasCredentials {
            transport = StubTransport { _ in Topic.answer }
            topics = TopicAPI(client: try .stubbed(transport))
        }
        credentials.set(.bearer("bob"), in: .test)
        var options = NetworkClient.Options()
        options.credentials = hasCredentials ? credentials : nil
        let second = isOther ? TopicAPI(client: try .stubbed(transport, options: options)) : topics
        let (client, other) = (topics.client, second.client)
        let chain = RequestChain(options: GroupOptions(policy: .failFast, queue: .global()))
        chain.add(request(topics, 1)) { _, chain in
            try? client.switchEnvironment(to: .test)
            if isOther { try? other.switchEnvironment(to: .test) }
            chain.add(second.request(Topic.self, for: TopicAPI.topic(2), on: .global()))
        }

        let report = await chain.finished()

        #expect((report.outcome == .succeeded) == isOther)
        #expect(transport.requests.count == (isOther ? 2 : 1))
    }

    @Test func `an operation in a graph belongs to the user of the graph's requests`() async throws {
        let (topics, transport) = try start()
        let graph = RequestGraph(options: GroupOptions(policy: .failFast, queue: .global()))
        let credentials = credentials
        try graph.add(request(topics, 1), named: "first")
        try graph.add(
            APIRequest<Topic>(on: .global()) {
                credentials.set(.bearer("bob"), in: .release)
                return try await topics.topic(2)
            },
            named: "second",
            after: ["first"]
        )

        _ = await graph.group.finished()

        #expect(transport.requests.allSatisfy { $0.headers["Authorization"] == "Bearer ann" })
    }
}
