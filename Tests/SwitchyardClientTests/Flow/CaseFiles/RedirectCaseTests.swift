import Foundation
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// What the request after a redirect looks like (OkHttp, httpx, requests, got, async-http-client, Alamofire).
@Suite(.timeLimit(.minutes(1)))
struct RedirectCaseTests {
    /// What came of a case's first request.
    private struct Run {
        var requests: [HTTPRequest]
        var result: Result<ServiceResponse, RequestFailure>

        var answer: ServiceResponse? {
            if case .success(let answer) = result { answer } else { nil }
        }

        /// The URL of the answer with the fragment that no server saw.
        var finalURL: String? {
            guard let answer else { return nil }
            let fragment = answer.context.redirects.last?.fragment.map { "#\($0)" } ?? ""
            return answer.context.url.map { "\($0.text)\(fragment)" }
        }

        var redirectError: RedirectError? {
            if case .failure(let failure) = result, case .redirect(let error) = failure.reason { error } else { nil }
        }
    }

    // MARK: - redirects.json

    @Test func `redirects are those of OkHttp, httpx, requests and got`() async throws {
        try await CaseFile("redirects").runAsync { item in
            if item["operation"] != nil { return try await Self.authorization(item) }
            return try await Self.judge(item)
        }
    }

    private static func judge(_ item: JSONValue) async throws -> CaseOutcome {
        if item["config"]?["followProtocolChange"] != nil {
            return .differs("From https to http is never followed, from http to https always: there is no switch.")
        }
        let run = try await run(item)
        if case .redirect(.unusableTarget) = (run.result.failure?.reason ?? .cancelled) {
            return .differs("A target without host is an error; it is not guessed.")
        }
        if item["first_request"]?["url"]?.string?.contains("@") ?? false {
            return .differs("Credentials are not taken out of a URL; they have a place of their own.")
        }
        let outcomes = [
            compare(run.requests.count, item["expected_request_count"]?.int),
            compare(run.answer?.status, item["expected_status"]?.int),
            compare(run.answer?.text, item["expected_body"]?.string),
            compare(run.answer?.context.redirects.count, item["expected_history_length"]?.int),
            compare(run.finalURL, item["expected_final_url"]?.string),
        ]
        if let failed = outcomes.first(where: { $0 != .passed }) { return failed }
        return try await second(run.requests.dropFirst().first, item)
    }

    private static func second(_ request: HTTPRequest?, _ item: JSONValue) async throws -> CaseOutcome {
        guard let expected = item["expected_second_request"] else { return .passed }
        guard let request else { return .failed("there was no second request") }
        var outcomes = [
            compare(request.method.name, expected["method"]?.string),
            compare(request.url.text, expected["url"]?.string),
        ]
        for member in expected["headers"]?.members ?? [] {
            outcomes.append(.compare(request.headers[member.key], member.value.string))
        }
        for name in expected["absent_headers"]?.array ?? [] {
            outcomes.append(.compare(request.headers[name.string ?? ""], nil))
        }
        if let query = expected["query"]?.members?.first {
            let value = request.url.foundationURL?.query(percentEncoded: true)?.split(separator: "=").last
            let decoded = value?.replacingOccurrences(of: "+", with: " ").removingPercentEncoding
            outcomes.append(.compare(decoded, query.value.string))
        }
        if let body = expected["body"] {
            let text = String(decoding: try await request.body.collected(upTo: 1000), as: UTF8.self)
            let outcome = CaseOutcome.compare(text, body.string ?? "")
            let crosses = (item["note"]?.string ?? "").contains("stricter than RFC 9110")
            outcomes.append(outcome.or("A 307 takes the body along to another origin, as RFC 9110 says.", if: crosses))
        }
        return outcomes.first { $0 != .passed } ?? .passed
    }

    private static func compare<Value: Equatable>(_ actual: Value?, _ expected: Value?) -> CaseOutcome {
        guard let expected else { return .passed }
        return .compare(actual.map { "\($0)" }, "\(expected)")
    }

    private static func authorization(_ item: JSONValue) async throws -> CaseOutcome {
        guard let from = item["from"]?.string, let to = item["to"]?.string else { return .failed("no URLs") }
        var configuration = APIConfiguration(path: from)
        configuration.headers = ["Authorization": "abc"]
        let run = try await run(configuration, [.status(302, headers: ["Location": to]), .status(200)])
        if case .insecure = run.redirectError { return .differs("A redirect from https to http is refused.") }
        // Only the port that is written is another URL to the stub; the origin is the same, and so is the loop.
        if case .loop = run.redirectError { return .failed("seen as a loop") }
        let isDropped = run.requests.last?.headers["Authorization"] == nil
        return .compare("\(isDropped)", "\(item["expected_authorization_dropped"]?.bool ?? false)")
    }

    // MARK: - Running

    private static func run(_ item: JSONValue) async throws -> Run {
        let first = item["first_request"]
        let path = first?["url"]?.string ?? ""
        var configuration = APIConfiguration(path: path, method: HTTPMethod(first?["method"]?.string ?? "GET") ?? .get)
        configuration.headers = headers(first?["headers"])
        if let body = first?["body"]?.string { configuration.body = .data(Data(body.utf8), contentType: nil) }
        if item["config"]?["followRedirects"]?.bool == false { configuration.redirects = .refuse }
        let jar = CookieJar()
        for held in first?["cookies_held"]?.array ?? [] {
            guard let url = RequestURL(path) else { continue }
            jar.scoped(to: "test").store(
                from: ["Set-Cookie": "\(held["name"]?.string ?? "")=\(held["value"]?.string ?? "")"],
                of: url
            )
        }
        return try await run(configuration, answers(item), jar: jar)
    }

    private static func answers(_ item: JSONValue) -> [StubAnswer] {
        (item["responses"]?.array ?? []).flatMap { response -> [StubAnswer] in
            let status = response["status"]?.int ?? 200
            if let count = response["$redirects"]?.int {
                return (0..<count).map { index in
                    let left = count - index - 1
                    let query = left == 0 ? "" : "?count=\(left)"
                    return .status(status, headers: ["Location": "/multiple_redirects\(query)"])
                }
            }
            let isHead = item["first_request"]?["method"]?.string == "HEAD"
            let body = isHead ? "" : response["body"]?.string ?? ""
            return [.status(status, headers: headers(response["headers"]), body: Data(body.utf8))]
        }
    }

    private static func headers(_ value: JSONValue?) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for member in value?.members ?? [] { headers.add(member.key, member.value.string ?? "") }
        return headers
    }

    private static func run(
        _ configuration: APIConfiguration,
        _ answers: [StubAnswer],
        jar: CookieJar? = nil
    ) async throws -> Run {
        let list = AnswerList(answers)
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.generator.cookies = jar
            $0.insecureHTTP = .allowed
        }) { list.answer($0) }
        let result = await client.result(of: configuration)
        return Run(requests: transport.requests, result: result)
    }

    // MARK: - async-http-client

    @Test func `redirects are those of async-http-client`() async throws {
        try await CaseFile("async_http_client_redirects_urls").runAsync { item in
            let id = item["id"]?.string ?? ""
            if item["operation"] != nil {
                return .notApplicable("A host is checked and never escaped; what a host cannot hold is an error.")
            }
            if item["expected_error"]?.string == "redirectCycleDetected" {
                let ring = [
                    StubAnswer.status(302, headers: ["Location": "/infinite2"]),
                    .status(302, headers: ["Location": "/infinite1"]),
                ]
                let run = try await Self.run(APIConfiguration(path: "http://a.test/infinite1"), ring)
                if case .loop = run.redirectError { return .passed }
                return .failed("\(run.result)")
            }
            if id == "ahc-redirect-302-final-url" {
                let answers = [StubAnswer.status(302, headers: ["Location": "/ok"]), .status(200)]
                let run = try await Self.run(APIConfiguration(path: "http://a.test/redirect/302"), answers)
                return Self.compare(run.answer?.context.url?.path, item["expected_final_path"]?.string)
            }
            let method = HTTPMethod(item["method"]?.string ?? "GET") ?? .get
            let answers = [
                StubAnswer.status(item["status"]?.int ?? 200, headers: ["Location": "/ok"]), .status(200),
            ]
            let run = try await Self.run(APIConfiguration(path: "http://a.test/x", method: method), answers)
            let expected = item["expected_second_method"]?.string ?? item["expected_method_sent"]?.string
            let request = item["expected_second_method"] == nil ? run.requests.first : run.requests.last
            return Self.compare(request?.method.name, expected)
        }
    }

    // MARK: - Alamofire

    @Test func `a call's redirect policy wins over the client's, as in Alamofire`() async throws {
        try await CaseFile("alamofire_redirect_cache_handlers").runAsync { item in
            guard item["id"]?.string?.contains("redirect") ?? false else {
                return .notApplicable("Whether an answer is stored is the cache policy's, not a handler's.")
            }
            let answers = AnswerList([.status(302, headers: ["Location": "/get"]), .status(200)])
            let (client, _) = try NetworkClient.stubbed(options: {
                $0.redirects = Self.policy(item["session_handler"]) ?? .follow
            }) { answers.answer($0) }
            var configuration = APIConfiguration(path: "http://a.test/redirect-to")
            configuration.redirects = Self.policy(item["request_handler"])
            let answer = try await client.send(configuration)
            let status = Self.compare(answer.status, item["expected"]?["status"]?.int)
            guard status == .passed else { return status }
            return Self.compare(answer.context.url?.path, item["expected"]?["finalPath"]?.string)
        }
    }

    private static func policy(_ value: JSONValue?) -> RedirectPolicy? {
        switch value?.string {
        case "follow": .follow
        case "doNotFollow": .refuse
        default: nil
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
