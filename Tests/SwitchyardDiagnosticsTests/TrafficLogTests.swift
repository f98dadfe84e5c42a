import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardDiagnostics

@Suite(.timeLimit(.minutes(5)), .prompt) struct TrafficLogTests {
    private func entries(
        _ options: LogOptions,
        _ configuration: APIConfiguration = .login,
        _ answer: StubResponse = .loggedIn
    ) async throws -> [LogEntry] {
        let (stream, continuation) = AsyncStream.makeStream(of: LogEntry?.self)
        let end = RequestInterceptor.observing("end") { event in
            if case .ended = event.kind { continuation.yield(nil) }
        }
        let log = RequestInterceptor.logging(to: ClosureSink { continuation.yield($0) }, options)
        let client = try NetworkClient.watched([log, end]) { _ in answer }
        _ = try? await client.send(configuration)
        var entries: [LogEntry] = []
        for await entry in stream {
            guard let entry else { break }
            entries.append(entry)
        }
        return entries
    }

    @Test func `no part of the verbose log contains a secret`() async throws {
        let entries = try await entries(.verbose)

        let text = entries.map { "\($0.message) \($0.metadata)" }.joined()
        #expect(!text.contains("secret"))
        #expect(text.contains("Bearer ***"))
        #expect(text.contains("page"))
    }

    @Test func `the verbose log has service, parameters, header fields, bodies and a curl command`()
        async throws
    {
        let entries = try await entries(.verbose)

        #expect(entries.map(\.category) == [.request, .attempt, .attempt, .request])
        #expect(entries.allSatisfy { $0.metadata["service"] == "topics" && $0.metadata["environment"] == "test" })
        #expect(entries[0].metadata["parameters"] == "token=*** page=1")
        #expect(entries[1].metadata["curl"]?.hasPrefix("$ curl -v") == true)
        #expect(entries[1].metadata["headers"]?.contains("X-Trace: 7") == true)
        #expect(entries[1].metadata["body"] == #"{"password":"***","user":"me"}"#)
        #expect(entries[2].metadata["body"] == #"{"access_token":"***","name":"me"}"#)
        #expect(entries[3].metadata["status"] == "200")
    }

    @Test func `a prebuiltRequest is logged with its own method and URL`() async throws {
        var configuration = APIConfiguration()
        configuration.prebuiltRequest = HTTPRequest(
            method: .post,
            url: try RequestURL(validating: "https://o.example/x?token=secret")
        )

        let dispatched = try #require(try await entries(.verbose, configuration).first)

        #expect(dispatched.metadata["method"] == "POST")
        #expect(dispatched.metadata["path"] == "https://o.example/x?token=***")
        #expect(dispatched.message.hasSuffix("POST https://o.example/x?token=*** dispatched"))
    }

    @Test func `the standard log has one line per request, and categories can be selected`() async throws {
        let standard = try await entries(.standard)
        #expect(standard.map(\.level) == [.info])
        #expect(standard.first?.message.contains("ended with status 200") == true)

        let attempts = try await entries(LogOptions(level: .trace, categories: [.attempt]))
        #expect(attempts.count == 2)
        #expect(attempts.allSatisfy { $0.category == .attempt })
    }

    @Test(arguments: [200, 404, 503])
    func `the last log line of a request names the method and the URL, whatever the outcome`(status: Int) async throws {
        let entries = try await entries(.standard, .login, .status(status))

        let line = try #require(entries.last).message
        #expect(line.contains(" POST http://primary.test/v1/login?") && line.contains(" ended with status \(status) "))
    }

    @Test func `the standard log names method and path even if the request was not sent`() async throws {
        var options = NetworkClient.Options()
        let (stream, continuation) = AsyncStream.makeStream(of: LogEntry.self)
        options.interceptors = [.logging(to: ClosureSink { continuation.yield($0) })]
        options.credentials = Credentials { _ in nil }
        let client = try NetworkClient(service: .topics(), transport: StubTransport { _ in .never }, options: options)

        #expect(await client.failure(of: APIConfiguration(path: "me", method: .put)) == .credentials(.missing))

        let entry = try #require(await stream.first { _ in true })
        #expect(entry.message.contains("PUT me ") && entry.message.contains("allowsAnonymous"))
        #expect(entry.metadata["method"] == "PUT" && entry.metadata["path"] == "me")
    }

    @Test func `the log lines of a retry pause and of a redirect name the call`() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        var options = NetworkClient.Options()
        options.interceptors = [.logging(to: ClosureSink { continuation.yield($0.message) })]
        options.retry = RetryPolicy(maximumRetries: 1, backoff: .constant(.zero))
        let count = Locked(0)
        let transport = StubTransport { request in
            guard request.url.path.hasSuffix("new") else { return .status(303, headers: ["Location": "/new"]) }
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .status(number == 1 ? 503 : 200)
        }
        let client = try NetworkClient(service: .topics(servers: 1), transport: transport, options: options)
        var call = APIConfiguration(path: "old?token=secret", method: .post)
        call.mayBeRepeated = true

        _ = try await client.send(call)

        var lines: [String] = []
        for await line in stream {
            lines.append(line)
            if line.contains("ended with") { break }
        }
        let redirect = try #require(lines.first { $0.contains("responded with status 303, continues with GET ") })
        #expect(redirect.contains(" POST old?token=***: "))
        #expect(lines.contains { $0.hasSuffix(" POST old?token=***: next round starts in 0.0 seconds") })
        #expect(lines.last?.contains(", 303 turned it into GET http://primary.test/new ended with status 200") == true)
        #expect(!lines.joined().contains("secret"))
    }

    @Test func `bodies of error responses are a separate category of the log and are truncated to their limit`()
        async throws
    {
        let answer = StubResponse.status(
            500,
            headers: ["Content-Type": "text/plain"],
            body: Data(String(repeating: "x", count: 100).utf8)
        )
        var options = LogOptions(level: .warning, parts: .errorBody)
        options.bodyLimit = 10

        let entries = try await entries(options, APIConfiguration(path: "a"), answer)

        #expect(entries.first?.metadata["body"] == "xxxxxxxxxx... (100 bytes)")
        #expect(entries.allSatisfy { $0.level >= .warning })
    }

    @Test func `a negative body limit becomes zero`() {
        var options = LogOptions(bodyLimit: -1)
        #expect(options.bodyLimit == 0)

        options.bodyLimit = -1

        #expect(options.bodyLimit == 0)
    }

    @Test func `a failed attempt is a warning, and a failed request is an error`() async throws {
        let failed = try await entries(.standard, APIConfiguration(path: "a"), .failure(.connectionReset))

        #expect(failed.map(\.level) == [.warning, .error])
    }

    @Test func `a redirect is logged with its status and target, without secrets`() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: LogEntry.self)
        let sink = ClosureSink { continuation.yield($0) }
        let client = try NetworkClient.watched([.logging(to: sink, LogOptions(categories: [.redirect]))]) { request in
            request.url.path.hasSuffix("new")
                ? .status(200) : .status(307, headers: ["Location": "/new?token=secret&page=1"])
        }

        _ = try await client.send(APIConfiguration(path: "old"))

        let entry = try #require(await stream.first { _ in true })
        #expect(entry.metadata["status"] == "307")
        #expect(entry.metadata["from"]?.hasSuffix("/old") == true)
        #expect(entry.metadata["url"]?.hasSuffix("/new?token=***&page=1") == true)
        #expect(entry.message.contains("/old") && entry.message.contains("/new"))
        #expect(!"\(entry)".contains("secret"))
    }

    @Test func `a log message is one line, even if the error's description has several`() async throws {
        struct Torn: Error, CustomStringConvertible {
            let description = "refused\r\n[info] request: #1 ended with 200\u{2028}and more\u{85}"
        }
        let (stream, continuation) = AsyncStream.makeStream(of: LogEntry.self)
        let sink = ClosureSink { continuation.yield($0) }
        let client = try NetworkClient.watched([.logging(to: sink), .adapting("gate") { _, _ in throw Torn() }]) { _ in
            .status(200)
        }

        #expect(await client.failure(of: APIConfiguration(path: "a")) != nil)

        let entry = try #require(await stream.first { _ in true })
        #expect(entry.message.contains("refused"))
        #expect(!entry.message.contains { $0.isNewline })
    }

    @Test func `a client without a log interceptor writes no log`() async throws {
        #expect(NetworkClient.Options().interceptors.isEmpty)
        let (client, _) = try NetworkClient.stubbed { _ in .status(200) }

        #expect(await client.failure(of: APIConfiguration(path: "a")) == nil)
    }

    @Test func `the activity callback reports the first start and the last end of concurrent requests`()
        async throws
    {
        let (changes, continuation) = AsyncStream.makeStream(of: Bool.self)
        let clock = ManualClock()
        let client = try NetworkClient.watched([.activity { continuation.yield($0) }], time: clock) { _ in .never }
        let tasks = (0..<5).map { _ in Task { await client.failure(of: .path("a")) } }
        var seen = changes.makeAsyncIterator()
        #expect(await seen.next() == true)
        await until { client.activeRequests.count == 5 }

        client.cancelAll()
        for task in tasks { _ = await task.value }

        #expect(await seen.next() == false)
    }

    @Test func `log entries are posted to a server and wait while the server is unavailable`() async throws {
        let isUp = Locked(false)
        let (client, transport) = try NetworkClient.stubbed(switching: .off) { _ in
            isUp.withLock { $0 } ? .status(200) : .status(404)
        }
        let sink = PostingSink(client: client, destination: APIConfiguration(path: "log"), batch: 2, limit: 3)
        for number in 0..<2 { sink.write(LogEntry(level: .info, category: .request, message: "\(number)")) }
        #expect(await transport.waitForRequests(1))
        await until { sink.waitingCount == 2 }

        for number in 2..<5 { sink.write(LogEntry(level: .info, category: .request, message: "\(number)")) }
        await until { sink.waitingCount == 3 && !client.isLoading }
        isUp.withLock { $0 = true }
        // A flush has no effect while the refused post is ending.
        await until {
            sink.flush()
            return sink.waitingCount == 0
        }

        guard case .data(let body) = try #require(transport.requests.last).body else {
            Issue.record("expected a body")
            return
        }
        let lines = try #require(try JSONSerialization.jsonObject(with: body) as? [[String: Any]])
        #expect(lines.compactMap { $0["message"] as? String } == ["2", "3", "4"])
    }

    @Test func `refused log entries are posted to the server again as soon as the next batch is full`() async throws {
        let (client, transport) = try NetworkClient.stubbed(switching: .off) { _ in .status(404) }
        let sink = PostingSink(client: client, destination: APIConfiguration(path: "log"), batch: 3)
        func write() { sink.write(LogEntry(level: .info, category: .request, message: "entry")) }
        for _ in 0..<3 { write() }
        await until { sink.waitingCount == 3 && !client.isLoading }
        let first = transport.requestCount

        for _ in 0..<2 { write() }
        await until { !client.isLoading }
        #expect(transport.requestCount == first)

        write()
        await until { sink.waitingCount == 6 && !client.isLoading }
        #expect(transport.requestCount == first * 2)
    }

    @Test func `log entries are posted to the server when their limit is reached, even if the batch size is larger`()
        async throws
    {
        let (client, transport) = try NetworkClient.stubbed(switching: .off) { _ in .status(200) }
        let sink = PostingSink(client: client, destination: APIConfiguration(path: "log"), batch: 10, limit: 3)

        for number in 0..<3 { sink.write(LogEntry(level: .info, category: .request, message: "\(number)")) }

        #expect(transport.requestCount == 1)
        #expect(sink.waitingCount == 0)
    }

    @Test func `log entries that arrive during a post are posted afterwards`() async throws {
        let clock = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(switching: .off) { _ in
            .delayed(by: .seconds(1), on: clock, .status(200))
        }
        let sink = PostingSink(client: client, destination: APIConfiguration(path: "log"), batch: 2)
        for number in 0..<5 { sink.write(LogEntry(level: .info, category: .request, message: "\(number)")) }
        #expect(await transport.waitForRequests(1))

        clock.advance(by: .seconds(1))

        #expect(await transport.waitForRequests(2))
        #expect(sink.waitingCount == 0)
        clock.advance(by: .seconds(1))
    }

    @Test func `the log shows an invalid date in the parameters as nan`() async throws {
        var configuration = APIConfiguration(path: "x")
        configuration.parameters = ["at": Date(timeIntervalSince1970: .nan)]

        let entries = try await entries(.verbose, configuration)

        #expect(entries.first?.metadata["parameters"] == "at=nan")
    }

    @Test func `the log hides secrets in nested parameters`() async throws {
        let user: Parameters = ["name": "me", "password": "secret-1"]
        let query: Parameters = [
            "user": user, "users": [user.parameterValue], "tokens": ["token": ["secret-2"]] as Parameters,
        ]

        let entries = try await entries(.verbose, APIConfiguration(path: "a", query: query))

        #expect(
            entries.first?.metadata["parameters"]
                == "user={name: me, password: ***} users=[{name: me, password: ***}] tokens={token: ***}"
        )
    }

    @Test(arguments: 8...11)
    func `a body that is truncated within a character is still logged as text`(limit: Int) async throws {
        let answer = StubResponse.status(500, headers: ["Content-Type": "text/plain"], body: Data("漢字漢字".utf8))

        let entries = try await entries(
            LogOptions(level: .warning, parts: .errorBody, bodyLimit: limit),
            APIConfiguration(path: "a"),
            answer
        )

        #expect(entries.first?.metadata["body"] == "\(limit < 9 ? "漢字" : "漢字漢")... (12 bytes)")
    }
}
