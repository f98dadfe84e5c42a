import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardResources
import SwitchyardServices
import SwitchyardTesting

/// Consecutive loads of a resource as in Siesta's suite.
struct SiestaFlow {
    private let item: CaseFile.Case
    private let clock = ManualClock()

    init(_ item: CaseFile.Case) {
        self.item = item
    }

    private func resource(_ answers: [StubResponse], _ options: APIResource<String>.Options) throws -> APIResource<
        String
    > {
        let topics = TopicAPI(client: try .stubbed(StubTransport(answers: answers), time: clock))
        // Only a response with a lifetime is stored and can be confirmed.
        let topic = TopicAPI.topic(1, lifetime: item["steps"] == nil ? nil : .seconds(30))
        return topics.resource(for: topic, with: .string, options: options)
    }

    private func answer(_ step: JSONValue) -> StubResponse {
        var headers = HTTPHeaders()
        for (name, value) in step.value(at: "response.headers")?.object ?? [:] { headers.add(name, value.string ?? "") }
        let body = Data((step.value(at: "response.body_utf8")?.string ?? "").utf8)
        return .status(step.value(at: "response.status")?.int ?? 200, headers: headers, body: body)
    }

    /// Compares the part of the response that an error keeps.
    func errorBody() async throws -> Verdict {
        let resource = try resource([answer(item.value)], .init())
        _ = try? await resource.load()
        guard let error = resource.snapshot.error else { return .failed("no error") }
        return .all([
            .equal("http \(error.context.status ?? 0)", item["expected_error"]?.string),
            .equal(try? JSONValue(parsing: error.context.body), item["expected_error_json"]),
        ])
    }

    /// Compares the validators in the next request for the resource.
    func revalidation() async throws -> Verdict {
        let transport = StubTransport(answers: [answer(item.value), .status(304)])
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        let resource = topics.resource(for: TopicAPI.topic(1, lifetime: .seconds(30)), with: .string)
        let first = try await resource.load()
        let second = try await resource.load()
        let expected = item["expected_next_request_headers"]?.object ?? [:]
        return .all(
            [.equal(transport.requestCount, 2), .equal(second, first)]
                + [.equal(resource.snapshot.response?.headers["ETag"], item["expected_etag"]?.string)]
                + expected.map { .equal(transport.requests.last?.headers[$0.key], $0.value.string) }
        )
    }

    /// Compares data, entity tag and error after each load.
    func states() async throws -> Verdict {
        guard item["steps"]?.array?.allSatisfy({ $0.object.map { Array($0.keys) } == ["response"] }) == true else {
            return .notApplicable("the test does not support the kind of step")
        }
        let resource = try resource((item["steps"]?.array ?? []).map(answer), .init())
        var verdicts: [Verdict] = []
        for expected in item["expected"]?.array ?? [] {
            _ = try? await resource.load()
            let state = resource.snapshot
            verdicts.append(.equal(state.value, expected["data"]?.string))
            if let tag = expected["etag"]?.string { verdicts.append(.equal(state.response?.headers["ETag"], tag)) }
            let status = expected["error"]?.string?.split(separator: " ").last.flatMap { Int($0) }
            verdicts.append(.equal(state.error?.reason, status.map { .status($0) }))
        }
        return .all(verdicts)
    }

    /// Compares whether a load sends a request after some time.
    func freshness() async throws -> Verdict {
        let words = item["first_load"]?.string?.split(separator: " ") ?? []
        guard words == ["success"] || words.count == 2 && words[0] == "http" else {
            return .notApplicable("the first load is described in prose")
        }
        let status = words.last.flatMap { Int($0) } ?? 200
        var options = APIResource<String>.Options()
        options.expiration = item.value.value(at: "configuration.expirationTime")?.int.map { .seconds($0) }
        if let retry = item.value.value(at: "configuration.retryTime")?.int { options.retryDelay = .seconds(retry) }
        let resource = try resource(
            [.status(status, body: Data("first".utf8)), .status(200, body: Data("second".utf8))],
            options
        )
        _ = try? await resource.load()
        clock.advance(by: .seconds((item["load_if_needed_at"]?.int ?? 0) - (item["first_load_at"]?.int ?? 0)))
        let value = try await resource.loadIfNeeded()
        return .equal(value == "second", item["expected_loads"]?.bool)
    }
}
