import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

/// The response cases of other clients' suites; the client's tests judge the request cases.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ClientSuiteCaseTests {
    private static let requests = "The tests of the client cover requests."

    // MARK: - AFNetworking

    @Test func `responses are accepted and parsed as in AFNetworking`() throws {
        let keys = """
            operation response acceptable options method url headers parameters encoding input fileName pinning baseURL
            policy removesKeysWithNullValues expected expected_valid expected_value expected_error expected_url
            expected_query expected_body expected_content_type expected_headers expected_request
            """
        try CaseFile("afnetworking").run(reading: keys) { item in
            switch item["operation"]?.string {
            case "validate": return accepted(item, .data, ResponseRules(contentType: acceptable(item)))
            case "validateJSON": return accepted(item, .json, .strict)
            case "parseJSON": return parsed(item)
            case "request" where item.value.value(at: "response.status") != nil:
                return accepted(item, .data, ResponseRules(contentType: .any))
            default: return .notApplicable(Self.requests)
            }
        }
    }

    private func parsed(_ item: CaseFile.Case) -> Verdict {
        let result = Result { try ResponseSerializer.decodable(JSONValue?.self).value(of: response(item)) }
        if let error = item["expected_error"], !error.isNull {
            return .equal((try? result.get()) == nil, true)
        }
        let settings = (item.value.object ?? [:]).merging(item["options"]?.object ?? [:]) { $1 }
        let removesNulls = settings.contains { $0.key.lowercased().contains("null") && $0.value == true }
        let value = (try? result.get()).flatMap { removesNulls ? $0?.removingNulls() : $0 }
        return .equal(value ?? .null, item.value.object?["expected_value"] ?? .null)
    }

    /// The content types of a serializer; a serializer without types accepts any type.
    private func acceptable(_ item: CaseFile.Case) -> ResponseRules.ContentTypeRule {
        let types = item["acceptable"]?.array?.compactMap { $0.string.flatMap { MediaType($0) } }
        return types.map { .only($0) } ?? .any
    }

    private func response(_ item: CaseFile.Case) -> RawResponse {
        var headers = HTTPHeaders()
        headers["Content-Type"] = item.value.value(at: "response.contentType")?.string
        return RawResponse(
            status: item.value.value(at: "response.status")?.int ?? 0,
            headers: headers,
            data: Data((item.value.value(at: "response.body")?.string ?? "").utf8)
        )
    }

    private func accepted<Value>(
        _ item: CaseFile.Case,
        _ serializer: ResponseSerializer<Value>,
        _ rules: ResponseRules
    ) -> Verdict {
        let isValid = (try? serializer.value(of: response(item), rules: rules)) != nil
        return .equal(isValid, item["expected_valid"]?.bool ?? (item["expected"] == "success"))
    }

    // MARK: - Moya

    @Test func `statuses are filtered and errors are distinguished as in Moya`() async throws {
        let keys = """
            * expected_passes expected_error expected_value expected_has_description expected_has_response
            expected_has_underlying_error expected_url expected_body expected_headers expected_method
            expected_supports_multipart
            """
        try await CaseFile("moya").run(reading: keys) { (item: CaseFile.Case) async throws -> Verdict in
            if item["filter"] != nil { return filtered(item) }
            if item["operation"] == "mapJSON" { return mapped(item) }
            guard let name = item["error"]?.string else { return .notApplicable(Self.requests) }
            guard let error = try await error(named: name) else {
                return .notApplicable("Images require a serializer of the app.")
            }
            let cause = item["expected_has_underlying_error"]?.bool
            let figures = Verdict.all([
                .equal(!error.description.isEmpty && !error.message.isEmpty, item["expected_has_description"]?.bool),
                .equal(error.context.status != nil, item["expected_has_response"]?.bool ?? false),
            ])
            guard name == "parameterEncoding" || name == "encodableMapping", cause == true else {
                return .all([figures, .equal(error.context.underlying != nil, cause)])
            }
            return .all([
                figures, .difference("the reason describes an invalid request, and there is no underlying error"),
            ])
        }
    }

    private func mapped(_ item: CaseFile.Case) -> Verdict {
        let known: Set = [
            "id", "note", "operation", "response", "failsOnEmptyData", "expected_error", "expected_value",
        ]
        if let key = item.keys.subtracting(known).min() {
            return .notApplicable("the test does not read the key \(key)")
        }
        let raw = RawResponse(data: Data((item.value.value(at: "response.body")?.string ?? "").utf8))
        let isEmptyFine = item["failsOnEmptyData"] == false
        let result = Result {
            isEmptyFine
                ? try ResponseSerializer.decodable(JSONValue?.self).value(of: raw)
                : try ResponseSerializer.json.value(of: raw)
        }
        guard case .success(let value) = result else { return .equal(true, item["expected_error"]?.bool ?? false) }
        return .all([
            .equal(false, item["expected_error"]?.bool ?? false),
            .equal(value ?? .null, item.value.object?["expected_value"] ?? value ?? .null),
        ])
    }

    private func filtered(_ item: CaseFile.Case) -> Verdict {
        let policy: StatusPolicy
        switch item["filter"]?.string {
        case "successful": policy = .success
        case "successfulAndRedirect": policy = .successOrRedirect
        case let name:
            let bounds = (name ?? "").split { $0 == "." || $0 == "<" }.compactMap { Int($0) }
            let excess = name?.contains("<") == true ? 1 : 0
            guard let first = bounds.first, let last = bounds.last, first <= last - excess else {
                return .notApplicable("described in prose")
            }
            policy = .range(first...last - excess)
        }
        return .equal(policy.accepts(item["status"]?.int ?? 0), item["expected_passes"]?.bool)
    }

    /// The error that corresponds to an error of Moya; `nil` if there is none.
    private func error(named name: String) async throws -> APIError? {
        switch name {
        case "imageMapping": return nil
        case "jsonMapping": return try await ended(.json, Data("{".utf8))
        case "stringMapping": return try await ended(.string, Data([0xFF]))
        case "objectMapping": return try await ended(.decodable([Int].self), Data(#"["a"]"#.utf8))
        case "statusCode": return try await ended(.data, Data(), status: 404)
        case "underlying": return APIError(TransportError(.other, message: "cause"))
        default: return APIError(.configuration(.request(.parameter(keyPath: "a", reason: .notFinite))))
        }
    }

    /// The error of a call with an invalid response.
    private func ended<Value: Sendable>(
        _ serializer: ResponseSerializer<Value>,
        _ data: Data,
        status: Int = 200
    ) async throws -> APIError? {
        let stub = StubTransport { _ in .status(status, body: data) }
        let topics = TopicAPI(client: try NetworkClient.stubbed(stub))
        do throws(APIError) {
            _ = try await topics.response(for: APIConfiguration(path: "x"), with: serializer)
            return nil
        } catch {
            return error
        }
    }

    private func failure<Value>(_ serializer: ResponseSerializer<Value>, _ data: Data, status: Int = 200) -> APIError? {
        do throws(APIError) {
            _ = try serializer.value(of: RawResponse(status: status, data: data))
            return nil
        } catch {
            return error
        }
    }

    // MARK: - Get

    @Test func `responses become values as in the Get library`() async throws {
        struct User: Codable, Equatable { var login: String }

        let keys = """
            * expected_error expected_value expected_url expected_headers expected_body expected_body_json
            expected_retry_consulted expected_sent_authorization
            """
        try await CaseFile("get").run(reading: keys) { (item: CaseFile.Case) async throws -> Verdict in
            guard let answer = item.value.value(at: "request.response") else { return .notApplicable(Self.requests) }
            let body = answer["json"]?.data ?? Data((answer["body"]?.string ?? "").utf8)
            let raw = RawResponse(status: answer["status"]?.int ?? 0, data: body)
            switch item["expected_error"]?.string {
            case let error where error?.hasPrefix("unacceptableStatusCode") == true:
                let status = answer["status"]?.int ?? 0
                return .equal(failure(.data, body, status: status)?.reason, .status(status))
            case "DecodingError":
                guard case .body(.decoding) = failure(.decodable(User.self), body)?.reason else {
                    return .failed("no decoding error")
                }
                let stub = StubTransport { _ in .status(raw.status, body: body) }
                var options = NetworkClient.Options()
                options.retry = RetryPolicy(backoff: .constant(.zero))
                let topics = TopicAPI(client: try NetworkClient.stubbed(stub, options: options))
                _ = try? await topics.response(for: APIConfiguration(path: "user"), with: .decodable(User.self))
                let isConsulted = item["expected_retry_consulted"]?.bool ?? false
                return .equal(stub.requestCount > 1, isConsulted)
            default: break
            }
            switch item.value.value(at: "request.as")?.string {
            case "User", "User?":
                let value = try ResponseSerializer.decodable(User?.self).value(of: raw)
                return .equal(value?.login, item.value.value(at: "expected_value.login")?.string)
            case "String":
                return .equal(try ResponseSerializer.string.value(of: raw), item["expected_value"]?.string ?? "")
            default: return .notApplicable(Self.requests)
            }
        }
    }
}
