import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardResources
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

/// Calls with the same request but different response rules; each call gets only what its rules allow.
@Suite(.timeLimit(.minutes(5)), .prompt) struct OtherRulesTests {
    private static let missing = StubResponse.status(404, headers: [:], body: Data("missing".utf8))

    private let clock = ManualClock()

    private var strict: APIConfiguration { TopicAPI.topic(1, lifetime: .seconds(600)) }

    /// A call whose rules accept every response.
    private var lenient: APIConfiguration {
        var call = strict
        call.rules = .off
        return call
    }

    private func topics(_ answers: [StubResponse]) throws -> TopicAPI {
        TopicAPI(client: try .stubbed(StubTransport(answers: answers), time: clock))
    }

    @Test func `a response stored under lenient response rules is not used under strict rules`() async throws {
        let topics = try topics([Self.missing, .status(200, headers: [:], body: Data("one".utf8))])
        #expect(try await topics.response(for: lenient, with: .string).value == "missing")

        #expect(try await topics.response(for: strict, with: .string).value == "one")
        #expect(try await topics.response(for: strict, with: .string).isFromCache)
        #expect(try await topics.response(for: lenient, with: .string).value == "one")
    }

    @Test func `a stored value is not used by a call whose response rules differ`() async throws {
        let body = Data(#"{"error":1}"#.utf8)
        let missing = StubResponse.status(404, headers: ["Content-Type": "application/json"], body: body)
        let topics = try topics([missing, .json(#"{"id":1}"#)])
        #expect(try await topics.value(JSONValue.self, for: lenient) == ["error": 1])
        #expect(try await topics.value(JSONValue.self, for: lenient) == ["error": 1])

        #expect(topics.resource(JSONValue.self, for: strict).value == nil)
        #expect(try await topics.value(JSONValue.self, for: strict) == ["id": 1])
    }

    @Test(arguments: [true, false])
    func `each call that shares a request applies its own response rules`(isLenientFirst: Bool) async throws {
        let transport = StubTransport { [clock] _ in .delayed(by: .seconds(1), on: clock, Self.missing) }
        let client = try NetworkClient.stubbed(transport, time: clock)
        let topics = TopicAPI(client: client)
        let calls = isLenientFirst ? [lenient, strict] : [strict, lenient]
        var ends: [Task<APIResponse<String>, any Error>] = []
        for call in calls {
            ends.append(Task { try await topics.response(for: call, with: .string) })
            await until { client.flights.waiting >= ends.count }
        }
        for request in 1...2 {
            await transport.waitForRequests(request)
            await clock.waitForTimers(1, in: .seconds(1))
            clock.advance(by: .seconds(1))
        }

        let (accepting, refusing) = isLenientFirst ? (ends[0], ends[1]) : (ends[1], ends[0])
        #expect(try await accepting.value.value == "missing")
        await #expect(throws: APIError(.status(404))) { try await refusing.value }
    }

    @Test func `if modules share a request that fails, each module formats its own error`() async throws {
        var formatting = APIModule(messages: ErrorMessages(languages: [.simplifiedChinese]))
        formatting.formatError = { APIError($0.reason, serverMessage: "formatted") }
        let plain = APIModule(messages: ErrorMessages(languages: [.english]))

        let errors = try await sharedErrors(of: [formatting, plain], .status(409))

        #expect(errors.map { $0?.message } == ["formatted", "The request failed."])
        #expect(errors.last??.context.status == 409)
    }

    @Test func `the server's message reaches all calls that share a request`() async throws {
        var rules = ResponseRules.strict
        rules.removePrefix("//")
        let module = APIModule(envelope: Envelope(), rules: rules)
        let body = Data(#"//{"code":7,"message":"Full."}"#.utf8)

        let errors = try await sharedErrors(
            of: [module, module],
            .status(409, headers: ["Content-Type": "application/json"], body: body)
        )

        #expect(errors.map { $0?.serverMessage } == ["Full.", "Full."])
    }

    @Test func `if modules share a request, each module maps the server code with its own error table`() async throws {
        let users = APIModule(errors: ModuleErrors(UserError.self, codes: [7: .nameTaken]), envelope: Envelope())
        let topics = APIModule(errors: ModuleErrors(TopicError.self, codes: [7: .topicClosed]), envelope: Envelope())

        let errors = try await sharedErrors(of: [users, topics], .json(#"{"code":7,"message":"Full."}"#))

        #expect(errors.first??.module(UserError.self) == .nameTaken)
        #expect(errors.last??.module(TopicError.self) == .topicClosed)
        #expect(errors.map { $0?.serverMessage } == ["Full.", "Full."])
    }

    @Test func `a call is not affected by the formatted error of another module`() async throws {
        let delayed = StubResponse.delayed(by: .seconds(1), on: clock, Self.missing)
        let transport = StubTransport(answers: [delayed, Self.missing])
        let client = try NetworkClient.stubbed(transport, time: clock)
        var module = APIModule()
        module.formatError = { _ in APIError(.list(.noData)) }
        let formatting = TopicAPI(client: client, module: module)
        let topics = TopicAPI(client: client)
        let refusing = Task { [strict] in try await formatting.response(for: strict, with: .string) }
        await until { client.flights.waiting >= 1 }
        let accepting = Task { [lenient] in try await topics.response(for: lenient, with: .string) }
        await until { client.flights.waiting >= 2 }
        await transport.waitForRequests(1)
        clock.advance(by: .seconds(1))

        #expect(try await accepting.value.value == "missing")
        await #expect(throws: APIError(.list(.noData))) { try await refusing.value }
    }

    /// The errors of calls of several modules that share one request, which the first module has started.
    private func sharedErrors(of modules: [APIModule], _ answer: StubResponse) async throws -> [APIError?] {
        let transport = StubTransport { [clock] _ in .delayed(by: .seconds(1), on: clock, answer) }
        let client = try NetworkClient.stubbed(transport, time: clock)
        var ends: [Task<Topic, any Error>] = []
        for module in modules {
            let topics = TopicAPI(client: client, module: module)
            ends.append(Task { try await topics.topic(1, lifetime: .seconds(60)) })
            await until { client.flights.waiting >= ends.count }
        }
        await transport.waitForRequests(1)
        clock.advance(by: .seconds(1))
        var errors: [APIError?] = []
        for end in ends { errors.append(await #expect(throws: APIError.self) { try await end.value }) }
        #expect(transport.requestCount == 1)
        return errors
    }
}
