import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// The request after a redirect, compared with OkHttp, httpx, requests and got.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct RedirectCaseTests {
    @Test func `redirects match OkHttp, httpx, requests and got`() async throws {
        let keys: CaseKeys = """
            operation from to expected_authorization_dropped config.followRedirects config.maxRedirects
            config.followProtocolChange config.methodRewriting first_request.url first_request.method
            first_request.headers first_request.body first_request.cookies_held.name first_request.cookies_held.value
            first_request.cookies_held.host first_request.cookies_held.port_list responses.status responses.headers
            responses.body responses.$redirects responses.$forever.status responses.$forever.headers
            responses.$forever.body expected_error expected_request_count expected_status expected_body
            expected_history_length expected_final_url expected_second_request.method expected_second_request.url
            expected_second_request.headers expected_second_request.absent_headers expected_second_request.query
            expected_second_request.body
            """
        try await CaseFile("redirects").runAsync(reading: keys) { item in
            if item["operation"] != nil { return try await Self.authorization(item) }
            let run = try await RedirectRun.of(item)
            let outcome = try await Self.judge(run, item)
            return Self.differences(run, item).reduce(outcome) { $0.or($1.reason, if: $1.applies) }
        }
    }

    private static func judge(_ run: RedirectRun, _ item: CaseValue) async throws -> CaseOutcome {
        let count = compare(run.requests.count, item["expected_request_count"]?.int)
        if item["expected_error"] != nil {
            return run.redirectError == nil ? .failed("expected an error, found \(run.result)") : count
        }
        let outcomes = [
            count,
            compare(run.answer?.status, item["expected_status"]?.int),
            compare(run.answer?.text, item["expected_body"]?.string),
            compare(run.answer?.context.redirects.count, item["expected_history_length"]?.int),
            compare(run.finalURL, item["expected_final_url"]?.string),
        ]
        if let failed = outcomes.first(where: { $0 != .passed }) { return failed }
        return try await second(run.requests.dropFirst().first, item)
    }

    private static func second(_ request: HTTPRequest?, _ item: CaseValue) async throws -> CaseOutcome {
        guard let expected = item["expected_second_request"] else { return .passed }
        guard let request else { return .failed("there was no second request") }
        var outcomes = [
            compare(request.method.name, expected["method"]?.string),
            compare(request.url.text, expected["url"]?.string),
        ]
        for member in expected["headers"]?.members ?? [] {
            // If no Host header is set, the host of the URL is used.
            let host = member.key.lowercased() == "host" ? request.url.foundationURL?.authority : nil
            outcomes.append(.compare(request.headers[member.key] ?? host, member.value.string))
        }
        for name in expected["absent_headers"]?.array ?? [] {
            outcomes.append(.compare(request.headers[name.string ?? ""], nil))
        }
        for member in expected["query"]?.members ?? [] {
            outcomes.append(.compare(request.url.foundationURL?.formValue(of: member.key), member.value.string))
        }
        if let body = expected["body"] {
            let text = String(decoding: try await request.body.collected(upTo: 1_000_000), as: UTF8.self)
            outcomes.append(.compare(text, body.text ?? ""))
        }
        return outcomes.first { $0 != .passed } ?? .passed
    }

    private static func compare<Value: Equatable>(_ actual: Value?, _ expected: Value?) -> CaseOutcome {
        guard let expected else { return .passed }
        return .compare(actual.map { "\($0)" }, "\(expected)")
    }

    // MARK: - Intended differences

    /// The intended differences, and whether each applies to the case.
    private static func differences(_ run: RedirectRun, _ item: CaseValue) -> [(reason: String, applies: Bool)] {
        let first = item["first_request"]
        let config = item["config"]
        let from = first?["url"]?.string ?? ""
        let answer = item["responses"]?.array?.first
        let location = answer?["headers"]?["Location"]?.string ?? ""
        let target = URL(string: location, relativeTo: URL(string: from))
        let isAskable = ["http", "https"].contains(target?.scheme?.lowercased()) && target?.host?.isEmpty == false
        let keepsMethod = [307, 308].contains(answer?["status"]?.int)
        let leaves = target?.host != URL(string: from)?.host || target?.scheme != URL(string: from)?.scheme
        return [
            (
                "A redirect from https to http is never followed, from http to https always, without a setting.",
                config?["followProtocolChange"] != nil || (from.hasPrefix("https:") && target?.scheme == "http")
            ),
            (
                "A target that cannot be requested is an error and neither guessed nor returned as a response.",
                !isAskable && run.redirectError != nil
            ),
            ("Credentials in a URL are not used because they are a separate setting.", from.contains("@")),
            (
                "A 307 also sends the body to another origin, as RFC 9110 specifies.",
                keepsMethod && leaves && item["expected_second_request"]?["body"] == .null
            ),
            ("A 300 offers a choice and is not followed.", answer?["status"]?.int == 300),
            (
                "A POST becomes a GET after 301 and 302, as in browsers.",
                config?["methodRewriting"]?.bool == false || run.hasBecomeGet && Self.staysPost(item)
            ),
            (
                "A redirect loop is detected when it closes, regardless of the limit.",
                item["responses"]?.array?.contains { $0["$forever"] != nil } == true && run.isCircle
            ),
            ("Every body can be recreated.", config?.members?.contains { $0.key.contains("tream") } ?? false),
            (
                "A host with non-ASCII characters is requested in its ASCII form.",
                item["expected_error"] != nil && location.utf8.contains { $0 > 127 }
            ),
        ]
    }

    /// Whether the case expects a POST or its body after the redirect.
    private static func staysPost(_ item: CaseValue) -> Bool {
        let expected = item["expected_second_request"]
        return expected?["method"]?.string == "POST" || expected?["body"]?.text?.isEmpty == false
    }

    // MARK: - Authorization

    private static func authorization(_ item: CaseValue) async throws -> CaseOutcome {
        guard let expected = item["expected_authorization_dropped"]?.bool else {
            return .notApplicable("The operation is unknown.")
        }
        guard let from = item["from"]?.string, let to = item["to"]?.string else { return .failed("no URLs") }
        var configuration = APIConfiguration(path: from)
        configuration.headers = ["Authorization": "abc"]
        let answers: [StubResponse] = [.status(302, headers: ["Location": to]), .status(200)]
        let run = try await RedirectRun.of(configuration, answers)
        let isDowngrade = from.hasPrefix("https:") && to.hasPrefix("http:")
        if isDowngrade, case .insecure = run.redirectError {
            return .differs("A redirect from https to http is rejected.")
        }
        guard run.requests.count == 2 else { return .failed("\(run.result)") }
        let isDropped = run.requests.last?.headers["Authorization"] == nil
        return .compare("\(isDropped)", "\(expected)")
    }
}

extension URL {
    /// The host, followed by the port if there is one.
    fileprivate var authority: String? {
        host.map { host in port.map { "\(host):\($0)" } ?? host }
    }

    /// The value of a name in a form-encoded query.
    fileprivate func formValue(of name: String) -> String? {
        let pairs = query(percentEncoded: true)?.split(separator: "&").map { $0.split(separator: "=", maxSplits: 1) }
        let value = pairs?.first { $0.first.map(String.init) == name }?.last
        return value?.replacingOccurrences(of: "+", with: " ").removingPercentEncoding
    }
}
