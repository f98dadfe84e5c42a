import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardOutbox
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardDiagnostics

/// Descriptions of the client's events, responses and requests.
@Suite(.timeLimit(.minutes(5)), .prompt) struct PrintedEventTests {
    @Test func `the description of a client event names the environment and the change`() {
        let event = SwitchEvent(at: .zero, .switched(from: "primary", to: "secondary", cause: .requested))

        #expect(
            "\(ClientEvent(environment: .test, event: event))"
                == "test: switched from primary to secondary (requested)"
        )
    }

    @Test func `the description of a credential event names the environment and the change`() {
        let kinds: [CredentialEvent.Kind] = [.set, .refreshed, .failed(.loginRequired), .loggedOut]

        #expect(
            kinds.map { "\(CredentialEvent(environment: .test, kind: $0))" } == [
                "test: credentials set", "test: credentials refreshed",
                "test: credentials not refreshed: a new login is required", "test: logged out",
            ]
        )
    }

    @Test func `the description of a request event is one short line without secrets`() async throws {
        let (events, answer) = try await Self.events(of: .login) { _ in .loggedIn }

        let place = try #require(answer.context.url).text.prefix { $0 != "?" }
        let url = "\(place)?page=1&token=***"
        let lines = events.map { "\($0)" }
        #expect(lines.allSatisfy { !$0.contains("secret") && !$0.contains(where: \.isNewline) })
        #expect(
            lines == [
                "\(answer.id) POST login dispatched", "\(answer.id) round 1 begins: POST login",
                "\(answer.id) POST \(url) sent to primary", "\(answer.id) POST \(url) got status 200",
                "\(answer.id) round 1: POST \(url) ended with status 200 after 0.0 seconds",
                "\(answer.id) POST \(url) ended with status 200 after 0.0 seconds",
            ]
        )
        #expect(events.map { "\($0.kind)" }.allSatisfy { !$0.contains("secret") && $0.count < 120 })
        #expect(!"\(events)".contains("secret"))
    }

    @Test func `the description of a response names its source without query, header fields and body`() async throws {
        let (_, answer) = try await Self.events(of: .login) { _ in .loggedIn }

        let place = try #require(answer.context.url).text.prefix { $0 != "?" }
        #expect("\(answer)" == "POST \(place) (topics/test/primary, 1 attempt): 200")
    }

    @Test func `a request context equals a context with the same public values`() async throws {
        let (_, answer) = try await Self.events(of: .login) { _ in .loggedIn }
        let context = answer.context

        let made = RequestContext(
            service: context.service,
            environment: context.environment,
            method: context.method,
            server: context.server,
            url: context.url,
            attempts: context.attempts,
            elapsed: context.elapsed
        )

        #expect(context == made && context.hashValue == made.hashValue)
        #expect(context.attempts == 1 && context.server == "primary")
    }

    @Test func `the description of a failure with a multi-line message is one line`() async throws {
        let failed = RequestFailure(
            .transport(TransportError(.protocolViolation, message: "first\nsecond")),
            id: RequestID(),
            context: RequestContext(service: "topics", environment: .test, method: .get)
        )

        #expect("\(DispatchEvent.Kind.ended(.failure(failed)))".hasSuffix("protocolViolation: first second"))
        #expect("\(DispatchEvent.Kind.waiting(.seconds(2)))" == "next round starts in 2.0 seconds")
    }

    @Test func `the description of an outbox event is one short line without the body`() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, _) = try NetworkClient.stubbed(switching: .off, time: ManualClock()) { _ in .status(422) }
        let outbox = try Outbox(file: file, client: client)
        let events = outbox.events()
        var write = APIConfiguration(path: "topics?token=secret", method: .post)
        write.body = .json(["title": "secret"])

        let entry = try outbox.store(write)
        try await outbox.flush()

        var lines: [String] = []
        for await event in events {
            lines.append("\(event)")
            if lines.count == 2 { break }
        }
        let name = "write \(entry.id) (POST topics?token=***)"
        #expect(lines == ["\(name) stored", "\(name) rejected with status 422"])
        #expect("\(OutboxEvent.expired(entry))" == "\(name) expired")
        #expect("\(OutboxEvent.postponed(entry, pause: .seconds(5)))" == "\(name) waits, next attempt in 5.0 seconds")
    }

    @Test func `the descriptions of calls, attempts and requests are one short line without secrets`() async throws {
        var call = APIConfiguration(path: "login?token=secret", method: .post)
        call.query = ["password": "secret"]
        call.headers = ["Authorization": "Bearer secret"]
        call.body = .json(["password": "secret"])
        let (events, answer) = try await Self.events(of: call) { _ in .loggedIn }
        let attempt = try #require(
            events.compactMap { event in
                if case .attemptSent(let attempt) = event.kind { attempt } else { nil }
            }
            .first
        )
        let place = try #require(answer.context.url).text.prefix { $0 != "?" }

        #expect("\(call)" == "POST login?token=***")
        #expect("\(attempt)" == "attempt 1 at primary: POST \(place)?token=***&password=***")
        #expect("\(attempt.request)" == "POST \(place)?token=***&password=***")
        #expect("\(answer.context)" == "POST \(place) (topics/test/primary, 1 attempt)")
        #expect("\(answer.response)" == "200, application/json, 44 bytes")
        #expect(!String(reflecting: [attempt]).contains("secret") && !String(reflecting: [call]).contains("secret"))
    }

    private static func events(
        of configuration: APIConfiguration,
        _ answer: @escaping @Sendable (HTTPRequest) -> StubResponse
    ) async throws -> ([DispatchEvent], ServiceResponse) {
        let (stream, continuation) = AsyncStream.makeStream(of: DispatchEvent.self)
        let watch = RequestInterceptor.observing("all") { event in
            continuation.yield(event)
            if case .ended = event.kind { continuation.finish() }
        }
        let client = try NetworkClient.watched([watch], answer)
        let response = try await client.send(configuration)
        var events: [DispatchEvent] = []
        for await event in stream { events.append(event) }
        return (events, response)
    }
}
