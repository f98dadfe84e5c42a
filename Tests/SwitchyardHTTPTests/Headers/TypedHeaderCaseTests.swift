import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import Testing

@testable import SwitchyardClient

/// Cases for single header fields.
@Suite struct TypedHeaderCaseTests {
    @Test func `single header fields are parsed and written as in the headers crate of hyperium`() throws {
        let keys: CaseKeys = "* expected expected_value expected_unix expected_strong expected_weak expected_error"
        try CaseFile("typed_headers").run(reading: keys) { item in
            let value = item["value"]?.text ?? ""
            switch item["operation"]?.string {
            case "write Authorization": return Self.authorization(item)
            case "parse HTTP-date":
                return .compare(
                    HTTPDate.date(from: value).map { "\(Int($0.timeIntervalSince1970))" },
                    item["expected_unix"]?.numberText
                )
            case "write HTTP-date":
                let seconds = item["unix"]?.numberText.flatMap { Double($0) } ?? .nan
                let text = HTTPDate.text(for: Date(timeIntervalSince1970: seconds))
                return .compare(text, item["expected_value"]?.string)
            case "parse Retry-After": return Self.retryAfter(value, item)
            case "split list":
                let separator = item["separator"]?.string?.first ?? ","
                let headers = HTTPHeaders([.init(name: "X", value: value)])
                let actual = headers.elements(of: "x", separatedBy: separator)
                return .compare("\(actual)", "\((item["expected"]?.array ?? []).compactMap(\.string))")
            case "combine field lines":
                let lines = item["lines"]?.array?.compactMap(\.string) ?? []
                let headers = HTTPHeaders(lines.map { HTTPHeaders.Field(name: "x", value: $0) })
                return .compare(headers.combined("X"), item["expected_value"]?.string)
            default: return .notApplicable("The field is read by other layers, or has no type of its own.")
            }
        }
    }

    private static func authorization(_ item: CaseValue) -> CaseOutcome {
        let field: HTTPHeaders.Field
        if let token = item["bearer"]?.text {
            field = .bearer(token)
        } else if let pair = item["basic"]?.array?.compactMap(\.text), pair.count == 2 {
            field = .basic(user: pair[0], password: pair[1])
        } else {
            return .notApplicable("There is neither a token nor a name.")
        }
        if let expected = item["expected_value"]?.string { return .compare(field.value, expected) }
        // An invalid field is rejected when the request is built.
        guard HTTPHeaders([field]).firstInvalidField == nil else { return .passed }
        return .differs("What a field can hold is never refused: what else is wrong with it is the server's to say.")
    }

    private static func retryAfter(_ value: String, _ item: CaseValue) -> CaseOutcome {
        let epoch = Date(timeIntervalSince1970: 0)
        let actual = RetryAfter.duration(in: ["Retry-After": value], now: epoch).map { "\($0.components.seconds)" }
        let expected = item["expected"]?["unix"]?.numberText ?? item["expected"]?["seconds"]?.numberText
        return .compare(actual, expected)
    }
}

extension CaseValue {
    /// The digits of a number, or `nil` for any other value.
    fileprivate var numberText: String? {
        if case .number(let text) = self { return text }
        return nil
    }
}
