import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import Testing

@testable import SwitchyardAPI

/// Header fields of responses in the suites of other projects.
@Suite(.timeLimit(.minutes(5)), .prompt) struct HeaderCaseTests {
    @Test func `media types and charsets are parsed as in the web platform tests`() throws {
        // Only the charset parameter of a media type is kept, so a media type cannot be serialized.
        let keys = "* expected_parse expected_essence expected_encoding expected_serialisation"
        try CaseFile("wpt_mime_types").run(reading: keys) { item in
            let type = MediaType(item["input"]?.string ?? "")
            guard item["expected_parse"] == "ok" else { return .equal(type, nil) }
            guard let type else { return .failed("refused") }
            return .all([essence(type, item), charset(type, item)])
        }
    }

    private func essence(_ type: MediaType, _ item: CaseFile.Case) -> Verdict {
        let serialized = item["expected_serialisation"]?.string?.prefix { $0 != ";" }
        return .equal(type.description, item["expected_essence"]?.string ?? serialized.map(String.init) ?? "")
    }

    private func charset(_ type: MediaType, _ item: CaseFile.Case) -> Verdict {
        guard item.keys.contains("expected_encoding") else { return .passed }
        let encoding = type.charset.flatMap { TextEncoding.encoding(named: $0) }
        guard let expected = item["expected_encoding"]?.string else { return .equal(encoding, nil) }
        return .equal(encoding, TextEncoding.encoding(named: expected))
    }

    @Test func `single header fields are parsed as in the headers crate of hyperium`() throws {
        let keys = "* expected expected_value expected_unix expected_strong expected_weak expected_error"
        try CaseFile("typed_headers").run(reading: keys) { item in
            switch item["operation"]?.string {
            case "parse Cache-Control": return cacheControl(item)
            case "parse HTTP-date": return date(item["value"], item["expected_unix"])
            case "parse Retry-After" where item.value.value(at: "expected.unix") != nil:
                return date(item["value"], item.value.value(at: "expected.unix"))
            case "write HTTP-date":
                let date = Date(timeIntervalSince1970: item["unix"]?.double ?? .nan)
                return .equal(HTTPDate.text(for: date), item["expected_value"]?.string)
            case "write Authorization": return authorization(item)
            case "combine field lines":
                let lines = item["lines"]?.array?.compactMap(\.string) ?? []
                let headers = HTTPHeaders(lines.map { HTTPHeaders.Field(name: "Example-Field", value: $0) })
                let combined = headers.values(of: "example-field").joined(separator: ", ")
                return .equal(combined, item["expected_value"]?.string ?? "")
            case "If-None-Match passes?", "If-Match passes?", "compare entity tags", "parse entity tag":
                return .notApplicable("The server compares entity tags, and the client sends entity tags unchanged.")
            case "parse Authorization", "parse Cookie", "parse Expect", "parse Accept-Ranges":
                return .notApplicable("This layer does not read fields of requests or downloads.")
            case "write Cache-Control":
                return .notApplicable("The caller writes the field itself.")
            default:
                return .notApplicable("This layer does not read the field.")
            }
        }
    }

    private func cacheControl(_ item: CaseFile.Case) -> Verdict {
        let lines = item["lines"]?.array?.compactMap(\.string) ?? []
        let control = CacheControl(HTTPHeaders(lines.map { HTTPHeaders.Field(name: "Cache-Control", value: $0) }))
        guard let expected = item["expected"]?.object else {
            // A value that is not a number makes the response stale, which amounts to a rejection.
            return .equal(control.seconds("max-age"), 0)
        }
        return .all(
            expected.map { name, value in
                if let number = value.double { return .equal(control.seconds(name), number) }
                if value.string != nil { return .equal((control.seconds(name) ?? 0) >= 2_147_483_648, true) }
                return .equal(control.has(name), value.bool ?? true)
            }
        )
    }

    private func date(_ text: JSONValue?, _ expected: JSONValue?) -> Verdict {
        .equal(HTTPDate.date(exactly: text?.string ?? "")?.timeIntervalSince1970, expected?.double)
    }

    private func authorization(_ item: CaseFile.Case) -> Verdict {
        guard let expected = item["expected_value"]?.string else {
            return .difference("Any valid field value is accepted because the server decides whether it is correct.")
        }
        let field: HTTPHeaders.Field
        if let basic = item["basic"]?.array?.compactMap(\.string), basic.count == 2 {
            field = .basic(user: basic[0], password: basic[1])
        } else {
            field = .bearer(item["bearer"]?.string ?? "")
        }
        return .equal(field.value, expected)
    }
}
