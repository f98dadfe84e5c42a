import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// The retry conformance tests of Google Cloud Storage, run over sockets.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct StorageRetryCaseTests {
    private static let keys: CaseKeys = """
        scenario method path query query.ifGenerationMatch query.ifMetagenerationMatch steps word
        expected expected.answered expected.requests
        expected_without_word expected_without_word.answered expected_without_word.requests
        """

    @Test func `calls with mayBeRepeated are repeated as by Google's clients`() async throws {
        let file = try CaseFile("gcs_retry")
        #expect(file.cases.count == 309)
        await file.runAsync(reading: Self.keys) { item in
            try await Self.judge(item, word: item["word"]?.bool, against: "expected")
        }
    }

    @Test func `calls without mayBeRepeated are repeated according to their method`() async throws {
        var file = try CaseFile("gcs_retry")
        file.cases = file.cases.filter { $0["word"] != nil }
        #expect(file.cases.count == 130)
        await file.runAsync(reading: Self.keys) { item in
            try await Self.judge(item, word: nil, against: "expected_without_word")
        }
    }

    private static func judge(_ item: CaseValue, word: Bool?, against key: String) async throws -> CaseOutcome {
        let expected = item[key]
        guard let isAnswered = expected?["answered"]?.bool, let requests = expected?["requests"]?.int else {
            return .failed("the case expects nothing")
        }
        let steps = item["steps"]?.array?.compactMap(\.string) ?? []
        let (status, count) = try await play(try configuration(of: item, word: word), against: steps)
        let outcome = "\(status.map { 200..<300 ~= $0 } ?? false) after \(count) requests"
        return .compare(outcome, "\(isAnswered) after \(requests) requests")
    }

    private static func configuration(of item: CaseValue, word: Bool?) throws -> APIConfiguration {
        let method = try #require(HTTPMethod(item["method"]?.string ?? ""))
        var configuration = APIConfiguration(path: item["path"]?.string ?? "", method: method)
        for member in item["query"]?.members ?? [] {
            configuration.query[member.key] = .string(member.value.string ?? "")
        }
        if [.post, .put, .patch].contains(method) { configuration.body = .json(["name": "bucket"]) }
        configuration.mayBeRepeated = word
        return configuration
    }

    /// Sends a call to a server that responds with the steps in order, and then with 200.
    ///
    /// - Returns: The status of the response, or `nil` if there was none, and the number of requests that arrived.
    private static func play(_ call: APIConfiguration, against steps: [String]) async throws -> (Int?, Int) {
        let server = LoopbackServer()
        let steps = Locked(ArraySlice(steps))
        server.route(nil, "/*") { _ in
            guard let step = steps.withLock({ $0.popFirst() }) else { return .json("{}") }
            // The server closes the connection without a response.
            guard let status = Int(step) else { throw CancellationError() }
            return .status(status)
        }
        try server.start()
        defer { server.stop() }
        var options = NetworkClient.Options(seed: 1)
        options.retry = RetryPolicy(maximumRetries: 2, backoff: .constant(.zero))
        let client = try NetworkClient(service: .loopback([server]), options: options)
        defer { client.shutdown() }
        let status = try? await client.send(call).status
        return (status, server.requests.count)
    }
}
