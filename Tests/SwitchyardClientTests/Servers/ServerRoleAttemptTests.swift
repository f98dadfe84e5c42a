import Dispatch
import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Requests that code of the app changes, and attempts that follow each other.
extension ServerRoleTests {
    @Test(arguments: [
        ("http://other.test/x", nil), ("http://mirror.test/v1/catalog/1", nil), ("http://mirror.test/files/1", nil),
        ("http://mirror.test/v1/orders", "mirror"),
    ])
    func `a request fails if its URL rule returns the URL of a server that does not serve the request`(
        url: String,
        refusing: String?
    ) async throws {
        let target = try RequestURL(validating: url)
        let servers = try [server("replica", .reads), server("mirror", ["GET /catalog/**"])]
        let (client, transport) = try client(servers) { options in
            options.generator.urlRule = { _, _ in target }
        } _: { _ in
            .status(200)
        }

        let failure = await client.failure(of: APIConfiguration(path: "a"))

        let refusal = refusing.map { UnservedRequest(method: .get, path: target.path, servers: [$0]) }
        #expect(failure == refusal.map { .unserved($0) })
        #expect(transport.requests.map(\.url.text) == (refusing == nil ? [url] : []))
    }

    @Test func `a call fails if a modifier moves its request to a server that does not serve the request`() async throws
    {
        let target = try RequestURL(validating: "http://mirror.test/v1/orders")
        let (client, transport) = try mirrored { options in
            options.generator.modifiers = [{ $0.url = target }]
        } _: { _ in
            .status(200)
        }

        let failure = await client.failure(of: APIConfiguration(path: "orders"))

        #expect(failure == .unserved(UnservedRequest(method: .get, path: "/v1/orders", servers: ["mirror"])))
        #expect(transport.requests.isEmpty)
    }

    @Test func `a write does not return to its first server if that server does not serve the modified write`()
        async throws
    {
        let target = try RequestURL(validating: "http://primary.test/v1/other")
        let builds = Locked(0)
        let servers = try [server("primary", ["POST /orders"]), server("secondary", ["POST /orders"])]
        let (client, transport) = try client(servers) { options in
            options.generator.modifiers = [
                { request in
                    let build = builds.withLock { count in
                        count += 1
                        return count
                    }
                    if build > 2 { request.url = target }
                }
            ]
        } _: { _ in
            .failure(.connectTimeout)
        }

        #expect(await client.failure(of: APIConfiguration(path: "orders", method: .post)) != nil)

        #expect(builds.withLock { $0 } == 3)
        #expect(transport.requests.map(\.server) == ["primary", "secondary"])
    }

    @Test func `a call whose path leaves the base URL fails with a URL error instead of a server role error`()
        async throws
    {
        let (client, _) = try client([server("replica", .reads)]) { _ in .status(200) }

        let expected = RequestError.url(text: "../x", reason: .escapesBasePath)
        #expect(await client.failure(of: APIConfiguration(path: "../x")) == .invalidRequest(expected))
    }

    @Test func `calls to a named server do not eject that server if no other server serves the calls`()
        async throws
    {
        let (client, _) = try mirrored { request in
            request.server == "primary" ? .failure(.connectionRefused) : .status(200)
        }
        var calls = [APIConfiguration(path: "orders"), APIConfiguration(path: "catalog/1")]
        (calls[0].server, calls[1].server) = (.named("primary"), .named("mirror"))

        for number in 0..<200 { _ = await client.failure(of: calls[number % 2]) }

        #expect(client.servers.map(\.state) == [.healthy, .healthy])
    }

    @Test func `if the server of a hedge does not serve the modified request, the hedge goes to the next server`()
        async throws
    {
        let time = ManualClock()
        let servers = try [server("primary"), server("mirror", ["GET /old/**"]), server("backup")]
        let (client, transport) = try client(servers, time: time) { options in
            options.generator.modifiers = [
                { request in
                    let text = request.url.text.replacingOccurrences(of: "/old/", with: "/new/")
                    request.url = try RequestURL(validating: text)
                }
            ]
        } _: { request in
            request.server == "primary" ? .never : .status(200)
        }

        let response = Task { try await client.send(APIConfiguration(path: "old/1", timeout: .seconds(5))) }
        #expect(await transport.waitForRequests(1))
        #expect(await time.waitForTimers(1))
        for _ in 0..<40 { time.advance(by: .milliseconds(100)) }

        try #require(transport.requests.map(\.server) == ["primary", "backup"])
        #expect(try await response.value.context.server == "backup")
    }

    @Test func `a hanging write causes suspicion probes of two servers even if neither server serves the probe path`()
        async throws
    {
        let time = ManualClock()
        let servers = try ["w1", "w2"].map { try server($0, ["* /orders/**"]) }
        let (client, transport) = try client(servers, time: time) { options in
            options.probePath = "health"
        } _: { request in
            request.method == .post ? .never : .status(200)
        }

        let write = APIConfiguration(path: "orders/1", method: .post, timeout: .seconds(5))
        let failure = Task { await client.failure(of: write) }
        #expect(await transport.waitForRequests(1))
        #expect(await time.waitForTimers(1))
        for _ in 0..<60 { time.advance(by: .milliseconds(100)) }

        #expect(await failure.value == .deadlineExceeded)
        let reads = transport.requests.filter { $0.method == .get }
        #expect(Set(reads.map { "\($0.server)\($0.url.path)" }) == ["w1/v1/orders/1", "w2/v1/orders/1"])
    }

    @Test func `if servers serve different requests, the transforms run twice for each call`() async throws {
        let count = Locked(0)
        let (client, _) = try mirrored { options in
            options.generator.transforms = [{ _ in count.withLock { $0 += 1 } }]
        } _: { _ in
            .status(200)
        }

        _ = try await client.send(APIConfiguration(path: "catalog/1"))
        let read = count.withLock { $0 }
        _ = try await client.send(APIConfiguration(path: "orders", method: .post))

        #expect((read, count.withLock { $0 }) == (2, 4))
    }
}
