import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// Redirects as in async-http-client and Alamofire.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct RedirectSuiteCaseTests {
    private static func compare<Value: Equatable>(_ actual: Value?, _ expected: Value?) -> CaseOutcome {
        guard let expected else { return .passed }
        return .compare(actual.map { "\($0)" }, "\(expected)")
    }

    // MARK: - async-http-client

    @Test func `redirects match async-http-client`() async throws {
        let keys: CaseKeys = """
            operation input server method status config expected expected_error expected_status expected_final_path
            expected_method_sent expected_second_method
            """
        try await CaseFile("async_http_client_redirects_urls").runAsync(reading: keys) { item in
            if item["operation"] != nil {
                return .notApplicable("A host is validated and never escaped, so an invalid character is an error.")
            }
            if item["server"] != nil { return try await Self.places(item) }
            guard let method = HTTPMethod(item["method"]?.string ?? "GET") else {
                return .notApplicable("An invalid method cannot be expressed.")
            }
            let status = item["status"]?.int ?? 200
            let answers: [StubResponse] = [.status(status, headers: ["Location": "/ok"]), .status(200)]
            let run = try await RedirectRun.of(APIConfiguration(path: "http://a.test/x", method: method), answers)
            if let sent = item["expected_method_sent"]?.string {
                return Self.compare(run.requests.first?.method.name, sent)
            }
            guard let second = item["expected_second_method"]?.string else {
                return .notApplicable("The case does not test a redirect.")
            }
            // The same option under both of its names.
            let keeps = item["config"]?.members?.contains {
                $0.key.hasPrefix("convert") && $0.value == .bool(false)
                    || $0.key.hasPrefix("retain") && $0.value == .bool(true)
            }
            return Self.compare(run.requests.dropFirst().first?.method.name, second)
                .or(
                    "The status determines the method of the second request, and there is no setting.",
                    if: keeps ?? false
                )
        }
    }

    /// A case that lists paths separated by `->`, or by `<->` for a loop.
    private static func places(_ item: CaseValue) async throws -> CaseOutcome {
        let way = (item["server"]?.string ?? "").split(separator: " ").map(String.init)
        guard way.count == 3, way[0].hasPrefix("/"), way[2].hasPrefix("/") || way[2].hasPrefix("http") else {
            return .notApplicable("The way is described in prose.")
        }
        var answers: [StubResponse] = [.status(302, headers: ["Location": way[2]])]
        if way[1] == "<->" {
            for _ in 0..<50 {
                answers.append(.status(302, headers: ["Location": way[0]]))
                answers.append(.status(302, headers: ["Location": way[2]]))
            }
        } else {
            answers.append(.status(200))
        }
        var configuration = APIConfiguration(path: "http://a.test\(way[0])")
        if let limit = item["config"]?["max"]?.int { configuration.redirects = .follow.limited(to: limit) }
        if item["config"]?["followRedirects"]?.bool == false { configuration.redirects = .refuse }
        let run = try await RedirectRun.of(configuration, answers)
        if let error = item["expected_error"]?.string {
            // A loop is detected as soon as it closes, whatever the limit is.
            return run.redirectError != nil ? .passed : .failed("expected \(error), found \(run.result)")
        }
        let status = compare(run.answer?.status, item["expected_status"]?.int)
        guard status == .passed else { return status }
        return compare(run.answer?.context.url?.path, item["expected_final_path"]?.string)
    }

    // MARK: - Alamofire

    @Test func `a call's redirect policy wins over the client's, as in Alamofire`() async throws {
        let keys: CaseKeys = """
            session_handler session_handler.modify request_handler request_handler.modify exchange exchange.request
            exchange.response exchange.response.status exchange.response.location expected expected.finalPath
            expected.status expected.body expected.stored expected.userInfo
            """
        try await CaseFile("alamofire_redirect_cache_handlers").runAsync(reading: keys) { item in
            guard let exchanges = item["exchange"]?.array, !exchanges.isEmpty else {
                return .notApplicable("The cache policy decides whether a response is stored, not a handler.")
            }
            let expected = item["expected"]
            let wanted = expected?["finalPath"]?.string
            var configuration = APIConfiguration(path: "http://a.test/redirect-to")
            configuration.redirects = try Self.policy(item["request_handler"], to: wanted)
            let redirects = exchanges.map { exchange in
                let response = exchange["response"]
                let location = response?["location"]?.string ?? ""
                return StubResponse.status(response?["status"]?.int ?? 302, headers: ["Location": location])
            }
            let client = try Self.policy(item["session_handler"], to: wanted) ?? .follow
            let run = try await RedirectRun.of(configuration, redirects + [.status(200)], redirects: client)
            let outcomes = [
                Self.compare(run.answer?.status, expected?["status"]?.int),
                Self.compare(run.answer?.context.url?.path, wanted),
                Self.compare(run.answer?.text, expected?["body"].map { $0.string ?? "" }),
            ]
            return outcomes.first { $0 != .passed } ?? .passed
        }
    }

    private static func policy(_ value: CaseValue?, to path: String?) throws -> RedirectPolicy? {
        switch value {
        case nil, .null: nil
        case .string("doNotFollow"): .refuse
        case .string("follow"): .follow
        case .string(let name): throw CaseParameters.Unknown(what: "The test does not support the handler \(name).")
        default:
            .deciding { proposal in
                guard let path, let url = try? proposal.url.resolving(path) else { return .refuse }
                var request = proposal.request
                request.url = url
                return .send(request)
            }
        }
    }
}
