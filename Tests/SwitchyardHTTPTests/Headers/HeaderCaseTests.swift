import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import Testing

@testable import SwitchyardClient

/// Cases for header fields and descriptions of requests.
@Suite struct HeaderCaseTests {
    @Test func `header fields behave as in Alamofire`() throws {
        let keys: CaseKeys = """
            operations expected_count expected_values expected_names expected_get expected_description
            """
        try CaseFile("alamofire_headers").run(reading: keys) { item in
            var headers = HTTPHeaders()
            for operation in item["operations"]?.array ?? [] {
                guard Self.apply(operation, to: &headers) else {
                    return .notApplicable("There is no such operation.")
                }
            }
            var outcome = CaseOutcome.passed
            if let expected = item["expected_count"]?.int { outcome = .compare("\(headers.count)", "\(expected)") }
            if outcome == .passed, let expected = item["expected_values"]?.array {
                outcome = .compare(
                    headers.map(\.value).joined(separator: "|"),
                    expected.compactMap(\.string).joined(separator: "|")
                )
            }
            if outcome == .passed, let expected = item["expected_names"]?.array {
                outcome = .compare(
                    headers.map(\.name).joined(separator: "|"),
                    expected.compactMap(\.string).joined(separator: "|")
                )
            }
            for member in item["expected_get"]?.members ?? [] where outcome == .passed {
                outcome = .compare(headers[member.key], member.value.string)
            }
            if outcome == .passed, let expected = item["expected_description"]?.string {
                outcome = .compare(headers.description, expected)
            }
            return outcome
        }
    }

    /// Performs one operation.
    ///
    /// Returns `false` if the operation is unknown.
    static func apply(_ operation: CaseValue, to headers: inout HTTPHeaders) -> Bool {
        if operation["init"] != nil {
            // Alamofire's container keeps one field per name, as `set` does here.
            for pair in operation["pairs"]?.array ?? [] {
                headers.set(pair.array?.first?.string ?? "", pair.array?.last?.string ?? "")
            }
            return true
        }
        guard let member = operation.members?.first else { return false }
        let texts = member.value.array?.compactMap(\.string) ?? member.value.string.map { [$0] } ?? []
        switch (member.key, texts.count) {
        case ("set", 2), ("update", 2), ("add", 2): headers.set(texts[0], texts[1])
        case ("remove", 1): headers.remove(texts[0])
        case ("sort", _): headers = headers.sorted()
        default: return false
        }
        return true
    }

    @Test func `header fields behave as in OkHttp`() throws {
        // The text of a message is another library's own. Only the text that it must not contain is compared.
        let keys: CaseKeys = """
            * expected_get expected_pairs expected_values expected_equal_to expected_not_equal_to expected_error
            expected_message expected_message_does_not_contain expected_http_date expected_ms_since_1970 expected_header
            """
        try CaseFile("okhttp_headers").run(reading: keys) { item in
            guard let operations = item["operations"]?.array else { return Self.date(item) }
            var headers = HTTPHeaders()
            for operation in operations {
                guard let member = operation.members?.first else { continue }
                let texts = member.value.array?.compactMap(\.text) ?? member.value.text.map { [$0] } ?? []
                switch (member.key, texts.count) {
                case ("add", 2), ("addUnsafeNonAscii", 2): headers.add(texts[0], texts[1])
                case ("set", 2): headers.set(texts[0], texts[1])
                case ("removeAll", 1): headers.remove(texts[0])
                default: return .notApplicable("There is no operation \(member.key) in this form.")
                }
            }
            return Self.judge(headers, item)
        }
    }

    static func date(_ item: CaseValue) -> CaseOutcome {
        if let milliseconds = item["ms_since_1970"]?.int {
            let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            return .compare(HTTPDate.text(for: date), item["expected_http_date"]?.string)
        }
        guard let text = item["http_date"]?.string else {
            return .notApplicable("The caller writes Cache-Control itself.")
        }
        let expected = item["expected_ms_since_1970"]?.int.map { "\(Double($0) / 1000)" }
        let actual = HTTPDate.date(from: text).map { "\($0.timeIntervalSince1970)" }
        let isStandard = text.hasSuffix(" GMT") || Int(text.suffix(4)) != nil
        return CaseOutcome.compare(actual, expected)
            .or(
                "A date with another zone than GMT, or with something behind it, is none.",
                if: actual == nil && !isStandard
            )
    }

    private static func judgeRefusal(_ headers: HTTPHeaders, _ item: CaseValue) -> CaseOutcome {
        let isText = headers.allSatisfy { HTTPToken.isValid($0.name) && $0.value.utf8.contains { $0 > 127 } }
        guard let invalid = headers.firstInvalidField else {
            return CaseOutcome.failed("accepted").or("A value outside ASCII is sent as UTF-8.", if: isText)
        }
        let message = RequestGenerator.refusal(of: invalid).description
        let secret = item["expected_message_does_not_contain"]?.text
        return secret.map(message.contains) == true ? .failed("says \(message)") : .passed
    }

    static func judge(_ headers: HTTPHeaders, _ item: CaseValue) -> CaseOutcome {
        if item["expected_error"] != nil { return judgeRefusal(headers, item) }
        var outcome = CaseOutcome.passed
        for member in item["expected_get"]?.members ?? [] where outcome == .passed {
            let expected = member.value.string
            outcome = .compare(headers[member.key], expected)
            if headers.values(of: member.key).count > 1 {
                outcome = outcome.or("Of repeated fields the subscript gives the first, not the last.")
            }
        }
        if outcome == .passed, let expected = item["expected_pairs"]?.array {
            let pairs = expected.map { ($0.array ?? []).compactMap(\.string).joined(separator: ": ") }
            outcome = CaseOutcome.compare(headers.description, pairs.joined(separator: "\n")).or(
                "Space around a name, and line breaks around a value, are errors when the request is built.",
                if: headers.firstInvalidField != nil
            )
        }
        for expected in item["expected_values"]?.members ?? [] where outcome == .passed {
            let values = expected.value.array?.compactMap(\.string) ?? []
            outcome = .compare(headers.values(of: expected.key).joined(separator: "|"), values.joined(separator: "|"))
        }
        for (key, isEqual) in [("expected_not_equal_to", false), ("expected_equal_to", true)] {
            guard outcome == .passed, let other = item[key]?.array else { continue }
            let fields = other.map {
                HTTPHeaders.Field(name: $0.array?.first?.string ?? "", value: $0.array?.last?.string ?? "")
            }
            outcome = (HTTPHeaders(fields) == headers) == isEqual ? .passed : .failed("equal: \(!isEqual)")
        }
        let known: Set = [
            "id", "operations", "note", "expected_error", "expected_message", "expected_message_does_not_contain",
            "expected_get", "expected_pairs", "expected_values", "expected_not_equal_to",
            "expected_equal_to",
        ]
        let unknown = (item.members ?? []).first { !known.contains($0.key) }
        return unknown.map { .notApplicable("There is nothing to compare \($0.key) with.") } ?? outcome
    }

    @Test func `the cURL description matches Alamofire`() throws {
        let keys: CaseKeys = """
            request expected_first_words expected_last_word expected_contains expected_occurrences
            """
        try CaseFile("alamofire_curl").run(reading: keys) { item in
            guard let description = try Self.curl(item["request"] ?? .null) else {
                return .notApplicable("Credentials of a session's challenges are not part of a request.")
            }
            let words = description.split { $0.isWhitespace }.map(String.init).filter { $0 != "\\" }
            let first = item["expected_first_words"]?.array?.compactMap(\.string) ?? []
            guard Array(words.prefix(first.count)) == first else {
                return .failed("starts with \(words.prefix(first.count))")
            }
            if let last = item["expected_last_word"]?.string, words.last != last {
                return .failed("ends with \(words.last ?? "")")
            }
            for text in item["expected_contains"]?.array?.compactMap(\.string) ?? [] where !description.contains(text) {
                return .failed("lacks \(text): \(description)")
            }
            for member in item["expected_occurrences"]?.members ?? [] {
                let count = description.components(separatedBy: member.key).count - 1
                guard count == member.value.int else { return .failed("\(member.key) occurs \(count) times") }
            }
            return .passed
        }
    }

    static func curl(_ request: CaseValue) throws -> String? {
        var generator = RequestGenerator(headers: [])
        var configuration = APIConfiguration(path: request["url"]?.string ?? "")
        for member in request.members ?? [] {
            switch member.key {
            case "method": configuration.method = member.value.string.flatMap { HTTPMethod($0) } ?? .get
            case "url": break
            case "headers", "session_headers":
                for field in member.value.members ?? [] {
                    let text = field.value.string ?? ""
                    if member.key == "headers" {
                        configuration.headers.add(field.key, text)
                    } else {
                        generator.common.headers.add(field.key, text)
                    }
                }
            case "json": configuration.body = .json(try CaseParameters.value(member.value))
            case "cookie":
                let name = member.value["name"]?.string ?? ""
                configuration.headers.add("Cookie", "\(name)=\(member.value["value"]?.string ?? "")")
            case "multipart":
                let parts = member.value.array ?? []
                configuration.body = .multipart(
                    MultipartForm(parts: parts.map { .field($0["name"]?.string ?? "", $0["text"]?.string) })
                )
            default: return nil
            }
        }
        return try generator.request(for: configuration, on: BaseURL("http://unused.example")).curlDescription()
    }
}
