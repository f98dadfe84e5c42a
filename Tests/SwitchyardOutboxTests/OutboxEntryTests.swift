import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardOutbox

/// A stored write is sent exactly like a direct call.
@Suite(.timeLimit(.minutes(5)), .prompt) struct OutboxEntryTests {
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID().uuidString)")

    /// The requests of a call that is sent directly and of the same call through an outbox.
    private func requests(
        for call: APIConfiguration,
        generator change: (inout RequestGenerator) -> Void = { _ in }
    ) async throws -> (sent: HTTPRequest, stored: HTTPRequest) {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, transport) = try NetworkClient.stubbed(options: { change(&$0.generator) }) { _ in .status(201) }
        _ = try await client.send(call)
        let outbox = try Outbox(file: file, client: client)
        try outbox.store(call)
        try await outbox.flush()
        return (try #require(transport.requests.first), try #require(transport.requests.last))
    }

    private func body(_ request: HTTPRequest) -> String? {
        guard case .data(let data) = request.body else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    @Test func `the query of a stored write is built with the query options of the request generator`() async throws {
        let call = APIConfiguration(path: "topics?all", method: .delete, query: ["hard": true, "ids": [1, 2]])

        let (sent, stored) = try await requests(for: call) { generator in
            generator.queryOptions.booleans = .literal
            generator.queryOptions.arrays = .repeated
        }

        #expect(stored.url == sent.url)
        #expect(stored.url.query == "all&hard=true&ids=1&ids=2")
    }

    @Test func `the query of a stored write is built with the custom query closure of the request generator`()
        async throws
    {
        var call = APIConfiguration(path: "topics", method: .delete, query: ["a": 1])
        call.parameters = ["b": 2]

        let (sent, stored) = try await requests(for: call) { generator in
            generator.customQuery = { parameters in "names=" + parameters.items.map(\.key).joined(separator: "-") }
        }

        #expect(stored.url == sent.url)
        #expect(stored.url.query == "names=a-b")
    }

    @Test func `body parameters of a stored write use the options of the call`() async throws {
        var call = APIConfiguration(path: "topics", method: .post)
        call.parameters = ["hard": true, "ids": [1, 2]]
        var options = ParameterEncodingOptions()
        options.booleans = .literal
        options.arrays = .repeated
        call.parameterOptions = options

        let (sent, stored) = try await requests(for: call)

        #expect(body(stored) == body(sent))
        #expect(body(stored) == "hard=true&ids=1&ids=2")
    }

    @Test func `when a write with a form body is stored, its parameters become form fields`() async throws {
        var call = APIConfiguration(path: "topics", method: .post, body: .form(["title": "t"]))
        call.parameters = ["group": 7]

        let (sent, stored) = try await requests(for: call)

        #expect(body(stored) == body(sent))
        #expect(body(stored) == "group=7&title=t")
    }

    @Test func `the Content-Type of a form names the charset of its encoding`() async throws {
        let call = APIConfiguration(path: "topics", method: .post, body: .form(["title": "é"]))

        let (sent, stored) = try await requests(for: call) { $0.formOptions.characterSet = .isoLatin1 }

        #expect(body(stored) == body(sent))
        #expect(stored.headers["Content-Type"] == "application/x-www-form-urlencoded; charset=iso-8859-1")
    }

    @Test func `storing a write throws if its body cannot hold its parameters`() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, _) = try NetworkClient.stubbed { _ in .status(201) }
        let outbox = try Outbox(file: file, client: client)
        var call = APIConfiguration(path: "topics", method: .post, body: .json(["title": "t"]))
        call.parameters = ["group": 7]

        #expect(throws: OutboxError.invalid(.body(kind: "application/json", reason: .conflict))) {
            try outbox.store(call)
        }
    }

    @Test func `a write with a throttled body can be stored in the outbox`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, _) = try NetworkClient.stubbed { _ in .status(201) }
        let outbox = try Outbox(file: file, client: client)
        var call = APIConfiguration(path: "topics", method: .post, body: .data(Data("a".utf8)))
        call.throttle = BodyThrottle(packetSize: 1, delay: .seconds(1))

        #expect(try outbox.store(call).body == Data("a".utf8))
    }
}
