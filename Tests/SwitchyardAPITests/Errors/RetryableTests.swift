import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

/// Whether an error is retryable, over all combinations of status, module and kind of call.
@Suite(.timeLimit(.minutes(5)), .prompt) struct RetryableTests {
    private enum TestError: Int, ModuleErrorCode {
        case known = 1001
        case status = 1002
    }

    /// Error bodies: invalid JSON, no code, a known code, an unknown code, and a success code.
    private static let bodies = ["<html>", "{}", #"{"code":301}"#, #"{"code":7}"#, #"{"code":0,"data":null}"#]

    private static func modules(for status: Int) -> [APIModule] {
        let table = ModuleErrors(TestError.self, codes: [301: .known], statuses: [404: .status])
        let statuses = ModuleErrors(TestError.self, codes: [301: .known], statuses: [500: .status, 503: .status])
        var modules = [APIModule.standard, APIModule(errors: table, envelope: Envelope())]
        modules += [APIModule(errors: statuses, envelope: Envelope()), APIModule(errors: statuses)]
        modules.append(APIModule(errors: table, errorBody: ErrorBody()))
        return modules
    }

    private static let calls: [@Sendable (TopicAPI, APIConfiguration) async throws -> Void] = [
        { _ = try await $0.value(Topic.self, for: $1) },
        { _ = try await $0.response(Topic.self, for: $1) },
        { try await $0.send($1) },
        { _ = try await $0.response(for: $1, with: .data) },
    ]

    @Test(arguments: [
        400, 401, 403, 404, 408, 409, 421, 422, 423, 425, 429, 500, 501, 502, 503, 504, 505, 507, 509, 520, 530, 599,
    ])
    func `an error is retryable if the status of its response is transient`(status: Int) async throws {
        for module in Self.modules(for: status) {
            for body in Self.bodies {
                let transport = StubTransport { _ in .json(body, status: status, headers: ["Retry-After": "1"]) }
                let topics = TopicAPI(client: try .stubbed(transport), module: module)
                for (index, call) in Self.calls.enumerated() {
                    do {
                        try await call(topics, TopicAPI.topic(1))
                        Issue.record("\(status) \(body) \(index) succeeds")
                    } catch let error as APIError {
                        let expected = Transience(status: status) == .transient
                        #expect(error.isRetryable == expected, "\(status) \(body) \(index) \(error.reason)")
                    }
                }
            }
        }
    }

    @Test(arguments: TransportError.Kind.allCases)
    func `an error without an HTTP response is retryable if the standard policy retries it`(kind: TransportError.Kind) {
        let isRetried = RetryPolicy.standard.failures.contains(kind)

        #expect(APIError(TransportError(kind, message: "")).isRetryable == isRetried)
    }

    @Test(arguments: [#"{"code":301}"#, #"{"code":7}"#])
    func `a stored response replaces a 503 response even if the envelope of the 503 has an error code`(body: String)
        async throws
    {
        let clock = ManualClock()
        let isDown = Locked(false)
        let transport = StubTransport { _ in
            isDown.withLock { $0 } ? .json(body, status: 503) : .json(#"{"code":0,"data":{"id":1,"title":"one"}}"#)
        }
        let module = APIModule(errors: ModuleErrors(TestError.self, codes: [301: .known]), envelope: Envelope())
        let topics = TopicAPI(client: try .stubbed(transport, time: clock), module: module)
        var call = TopicAPI.topic(1, lifetime: .seconds(60))
        call.cache.staleIfError = .seconds(600)
        _ = try await topics.value(Topic.self, for: call)
        isDown.withLock { $0 = true }
        clock.advance(by: .seconds(100))

        #expect(try await topics.value(Topic.self, for: call).title == "one")
    }

    @Test func `a 404 response ends a list even if its envelope has an error code of the module`() async throws {
        let transport = StubTransport { _ in .json(#"{"code":301}"#, status: 404) }
        let module = APIModule(errors: ModuleErrors(TestError.self, codes: [301: .known]), envelope: Envelope())
        let topics = TopicAPI(client: try .stubbed(transport), module: module)
        let pages = PageRecorder<Int>(pageSize: 10)
        try await pages.refresh { _ in Page(Array(0..<20), total: 20, hasMore: true) }

        await #expect(throws: APIError(.list(.noMoreData))) {
            try await pages.loadMore { _ in try await topics.value([Int].self, for: TopicAPI.topic(1)) }
        }
        #expect(!pages.hasMore)
    }
}
