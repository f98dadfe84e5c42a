import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

/// The text of an error for a bug report.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ErrorReportTests {
    private func attempt(
        _ server: String,
        _ kind: CallAttempt.Kind,
        at start: Int,
        for duration: Int,
        _ ending: CallAttempt.Ending,
        _ next: CallAttempt.Next?
    ) -> CallAttempt {
        CallAttempt(
            server: server,
            kind: kind,
            start: .milliseconds(start),
            duration: .milliseconds(duration),
            ending: ending,
            next: next
        )
    }

    @Test func `the report of an error lists the call and its attempts in aligned columns without the query`() {
        var context = RequestContext(
            service: "forum",
            environment: .release,
            method: .get,
            server: "third",
            url: RequestURL("https://api.example.com/topics?page=2"),
            attempts: 3,
            elapsed: .milliseconds(1240)
        )
        let refused = TransportError(.connectionRefused, message: "refused", mayHaveBeenSent: false)
        context.history = .many([
            attempt("primary", .first, at: 0, for: 2, .failure(.transport(refused)), .attempt(.failover)),
            attempt("secondary", .failover, at: 2, for: 1238, .cancelled, .attempt(.hedge)),
            attempt(
                "third",
                .hedge,
                at: 162,
                for: 8,
                .response(status: 503, retryAfter: .seconds(30)),
                .stopped(.servers)
            ),
        ])
        let error = APIError(RequestFailure(.deadlineExceeded, id: RequestID(), context: context))

        #expect(
            error.report == """
                GET https://api.example.com/topics failed after 1.24 s: limited: no response within the deadline (101), \
                no write was involved
                  0 ms    primary    connection refused after 2 ms     -> next server
                  2 ms    secondary  no response within 1.24 s         -> hedge
                  162 ms  third      503 after 8 ms, Retry-After 30 s  -> no server left
                  1.24 s             deadline
                """
        )
        #expect(error.attempts.map(\.server) == ["primary", "secondary", "third"])
    }

    @Test func `the report of an error contains neither values of a query nor header fields nor bodies`() async throws {
        let secret = "tr0ub4dor"
        let (client, _) = try NetworkClient.stubbed { _ in
            StubResponse.response(
                HTTPResponse(status: 500, headers: ["X-Secret": secret], body: .whole(Data(secret.utf8)))
            )
        }
        let topics = TopicAPI(client: client)
        var call = APIConfiguration(path: "topics/a", query: ["voucher": secret])
        call.headers["X-Secret"] = secret

        let error = try #require(await #expect(throws: APIError.self) { try await topics.value(Topic.self, for: call) })

        #expect(!error.report.contains(secret))
        #expect(error.report.contains("500 after"))
        #expect(error.attempts.count == 3)
    }

    @Test(
        arguments: [
            (HTTPMethod.get, false, "no write was involved"), (.post, true, "a server may have executed the call"),
            (.post, false, "no server has executed the call"),
        ]
    )
    func `the report of an error states whether a write was executed`(method: HTTPMethod, mayHave: Bool, words: String)
    {
        var context = APIError.Context()
        (context.method, context.path, context.mayHaveBeenExecuted) = (method, "topics", mayHave)

        let report = APIError(.limited(.queue), context: context).report

        #expect(report == "\(method) topics failed: limited: too many requests are already waiting (104), \(words)")
    }

    @Test func `the response of a call lists its attempts, and a response from the cache lists none`() async throws {
        let (client, _) = try NetworkClient.stubbed { _ in .json(#"{"id": 7, "title": "Seven"}"#) }
        let topics = TopicAPI(client: client)
        var call = TopicAPI.topic(7)
        call.cacheLifetime = .seconds(60)

        let sent = try await topics.response(Topic.self, for: call)
        let stored = try await topics.response(Topic.self, for: call)

        #expect(sent.attempts.map(\.kind) == [.first])
        #expect(stored.attempts == [])
    }

    @Test func `the report of a response lists the call and its attempts without the query`() {
        var context = RequestContext(
            service: "forum",
            environment: .release,
            method: .get,
            server: "secondary",
            url: RequestURL("https://api.example.com/topics?page=2"),
            attempts: 2,
            elapsed: .milliseconds(110)
        )
        let refused = TransportError(.connectionRefused, message: "refused", mayHaveBeenSent: false)
        context.history = .many([
            attempt("primary", .first, at: 0, for: 2, .failure(.transport(refused)), .attempt(.failover)),
            attempt("secondary", .failover, at: 2, for: 108, .response(status: 201, retryAfter: nil), nil),
        ])

        let response = APIResponse(value: (), status: 201, context: context)

        #expect(
            response.report == """
                GET https://api.example.com/topics succeeded after 110 ms: status 201 from secondary
                  0 ms  primary    connection refused after 2 ms  -> next server
                  2 ms  secondary  201 after 108 ms
                """
        )
    }

    @Test(arguments: [ResponseSource.cache(age: .seconds(12)), .staleCache(age: .seconds(12))])
    func `the report of a response from the cache states the age of the value`(source: ResponseSource) {
        let response = APIResponse(value: (), status: 200, source: source)

        #expect(response.report == "The value is from the cache and 12.00 s old")
    }
}
