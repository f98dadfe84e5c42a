import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

/// Calls whose response bodies break; the head of the response decides.
@Suite(.timeLimit(.minutes(5)), .prompt) struct BrokenBodiesTests {
    /// Broken bodies, as the header fields and bytes after a status line.
    static let broken = [
        "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nno",
        "Content-Length: 90\r\n\r\n{\"title\":",
        "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    ]

    private static func answer(_ status: Int, _ rest: String, fields: String = "") -> LoopbackResponse {
        .raw(Data("HTTP/1.1 \(status) Any\r\n\(fields)\(rest)".utf8))
    }

    @Test(arguments: [403, 404, 503], broken)
    func `an error response with a broken body keeps its status and reports the body failure`(
        status: Int,
        rest: String
    ) async throws {
        let yard = try LoopbackYard(answer: Self.answer(status, rest, fields: "X-Trace: 42\r\n"))
        defer { yard.stop() }

        let error = await #expect(throws: APIError.self) {
            try await TopicAPI(client: yard.client, module: .standard).topic(7)
        }

        #expect(error?.reason == .status(status))
        #expect(error?.context.headers["X-Trace"] == "42")
        #expect(error?.context.underlying is TransportError)
    }

    @Test(arguments: broken)
    func `a response that the call accepts must be complete, whatever its status is`(rest: String) async throws {
        for status in [200, 404] {
            let yard = try LoopbackYard(answer: Self.answer(status, rest))
            defer { yard.stop() }
            var call = TopicAPI.topic(7)
            call.rules = ResponseRules(status: .any, contentType: .any)
            let topics = TopicAPI(client: yard.client, module: .standard)

            let error = await #expect(throws: APIError.self) { try await topics.value(String.self, for: call) }

            #expect(error != nil && error?.refusedStatus == nil)
        }
    }

    @Test(arguments: broken)
    func `a 401 with a broken body refreshes the credential`(rest: String) async throws {
        let yard = try LoopbackYard()
        defer { yard.stop() }
        yard.server.route(.get, "/v1/topics/7") { request in
            guard request.headers["Authorization"] == "Bearer new" else {
                return Self.answer(401, rest, fields: "WWW-Authenticate: Bearer\r\n")
            }
            return .json(#"{"id":7,"title":"seven"}"#)
        }
        var options = NetworkClient.Options()
        options.credentials = Credentials(provider: Refresh())
        let client = try NetworkClient(service: yard.client.service, options: options)
        defer { client.shutdown() }

        let topic = try await TopicAPI(client: client, module: .standard).topic(7)

        #expect(topic.title == "seven")
    }

    private struct Refresh: CredentialProvider {
        func storedCredential(in environment: ServiceEnvironment) async throws -> Credential? { .bearer("old") }
        func canRefresh(_ credential: Credential?) -> Bool { true }
        func refresh(_ refresh: CredentialRefresh) async throws -> Credential? { .bearer("new") }
    }

    @Test(arguments: broken + ["Content-Length: 90\r\n\r\n", "Content-Encoding: utf-8\r\nContent-Length: 2\r\n\r\nno"])
    func `a redirect with a broken body is followed`(rest: String) async throws {
        let yard = try LoopbackYard()
        defer { yard.stop() }
        yard.server.route(.get, "/v1/topics/7", answering: Self.answer(302, rest, fields: "Location: 8\r\n"))
        var call = TopicAPI.topic(7)
        call.responseBodyLimit = 30
        let topics = TopicAPI(client: yard.client, module: .standard)

        #expect(try await topics.value(Topic.self, for: call).title == "seven")
        #expect(yard.targets == ["/v1/topics/7", "/v1/topics/8"])
    }

    @Test(arguments: [false, true])
    func `a redirect is followed before the end of its body`(isEndless: Bool) async throws {
        let yard = try LoopbackYard()
        defer { yard.stop() }
        yard.server.route(.get, "/v1/topics/7") { _ in
            var response = LoopbackResponse.stream { writer in
                repeat { try await writer.write(Data(count: 10_000)) } while isEndless
                try await Task.sleep(for: .seconds(3600))
            }
            response.status = 302
            response.headers.set("Location", "8")
            return response
        }

        #expect(try await TopicAPI(client: yard.client, module: .standard).topic(7).title == "seven")
    }

    // MARK: - Content-Type

    @Test(arguments: [
        ["application/json, application/json"], ["application/json", "application/json"], ["", "application/json"],
        ["text/html", "application/json; charset=utf-8"], ["application/json;charset=utf-8, application/json"],
        [""], ["application/json,"], ["text/html;a=\",\", application/json"],
    ])
    func `a repeated, combined or partly empty Content-Type of a response is accepted`(types: [String]) async throws {
        var answer = LoopbackResponse.data(Data(#"{"id":7,"title":"seven"}"#.utf8))
        answer.headers.remove("Content-Type")
        for type in types { answer.headers.add("Content-Type", type) }
        let yard = try LoopbackYard(answer: answer)
        defer { yard.stop() }

        #expect(try await TopicAPI(client: yard.client, module: .standard).topic(7).title == "seven")
    }

    @Test(arguments: [
        ["application/json", "text/html"], ["application/json, text/html; charset=utf-8"], ["text/html"],
    ])
    func `if a response has several Content-Type fields, the last one counts`(types: [String]) async throws {
        var answer = LoopbackResponse.data(Data(#"{"id":7,"title":"seven"}"#.utf8))
        answer.headers.remove("Content-Type")
        for type in types { answer.headers.add("Content-Type", type) }
        let yard = try LoopbackYard(answer: answer)
        defer { yard.stop() }

        let error = await #expect(throws: APIError.self) {
            try await TopicAPI(client: yard.client, module: .standard).topic(7)
        }

        guard case .body(.contentType(let received, _)) = error?.reason else { return #expect(Bool(false)) }
        #expect(received?.hasPrefix("text/html") == true)
    }

    @Test func `if a response has two equal content types and one charset, that charset counts`() {
        let headers: HTTPHeaders = ["Content-Type": "text/plain; charset=iso-8859-1, text/plain"]

        #expect(RawResponse(headers: headers).charset == "iso-8859-1")
    }
}
