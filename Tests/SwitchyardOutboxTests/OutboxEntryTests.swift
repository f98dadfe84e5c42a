import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardOutbox

/// A write is sent as the call that was stored would have been; row D55.
@Suite(.timeLimit(.minutes(5)), .prompt) struct OutboxEntryTests {
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID().uuidString)")

    /// What is sent of a call at once, and of the same call by way of an outbox.
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

    @Test func `a query is written with the generator's options`() async throws {
        let call = APIConfiguration(path: "topics?all", method: .delete, query: ["hard": true, "ids": [1, 2]])

        let (sent, stored) = try await requests(for: call) { generator in
            generator.queryOptions.booleans = .literal
            generator.queryOptions.arrays = .repeated
        }

        #expect(stored.url == sent.url)
        #expect(stored.url.query == "all&hard=true&ids=1&ids=2")
    }

    @Test func `a query is written by the generator's own way where it has one`() async throws {
        var call = APIConfiguration(path: "topics", method: .delete, query: ["a": 1])
        call.parameters = ["b": 2]

        let (sent, stored) = try await requests(for: call) { generator in
            generator.customQuery = { parameters in "names=" + parameters.items.map(\.key).joined(separator: "-") }
        }

        #expect(stored.url == sent.url)
        #expect(stored.url.query == "names=a-b")
    }

    @Test func `parameters that make the body are written with the call's own options`() async throws {
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

    @Test func `parameters beside a form are among its fields`() async throws {
        var call = APIConfiguration(path: "topics", method: .post, body: .form(["title": "t"]))
        call.parameters = ["group": 7]

        let (sent, stored) = try await requests(for: call)

        #expect(body(stored) == body(sent))
        #expect(body(stored) == "group=7&title=t")
    }

    @Test func `a form names the character set that it is written in`() async throws {
        let call = APIConfiguration(path: "topics", method: .post, body: .form(["title": "é"]))

        let (sent, stored) = try await requests(for: call) { $0.formOptions.characterSet = .isoLatin1 }

        #expect(body(stored) == body(sent))
        #expect(stored.headers["Content-Type"] == "application/x-www-form-urlencoded; charset=iso-8859-1")
    }

    @Test func `parameters beside a body that takes none are refused, as they are when they are sent`() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, _) = try NetworkClient.stubbed { _ in .status(201) }
        let outbox = try Outbox(file: file, client: client)
        var call = APIConfiguration(path: "topics", method: .post, body: .json(["title": "t"]))
        call.parameters = ["group": 7]

        #expect(throws: OutboxError.invalid(.body(kind: "application/json", reason: .conflict))) {
            try outbox.store(call)
        }
    }

    @Test func `a body that is to be sent slowly can be stored`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, _) = try NetworkClient.stubbed { _ in .status(201) }
        let outbox = try Outbox(file: file, client: client)
        var call = APIConfiguration(path: "topics", method: .post, body: .data(Data("a".utf8)))
        call.throttle = BodyThrottle(packetSize: 1, delay: .seconds(1))

        #expect(try outbox.store(call).body == Data("a".utf8))
    }
}
