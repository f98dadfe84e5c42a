import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting

@testable import SwitchyardClient

/// The requests and the result of a redirect case.
struct RedirectRun {
    var requests: [HTTPRequest]
    var result: Result<ServiceResponse, RequestFailure>

    var answer: ServiceResponse? {
        if case .success(let answer) = result { answer } else { nil }
    }

    /// The URL of the response with the fragment, which is never sent to a server.
    var finalURL: String? {
        guard let answer else { return nil }
        let fragment = answer.context.redirects.last?.fragment.map { "#\($0)" } ?? ""
        return answer.context.url.map { "\($0.text)\(fragment)" }
    }

    var redirectError: RedirectError? {
        if case .failure(let failure) = result, case .redirect(let error) = failure.reason { error } else { nil }
    }

    /// Whether the redirects form a loop.
    var isCircle: Bool {
        if case .loop = redirectError { true } else { false }
    }

    /// Whether the first request was a POST and the second one is not.
    var hasBecomeGet: Bool {
        requests.first?.method == .post && requests.dropFirst().first?.method == .get
    }

    // MARK: - Running

    /// Sends the first request of a case against its responses.
    static func of(_ item: CaseValue) async throws -> RedirectRun {
        let first = item["first_request"]
        let path = first?["url"]?.string ?? ""
        let method = HTTPMethod(first?["method"]?.string?.uppercased() ?? "GET") ?? .get
        var configuration = APIConfiguration(path: path, method: method)
        configuration.headers = headers(first?["headers"])
        if let body = first?["body"]?.text { configuration.body = .data(Data(body.utf8), contentType: nil) }
        if item["config"]?["followRedirects"]?.bool == false {
            configuration.redirects = .refuse
        } else if let limit = item["config"]?["maxRedirects"]?.int {
            configuration.redirects = .follow.limited(to: limit)
        }
        let jar = CookieJar()
        for held in first?["cookies_held"]?.array ?? [] {
            guard let url = RequestURL(path) else { continue }
            jar.scoped(to: "test").store(
                from: ["Set-Cookie": "\(held["name"]?.string ?? "")=\(held["value"]?.string ?? "")"],
                of: url
            )
        }
        return try await of(configuration, answers(item), jar: jar)
    }

    /// Sends a request with these responses; the last one repeats.
    static func of(
        _ configuration: APIConfiguration,
        _ answers: [StubResponse],
        jar: CookieJar? = nil,
        redirects: RedirectPolicy = .follow
    ) async throws -> RedirectRun {
        let list = AnswerList(answers)
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.generator.cookies = jar
            $0.insecureHTTP = .allowed
            $0.redirects = redirects
        }) { list.answer($0) }
        let result = await client.result(of: configuration)
        return RedirectRun(requests: transport.requests, result: result)
    }

    // MARK: - Reading

    private static func answers(_ item: CaseValue) -> [StubResponse] {
        let isHead = item["first_request"]?["method"]?.string == "HEAD"
        return (item["responses"]?.array ?? []).flatMap { listed -> [StubResponse] in
            let response = listed["$forever"] ?? listed
            let status = response["status"]?.int ?? 200
            if let count = response["$redirects"]?.int {
                return (0..<count).map { index in
                    let left = count - index - 1
                    let query = left == 0 ? "" : "?count=\(left)"
                    return .status(status, headers: ["Location": "/multiple_redirects\(query)"])
                }
            }
            let body = isHead ? "" : response["body"]?.text ?? ""
            return [.status(status, headers: headers(response["headers"]), body: Data(body.utf8))]
        }
    }

    private static func headers(_ value: CaseValue?) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for member in value?.members ?? [] {
            for text in member.value.array ?? [member.value] { headers.add(member.key, text.string ?? "") }
        }
        return headers
    }
}
