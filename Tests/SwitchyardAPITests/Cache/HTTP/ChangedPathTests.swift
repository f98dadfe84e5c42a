import Foundation
import SwitchyardClient
import SwitchyardDiskCache
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

/// The effect of an unsafe request on stored responses under HTTP caching rules (RFC 9111 section 4.4).
@Suite(.timeLimit(.minutes(5)), .prompt) struct ChangedPathTests {
    private let folder = TemporaryFolder()
    private let clock = ManualClock()

    /// A server whose responses are fresh for an hour and that refuses changes to topic 9.
    private func start(disk: DiskCache? = nil) throws -> (topics: TopicAPI, transport: StubTransport) {
        let transport = StubTransport { request in
            if request.method != .get { return .status(request.url.path.hasSuffix("9") ? 409 : 204) }
            let headers: HTTPHeaders = ["Content-Type": "application/json", "Cache-Control": "max-age=3600"]
            return .status(200, headers: headers, body: Data(#"{"id":1,"title":"one"}"#.utf8))
        }
        let client = try NetworkClient.stubbed(transport, time: clock)
        let began = Date(timeIntervalSince1970: 1_700_000_000)
        client.responseCache = ResponseCache(disk: disk, time: clock) { [clock] in
            began + MonotonicTime.zero.duration(to: clock.now).inSeconds
        }
        return (TopicAPI(client: client), transport)
    }

    private func read(_ path: String, by freshness: CachePolicy.Freshness = .http) -> APIConfiguration {
        var configuration = APIConfiguration(path: path)
        configuration.cacheLifetime = .seconds(3_600)
        configuration.cache.freshness = freshness
        return configuration
    }

    /// The result of ``start(disk:)`` in a process that starts after an earlier one has read `path`.
    private func startAgain(after path: String, disk: DiskCache) async throws -> (TopicAPI, StubTransport) {
        _ = try await isKept(read(path), by: try start(disk: disk).topics)
        await disk.flush()
        return try start(disk: disk)
    }

    private func isKept(_ configuration: APIConfiguration, by topics: TopicAPI) async throws -> Bool {
        try await topics.response(for: configuration, with: .json).isFromCache
    }

    @Test(arguments: [HTTPMethod.put, .post, .patch, .delete])
    func `an unsafe request removes only the stored responses of its path`(method: HTTPMethod) async throws {
        let (topics, _) = try start()
        for path in ["topics/1", "topics/2"] { _ = try await isKept(read(path), by: topics) }

        try await topics.send(APIConfiguration(path: "/topics/1", method: method))

        #expect(try await isKept(read("topics/2"), by: topics))
        #expect(try await !isKept(read("topics/1"), by: topics))
        #expect(try await isKept(read("topics/1"), by: topics))
    }

    @Test(arguments: [("topics?sort=name", "topics"), ("topics", "topics?notify=1"), ("topics?a=1#top", "/topics?b=2")])
    func `a POST removes the stored response of its path regardless of the query`(kept: String, changed: String)
        async throws
    {
        let (topics, _) = try start()
        _ = try await isKept(read(kept), by: topics)

        try await topics.send(APIConfiguration(path: changed, method: .post))

        #expect(try await !isKept(read(kept), by: topics))
    }

    @Test func `a POST that gets a redirect removes the stored responses of its path`() async throws {
        let transport = StubTransport { request in
            if request.method == .post { return .status(303, headers: ["Location": "/nothing"]) }
            if request.url.path == "/nothing" { return .status(404) }
            let headers: HTTPHeaders = ["Content-Type": "application/json", "Cache-Control": "max-age=3600"]
            return .status(200, headers: headers, body: Data("[]".utf8))
        }
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        _ = try await isKept(read("topics"), by: topics)

        _ = try? await topics.send(APIConfiguration(path: "topics", method: .post))

        #expect(try await !isKept(read("topics"), by: topics))
    }

    @Test(arguments: [(204, false), (409, true)])
    func `a PUT that is redirected removes the stored responses of every path that accepted the PUT`(
        status: Int,
        isKept: Bool
    )
        async throws
    {
        let transport = StubTransport { request in
            if request.method == .put {
                let isSentOn = request.url.path.hasSuffix("old")
                return isSentOn ? .status(308, headers: ["Location": "/v1/new"]) : .status(status)
            }
            let headers: HTTPHeaders = ["Content-Type": "application/json", "Cache-Control": "max-age=3600"]
            return .status(200, headers: headers, body: Data("[]".utf8))
        }
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        for path in ["old", "new", "other"] { _ = try await self.isKept(read(path), by: topics) }

        _ = try? await topics.send(APIConfiguration(path: "old", method: .put))

        #expect(try await !self.isKept(read("old"), by: topics))
        #expect(try await self.isKept(read("new"), by: topics) == isKept)
        #expect(try await self.isKept(read("other"), by: topics))
    }

    @Test func `a PUT that gets a 409 removes no stored response`() async throws {
        let (topics, _) = try start()
        _ = try await isKept(read("topics/9"), by: topics)

        await #expect(throws: APIError(.status(409))) {
            try await topics.send(APIConfiguration(path: "topics/9", method: .put))
        }

        #expect(try await isKept(read("topics/9"), by: topics))
    }

    @Test func `if only the lifetime decides on freshness, a PUT does not remove the stored response`()
        async throws
    {
        let (topics, _) = try start()
        _ = try await isKept(read("topics/1", by: .lifetime), by: topics)

        try await topics.send(APIConfiguration(path: "topics/1", method: .put))

        #expect(try await isKept(read("topics/1", by: .lifetime), by: topics))
    }

    @Test func `a PUT removes a response that the app itself stored for the path`() async throws {
        let (topics, transport) = try start()
        try topics.storeResponse(
            Data(#"{"id":1,"title":"mine"}"#.utf8),
            headers: ["Content-Type": "application/json", "Cache-Control": "max-age=3600"],
            for: read("topics/1"),
            with: .json
        )
        try await topics.send(APIConfiguration(path: "topics/1", method: .put))

        #expect(try await !isKept(read("topics/1"), by: topics))
        #expect(transport.requestCount == 2)
    }

    @Test func `a PUT removes a stored response that was read with a path template`() async throws {
        let (topics, _) = try start()
        var template = read("topics/{id}")
        template.pathValues = ["id": 1]
        _ = try await isKept(template, by: topics)
        #expect(try await isKept(template, by: topics))

        try await topics.send(APIConfiguration(path: "topics/1", method: .put))

        #expect(try await !isKept(template, by: topics))
    }

    private static let spellings = [
        ("topics/1", "http://release.example/v1/topics/1"), ("topics/1", "HTTP://RELEASE.example/v1/topics/1?a=1#top"),
        ("http://release.example/v1/topics/1", "/topics/1"), ("topics/a b", "topics/a%20b"),
        ("topics/%C3%B6", "topics/ö"), ("topics/x/../1", "topics/1"), ("topics/1", "./topics/1"),
    ]

    @Test(arguments: spellings)
    func `a PUT removes a stored response whose path is spelled differently`(kept: String, changed: String)
        async throws
    {
        let (topics, _) = try start()
        _ = try await isKept(read(kept), by: topics)

        try await topics.send(APIConfiguration(path: changed, method: .put))

        #expect(try await !isKept(read(kept), by: topics))
    }

    @Test(arguments: spellings)
    func `a PUT removes a response on disk whose path is spelled differently`(kept: String, changed: String)
        async throws
    {
        let disk = try DiskCache(at: folder.url)
        let (topics, _) = try await startAgain(after: kept, disk: disk)
        clock.advance(by: .seconds(1))

        try await topics.send(APIConfiguration(path: changed, method: .put))

        #expect(try await !isKept(read(kept), by: topics))
        await disk.flush()
    }

    @Test func `a PUT to a server outside the service removes no stored response`() async throws {
        let (topics, _) = try start()
        _ = try await isKept(read("topics/1"), by: topics)

        try await topics.send(APIConfiguration(path: "http://foreign.example/v1/topics/1", method: .put))

        #expect(try await isKept(read("topics/1"), by: topics))
    }

    @Test func `storeResponse does not store a response with Cache-Control: no-store`() throws {
        let (topics, _) = try start()

        try topics.storeResponse(
            Data("{}".utf8),
            headers: ["Content-Type": "application/json", "Cache-Control": "no-store"],
            for: read("topics/1"),
            with: .json
        )

        #expect(topics.cache.count == 0)
    }

    @Test func `a call with only-if-cached sends no request`() async throws {
        let (topics, transport) = try start()
        var only = read("topics/1")
        only.headers["Cache-Control"] = "only-if-cached"

        await #expect(throws: APIError(.cache(.invalidMetadata))) { try await isKept(only, by: topics) }
        #expect(transport.requestCount == 0)
        _ = try await isKept(read("topics/1"), by: topics)
        #expect(try await isKept(only, by: topics))
    }

    @Test func `after a DELETE, an older response on disk for the path is not used`() async throws {
        let disk = try DiskCache(at: folder.url)
        let (topics, transport) = try await startAgain(after: "topics/1", disk: disk)
        clock.advance(by: .seconds(1))

        try await topics.send(APIConfiguration(path: "topics/1", method: .delete))

        #expect(try await !isKept(read("topics/1"), by: topics))
        #expect(transport.requestCount == 2)
        await disk.flush()
    }

    @Test func `a PUT removes a response that was loaded from disk`() async throws {
        let disk = try DiskCache(at: folder.url)
        let (topics, transport) = try await startAgain(after: "topics/1", disk: disk)
        #expect(try await isKept(read("topics/1"), by: topics))
        clock.advance(by: .seconds(1))

        try await topics.send(APIConfiguration(path: "topics/1", method: .put))

        #expect(try await !isKept(read("topics/1"), by: topics))
        #expect(transport.requestCount == 2)
        await disk.flush()
    }

    @Test func `after a PUT and a restart, an older response on disk for the path is not used`() async throws {
        _ = try await startAgain(after: "topics/1", disk: try DiskCache(at: folder.url))
        let disk = try DiskCache(at: folder.url)
        let (between, _) = try start(disk: disk)
        clock.advance(by: .seconds(1))
        try await between.send(APIConfiguration(path: "/topics/1", method: .put))
        await disk.flush()

        let (later, transport) = try start(disk: try DiskCache(at: folder.url))

        #expect(try await !isKept(read("topics/1"), by: later))
        #expect(transport.requestCount == 1)
    }

    @Test func `after a restart, a response that is newer than the last write to its path is used`() async throws {
        let disk = try DiskCache(at: folder.url)
        let (first, _) = try start(disk: disk)
        try await first.send(APIConfiguration(path: "topics/1", method: .put))
        clock.advance(by: .seconds(1))

        let (later, transport) = try await startAgain(after: "topics/1", disk: disk)

        #expect(try await isKept(read("topics/1"), by: later))
        #expect(transport.requestCount == 0)
    }

    @Test func `if the recorded date of a write is in the future, reads of its path cause only one additional request`()
        async throws
    {
        let disk = try DiskCache(at: folder.url)
        let (topics, transport) = try await startAgain(after: "topics/1", disk: disk)
        let place = topics.client.place
        let partition = CachePartition(service: place.service, environment: place.environment.rawValue)
        disk.recordChange(of: "topics/1", in: partition, at: .distantFuture)
        await disk.flush()

        #expect(try await !isKept(read("topics/1"), by: topics))
        clock.advance(by: .seconds(1))
        topics.cache.removeAll()
        _ = try await isKept(read("topics/1"), by: topics)
        await disk.flush()

        let (later, none) = try start(disk: disk)
        #expect(try await isKept(read("topics/1"), by: later))
        #expect(transport.requestCount == 2 && none.requestCount == 0)
    }

    @Test func `a path that was dropped from the full list of written paths still counts as written`() {
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        var changes = ChangedPaths()
        for number in 0...ChangedPaths.limit {
            let place = ChangedPaths.Place(service: "topics", environment: "test", path: "topics/\(number)")
            changes.note(place, at: date + Double(number))
        }

        let forgotten = ChangedPaths.Place(service: "topics", environment: "test", path: "topics/0")
        let last = ChangedPaths.Place(service: "topics", environment: "test", path: "/topics/\(ChangedPaths.limit)")
        #expect(changes.lastChange(of: forgotten) == date)
        #expect(changes.lastChange(of: last) == date + Double(ChangedPaths.limit))
    }

    @Test func `another write to a listed path drops no path from the full list of written paths`() {
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        var changes = ChangedPaths()
        func place(_ number: Int) -> ChangedPaths.Place {
            ChangedPaths.Place(service: "topics", environment: "test", path: "topics/\(number)")
        }
        for number in 0..<ChangedPaths.limit { changes.note(place(number), at: date + Double(number)) }

        changes.note(place(5), at: date + 5_000)

        #expect(changes.lastChange(of: place(5)) == date + 5_000)
        #expect(changes.lastChange(of: place(-1)) == nil)
    }

    @Test func `a cached response has an Age header field`() async throws {
        let (topics, _) = try start()
        _ = try await isKept(read("topics/1"), by: topics)
        clock.advance(by: .seconds(90))

        let answer = try await topics.response(for: read("topics/1"), with: .json)

        #expect(answer.headers["Age"] == "90")
        #expect(answer.headers["Cache-Control"] == "max-age=3600")
    }
}
