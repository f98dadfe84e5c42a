import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import Testing

@testable import SwitchyardAPI

@Suite(.timeLimit(.minutes(5)), .prompt) struct ValidationCaseTests {
    @Test func `responses are accepted and rejected as in Alamofire`() throws {
        let keys = "response validators expected request_accept mime acceptable"
        try CaseFile("alamofire_validation").run(reading: keys) { item in
            if let key = Self.unread(item) { return .notApplicable("the test does not read the key \(key)") }
            if item["validators"] != nil { return Self.validated(item) }
            if item["mime"] != nil { return Self.parsed(item) }
            if item["acceptable"] != nil { return Self.matched(item) }
            if item.value.value(at: "response.preprocessor") != nil { return try Self.preprocessed(item) }
            return Self.serialized(item)
        }
    }

    /// A key of the response or of an expectation that is not read.
    private static func unread(_ item: CaseFile.Case) -> String? {
        let known: [String: Set<String>] = [
            "response": ["status", "contentType", "body", "method", "preprocessor"],
            "expected": [
                "valid", "reason", "code", "responseContentType", "acceptable", "type", "subtype", "isWildcard",
                "value",
                "error", "data",
            ],
        ]
        return known.compactMap { name, read in
            Set(item[name]?.object.map { Array($0.keys) } ?? []).subtracting(read).min().map { "\(name).\($0)" }
        }.min()
    }

    private static func response(_ item: CaseFile.Case) -> RawResponse {
        let value = item["response"] ?? [:]
        var headers = HTTPHeaders()
        headers["Content-Type"] = value["contentType"]?.string
        return RawResponse(
            status: value["status"]?.int ?? 200,
            headers: headers,
            data: Data((value["body"]?.string ?? "").utf8),
            method: value["method"]?.string.flatMap { HTTPMethod($0) } ?? .get,
            accept: item["request_accept"]?.string
        )
    }

    /// Applies the validators in order, each as separate rules.
    private static func validated(_ item: CaseFile.Case) -> Verdict {
        var refusal: APIError?
        for validator in item["validators"]?.array ?? [] where refusal == nil {
            guard let rules = rules(validator) else {
                return .notApplicable("a custom validator is an interceptor of the app")
            }
            refusal = outcome(rules, response(item))
        }
        let isValid = Verdict.equal(refusal == nil, item.value.value(at: "expected.valid")?.bool ?? false)
        switch item.value.value(at: "expected.reason")?.string {
        case "unacceptableStatusCode":
            let code = item.value.value(at: "expected.code")?.int
            return .all([isValid, .equal(refusal?.reason, code.map { .status($0) })])
        case "unacceptableContentType":
            let types = item.value.value(at: "expected.acceptable")?.array?.compactMap(\.string) ?? []
            let received = item.value.value(at: "expected.responseContentType")?.string
            return .all([isValid, .equal(refusal?.reason, .body(.contentType(received: received, acceptable: types)))])
        case nil: return isValid
        default: return .notApplicable("the reason has no equivalent")
        }
    }

    private static func outcome(_ rules: ResponseRules, _ response: RawResponse) -> APIError? {
        do throws(APIError) {
            try rules.checkStatus(response)
            try rules.checkContentType(response, acceptable: nil)
            return nil
        } catch {
            return error
        }
    }

    private static func rules(_ validator: JSONValue) -> ResponseRules? {
        if validator == "automatic" { return ResponseRules(contentType: .requested) }
        guard let members = validator.object, Set(members.keys).isSubset(of: ["contentType", "status"]),
            !members.isEmpty
        else { return nil }
        var rules = ResponseRules(status: .any, contentType: .any)
        if let types = members["contentType"] {
            guard let list = types.array else { return nil }
            rules.contentType = .only(list.compactMap { $0.string.flatMap { MediaType($0) } })
        }
        guard let status = members["status"] else { return rules }
        guard let policy = policy(status) else { return nil }
        rules.status = policy
        return rules
    }

    /// A list of statuses, or a range of statuses with or without an upper bound.
    private static func policy(_ status: JSONValue) -> StatusPolicy? {
        if let list = status.array { return .only(Set(list.compactMap(\.int))) }
        let text = status.string ?? ""
        let bounds = text.split { $0 == "." || $0 == "<" }.compactMap { Int($0) }
        guard bounds.count == 2 else { return nil }
        let last = text.contains("<") ? bounds[1] - 1 : bounds[1]
        return bounds[0] <= last ? .range(bounds[0]...last) : nil
    }

    private static func parsed(_ item: CaseFile.Case) -> Verdict {
        let type = item["mime"]?.string.flatMap { MediaType($0) }
        if let isWildcard = item.value.value(at: "expected.isWildcard")?.bool {
            return .equal(type?.type == "*" && type?.subtype == "*", isWildcard)
        }
        return .all([
            .equal(type?.type, item.value.value(at: "expected.type")?.string),
            .equal(type?.subtype, item.value.value(at: "expected.subtype")?.string),
        ])
    }

    private static func matched(_ item: CaseFile.Case) -> Verdict {
        let pattern = item["acceptable"]?.string.flatMap { MediaType($0) }
        let type = item["response"]?.string.flatMap { MediaType($0) }
        guard let pattern, let type else { return .failed("unreadable") }
        return .equal(pattern.includes(type), item["expected"]?.bool)
    }

    private static func preprocessed(_ item: CaseFile.Case) throws -> Verdict {
        var rules = ResponseRules.strict
        switch item.value.value(at: "response.preprocessor") {
        case "googleXSSI": rules.removePrefix(")]}',\n")
        case "passthrough": break
        default: return .notApplicable("the name of the preprocessor is unknown")
        }
        let data = try ResponseSerializer.data.value(of: response(item), rules: rules)
        return .equal(String(decoding: data, as: UTF8.self), item.value.value(at: "expected.data")?.string)
    }

    private static func serialized(_ item: CaseFile.Case) -> Verdict {
        let result = Result { try ResponseSerializer.decodable(JSONValue?.self).value(of: response(item)) }
        let rules = ResponseRules(emptyBody: .onlyWith(statuses: [204, 205]))
        let strict = Result {
            try ResponseSerializer.decodable(JSONValue?.self).value(of: response(item), rules: rules)
        }
        if let expected = item.value.value(at: "expected.error") {
            guard case .failure(let error as APIError) = strict else { return .failed("\(strict)") }
            if expected == "inputDataNilOrZeroLength" { return .equal(error.reason, .body(.empty)) }
            guard case .body = error.reason else { return .failed("\(error)") }
            return .passed
        }
        if item.value.value(at: "expected.value") == "empty" {
            if case .success(nil) = strict { return .passed }
            return .failed("\(strict)")
        }
        guard case .success(let value) = result else { return .failed("\(result)") }
        return .equal(value ?? .null, item.value.value(at: "expected.value"))
    }

    @Test func `responses become values and errors as in Siesta`() async throws {
        let keys = """
            response steps configuration first_load first_load_at load_if_needed_at expected expected_kind expected_value
            expected_error expected_error_json expected_user_message expected_status expected_content_type
            expected_charset expected_get expected_etag expected_next_request_headers expected_loads
            """
        try await CaseFile("siesta_responses").run(reading: keys) { (item: CaseFile.Case) async throws -> Verdict in
            if item["steps"] != nil { return try await SiestaFlow(item).states() }
            if item["first_load"] != nil { return try await SiestaFlow(item).freshness() }
            if item["expected_error_json"] != nil { return try await SiestaFlow(item).errorBody() }
            if item["expected_next_request_headers"] != nil { return try await SiestaFlow(item).revalidation() }
            return try SiestaCase(item).verdict()
        }
    }
}

/// A response of Siesta's suite.
private struct SiestaCase {
    let item: CaseFile.Case
    let response: RawResponse

    init(_ item: CaseFile.Case) {
        self.item = item
        var headers = HTTPHeaders()
        for (name, value) in item.value.value(at: "response.headers")?.object ?? [:] {
            headers.add(name, value.string ?? "")
        }
        let hex = item.value.value(at: "response.body_hex")?.string.map(Self.bytes)
        let data = hex ?? Data((item.value.value(at: "response.body_utf8")?.string ?? "").utf8)
        response = RawResponse(
            status: item.value.value(at: "response.status")?.int ?? 200,
            headers: headers,
            data: data
        )
    }

    private static func bytes(_ hex: String) -> Data {
        let digits = hex.compactMap(\.hexDigitValue)
        return Data(stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }

    func verdict() throws -> Verdict {
        if item.keys.contains("expected_etag") {
            return .equal(response.headers["ETag"], item["expected_etag"]?.string)
        }
        if let type = item["expected_content_type"] { return contentType(type) }
        if let fields = item["expected_get"]?.object {
            return .all(fields.map { .equal(response.headers[$0.key], $0.value.string) })
        }
        if let error = item["expected_error"]?.string { return refused(error) }
        return try accepted()
    }

    private func contentType(_ expected: JSONValue) -> Verdict {
        guard response.headers["Content-Type"] != nil || expected == .null else {
            return .difference("a response without Content-Type has no media type (RFC 9110 section 8.3)")
        }
        return .all([
            .equal(response.headers["Content-Type"], expected.string),
            .equal(response.mediaType?.charset, item["expected_charset"]?.string),
        ])
    }

    private func refused(_ expected: String) -> Verdict {
        if expected.hasPrefix("JSON root") {
            return .difference(
                "a JSON text can be a single value (RFC 8259), and a type or a shape defines the expected value"
            )
        }
        if response.mediaType?.type == "image" {
            return .notApplicable("images require a serializer of the app")
        }
        let isText = response.mediaType?.type == "text"
        let error = isText ? failure(ResponseSerializer.string) : failure(ResponseSerializer.json)
        guard let error else { return .failed("accepted") }
        if let status = item["expected_status"]?.int, error.reason != .status(status) {
            return .equal(error.reason, .status(status))
        }
        if let words = item["expected_user_message"]?.string, words != error.message {
            return .difference("the library has its own messages for users, which apps can replace")
        }
        if item["expected_status"] != nil { return .passed }
        if expected.hasPrefix("http") { return .equal("http \(response.status)", expected) }
        guard case .body = error.reason, !error.message.isEmpty else { return .failed("\(error)") }
        return .passed
    }

    private func failure<Value>(_ serializer: ResponseSerializer<Value>) -> APIError? {
        do throws(APIError) {
            _ = try serializer.value(of: response)
            return nil
        } catch {
            return error
        }
    }

    private func accepted() throws -> Verdict {
        switch item["expected_kind"]?.string {
        case "json":
            if let type = response.mediaType, type.subtype == "json", !["application", "text"].contains(type.type) {
                return .difference("JSON media types follow the MIME Sniffing standard of the WHATWG")
            }
            return .equal(try ResponseSerializer.json.value(of: response), item.value.object?["expected_value"])
        case "text":
            if let name = response.mediaType?.charset, let encoding = TextEncoding.encoding(named: name),
                String(data: Data("a".utf8), encoding: encoding) == nil
            {
                return .notApplicable("Foundation does not support the character set on this system")
            }
            let text = try ResponseSerializer.string(.isoLatin1).value(of: response)
            return item["expected_value"].map { .equal(text, $0.string ?? "") } ?? .passed
        case "data", nil:
            return .equal(try ResponseSerializer.data.value(of: response), response.data)
        default: return .notApplicable("the kind of content has no equivalent")
        }
    }
}
