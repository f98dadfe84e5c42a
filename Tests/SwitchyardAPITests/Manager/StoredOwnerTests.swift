import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

/// Stored responses, shared requests and refreshes when another user logs in.
@Suite(.timeLimit(.minutes(5)), .prompt) struct StoredOwnerTests {
    private let clock = ManualClock()

    /// A client whose server includes the user in the response, with a delay of five seconds after the first request.
    private func start(
        _ credentials: Credentials,
        status: Int = 200,
        _ change: (inout NetworkClient.Options) -> Void = { _ in }
    ) throws -> (TopicAPI, StubTransport) {
        let count = Locked(0)
        let transport = StubTransport { [clock] request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            let user = request.headers["Authorization"] ?? "nobody"
            let headers: HTTPHeaders = ["ETag": "\"\(user)\"", "Cache-Control": "max-age=10"]
            let isKnown = request.headers["If-None-Match"] == "\"\(user)\""
            let answer: StubResponse =
                isKnown
                ? .status(304, headers: headers)
                : .json(#"{"id":1,"title":"\#(user)"}"#, status: number == 1 ? 200 : status, headers: headers)
            return number == 1 ? answer : .delayed(by: .seconds(5), on: clock, answer)
        }
        var options = NetworkClient.Options()
        options.credentials = credentials
        change(&options)
        return (TopicAPI(client: try .stubbed(transport, options: options, time: clock)), transport)
    }

    private static let policies: [CachePolicy] = [true, false].map { isHTTP in
        var policy = CachePolicy()
        policy.freshness = isHTTP ? .http : .lifetime
        policy.staleWhileRevalidate = .seconds(600)
        policy.staleIfError = .seconds(600)
        return policy
    }

    @Test(arguments: policies.indices, [200, 503])
    func `the next user's call neither uses nor revalidates the previous user's stored response`(
        number: Int,
        status: Int
    ) async throws {
        let credentials = Credentials { _ in nil }
        credentials.set(.bearer("ann"), in: .release)
        let (topics, transport) = try start(credentials, status: status)
        var call = APIConfiguration(path: "topics/1")
        call.cache = Self.policies[number]
        if call.cache.freshness == .lifetime { call.cacheLifetime = .seconds(10) }
        _ = try await topics.value(Topic.self, for: call)
        clock.advance(by: .seconds(15))
        // The response is stale, so it is returned or a conditional request is active.
        let old = Task { [call] in try await topics.value(Topic.self, for: call) }
        await transport.waitForRequests(2)

        credentials.logOut(in: .release)
        credentials.set(.bearer("bob"), in: .release)
        let new = Task { [call] in try await topics.value(Topic.self, for: call) }
        await transport.waitForRequests(3)
        await clock.waitForTimers(1, in: .seconds(5))
        clock.advance(by: .seconds(5))

        _ = try? await old.value
        let title = try? await new.value.title
        #expect(title == (status == 200 ? "Bearer bob" : nil))
        let last = transport.requests.last
        #expect(last?.headers["Authorization"] == "Bearer bob")
        #expect(last?.headers["If-None-Match"] == nil)
    }

    @Test(arguments: [false, true])
    func `if calls without a user share a request, they belong to the user whose credential the request carries`(
        isCached: Bool
    ) async throws {
        let gate = Gate()
        let credentials = Credentials { _ in nil }
        let (topics, _) = try start(credentials) { options in
            options.interceptors = [.adapting { _, _ in await gate.pass() }]
        }
        var call = APIConfiguration(path: "topics/1")
        if isCached { call.cacheLifetime = .seconds(60) } else { call.sharing = .named("one") }
        let successes = AsyncStream.makeStream(of: Bool.self)
        let queue = DispatchQueue(label: "test")
        queue.suspend()
        for _ in 0..<2 {
            if isCached {
                topics.value(Topic.self, for: call, on: queue) { result in
                    successes.continuation.yield((try? result.get()) != nil)
                }
            } else {
                topics.client.send(call, on: queue) { result in
                    successes.continuation.yield((try? result.get()) != nil)
                }
            }
        }
        await gate.waitForArrivals(1)
        if isCached { await until { topics.client.flights.waiting >= 2 } }

        credentials.set(.bearer("ann"), in: .release)
        gate.open()
        await until { topics.client.activeRequests.isEmpty && topics.client.flights.count == 0 }
        credentials.set(.bearer("bob"), in: .release)
        queue.resume()

        var iterator = successes.stream.makeAsyncIterator()
        for _ in 0..<2 { #expect(await iterator.next() == false) }
    }

    @Test(arguments: [false, true])
    func `a token refresh that ends late does not give its credential to another user`(logsOut: Bool) async throws {
        let gate = Gate()
        let credentials = Credentials { _ in
            await gate.pass()
            return .bearer("ann, refreshed")
        }
        credentials.set(.bearer("ann", expiresAt: .distantPast), in: .release)
        let (topics, transport) = try start(credentials)
        let old = Task { try await topics.topic(1) }
        await gate.waitForArrivals(1)
        await clock.waitForTimers(1, in: .seconds(30))
        clock.advance(by: .seconds(30))
        await #expect(throws: APIError.self) { try await old.value }

        if logsOut { credentials.logOut(in: .release) }
        credentials.set(.bearer("bob"), in: .release)
        gate.open()

        #expect(try await topics.topic(1).title == "Bearer bob")
        #expect(credentials.credential(in: .release) == .bearer("bob"))
        #expect(transport.requests.map { $0.headers["Authorization"] } == ["Bearer bob"])
    }

    @Test func `a login through one client ends the calls of another client with the same credentials`() async throws {
        let credentials = Credentials { _ in nil }
        credentials.set(.bearer("ann"), in: .release)
        let (first, _) = try start(credentials)
        let (second, transport) = try start(credentials)
        _ = try await second.topic(1)
        let call = Task { try await second.topic(2) }
        await transport.waitForRequests(2)

        credentials.set(.bearer("bob"), in: .release)

        await #expect(throws: APIError.self) { try await call.value }
        #expect(try await first.topic(1).title == "Bearer bob")
    }
}
