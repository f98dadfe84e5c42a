import SwitchyardFixtures
import Testing

@testable import SwitchyardClient
@testable import SwitchyardHTTP

/// Cases for resolving and validating URLs.
@Suite struct URLCaseTests {
    /// A URL without its fragment, which is not sent.
    static func withoutFragment(_ text: String) -> String {
        String(text.prefix { $0 != "#" })
    }

    static func resolve(_ base: String, _ reference: String) -> String? {
        try? RequestURL(validating: base).resolving(reference).text
    }

    static func isRequestable(_ url: String) -> Bool {
        let lower = url.lowercased()
        return lower.hasPrefix("http://") || lower.hasPrefix("https://")
    }

    @Test func `references resolve as RFC 3986 specifies`() throws {
        let keys: CaseKeys = "base reference expected_url expected_url_alternative"
        try CaseFile("rfc3986_reference_resolution").run(reading: keys) { item in
            let base = item["base"]?.string ?? ""
            let expected = Self.withoutFragment(item["expected_url"]?.string ?? "")
            let actual = Self.resolve(base, item["reference"]?.string ?? "")
            if let alternative = item["expected_url_alternative"]?.string, actual == alternative { return .passed }
            if !Self.isRequestable(expected) {
                return actual == nil
                    ? .differs("A URL that is not http or https is an error because it cannot be requested.")
                    : .failed("got \(actual ?? "")")
            }
            return .compare(actual, expected)
        }
    }

    @Test func `URLs parse as in the web platform where it agrees with RFC 3986`() throws {
        let keys: CaseKeys = "input base rfc3986_agrees expected expected_href expected_failure"
        try CaseFile("wpt_urltestdata").run(reading: keys) { item in
            let input = item["input"]?.text ?? ""
            let base = item["base"]?.string
            let actual = base.map { Self.resolve($0, input) } ?? (try? RequestURL(validating: input).text)
            if item["expected_failure"]?.bool == true {
                guard let actual else { return .passed }
                let isPath = base != nil && !input.contains("//")
                return .failed("accepted as \(actual)").or(
                    "A reference without an authority is a path and not an invalid URL.",
                    if: isPath
                )
            }
            let expected = Self.withoutFragment(item["expected_href"]?.text ?? "")
            if !Self.isRequestable(expected) {
                return actual == nil
                    ? .differs("A URL that is not http or https is an error because it cannot be requested.")
                    : .failed("got \(actual ?? "")")
            }
            let outcome = CaseOutcome.compare(actual, expected)
            return outcome.or(
                "WHATWG repairs (backslashes, tabs, default ports, numbers as hosts, an empty path) are not applied.",
                if: item["rfc3986_agrees"]?.bool != true
            )
        }
    }

    private static func escaping(_ part: String) -> String {
        "Characters that RFC 3986 does not allow in \(part) are escaped, even if browsers keep them."
    }

    @Test func `the parts of a URL are escaped as in the web platform`() throws {
        try CaseFile("wpt_url_setters").run(reading: "href set value comment expected") { item in
            let value = item["value"]?.string ?? ""
            guard let href = item["href"]?.string, let expected = item["expected"]?["href"]?.string else {
                return .notApplicable("There is no expected URL.")
            }
            let base = try RequestURL(validating: href)
            switch item["set"]?.string {
            case "pathname": return Self.judgePath(value, on: base, expected: expected)
            case "search": return Self.judgeQuery(value, on: base, expected: expected)
            default: return .notApplicable("Only paths and queries are set because a fragment is never sent.")
            }
        }
    }

    private static func judgePath(_ value: String, on base: RequestURL, expected: String) -> CaseOutcome {
        let path = value.replacing("?", with: "%3F").replacing("#", with: "%23")
        let query = base.query.map { "?\($0)" } ?? ""
        let actual = built(path.hasPrefix("/") ? path : "/\(path)", on: base)
        let outcome = CaseOutcome.compare(
            actual.map { $0 + query },
            withoutFragment(expected),
            escaping: escaping("a path")
        )
        if isRefused(value) { return outcome.or("CR, LF and NUL in a path are an error, not repaired.") }
        return outcome.or(
            "A path that leaves the base URL is an error.",
            if: actual == nil && (value.contains("..") || value.lowercased().contains("%2e"))
        ).or("A backslash is not a slash.", if: value.contains("\\"))
    }

    private static func judgeQuery(_ value: String, on base: RequestURL, expected: String) -> CaseOutcome {
        let search = value.hasPrefix("?") ? value : "?\(value)"
        let outcome = CaseOutcome.compare(
            built("/\(search)".replacing("#", with: "%23"), on: base),
            withoutFragment(expected),
            escaping: escaping("a query")
        )
        if value.isEmpty { return outcome.or("An empty query is written, not removed.") }
        return isRefused(value) ? outcome.or("CR, LF and NUL in a query are an error, not repaired.") : outcome
    }

    /// The URL of a path at a base URL's origin, or `nil` if it is rejected.
    private static func built(_ path: String, on base: RequestURL) -> String? {
        // Braces would make the path a template.
        let call = APIConfiguration(path: path.replacing("{", with: "%7B").replacing("}", with: "%7D"))
        return try? RequestGenerator().request(for: call, on: BaseURL(base.origin.description)).url.text
    }

    private static func isRefused(_ value: String) -> Bool {
        value.unicodeScalars.contains { [0, 10, 13].contains($0.value) }
    }

    @Test func `URL patterns match as in Siesta`() throws {
        let keys: CaseKeys = "baseURL pattern path absoluteURL params expected_match"
        try CaseFile("siesta_config_patterns").run(reading: keys) { item in
            guard let pattern = item["pattern"]?.string, let expected = item["expected_match"]?.bool else {
                return .notApplicable("There is no pattern.")
            }
            let base = item["baseURL"]?.string
            let url: String
            if let absolute = item["absoluteURL"]?.string {
                url = absolute
            } else {
                var query = Parameters()
                for member in item["params"]?.members ?? [] { query.append(member.key, member.value.string) }
                let path = item["path"]?.string ?? ""
                url = try RequestGenerator().request(
                    for: APIConfiguration(path: path, query: query),
                    on: BaseURL(base ?? "")
                ).url.text
            }
            let actual = URLPattern(pattern).matches(text: url, base: base)
            return actual == expected ? .passed : .failed("\(pattern) on \(url) gave \(actual)")
        }
    }

    @Test func `templates expand as RFC 6570 specifies`() throws {
        let keys: CaseKeys = "level template variables expected_any_of expected_failure"
        try CaseFile("rfc6570_uri_templates").run(reading: keys) { item in
            let text = item["template"]?.string ?? ""
            var values = Parameters()
            for member in item["variables"]?.members ?? [] { values.append(member.key, Self.parameter(member.value)) }
            let actual = try? URLTemplate(text).expanded(with: values, missing: .leftOut)
            if item["expected_failure"]?.bool == true { return .compare(actual, nil) }
            let expected = item["expected_any_of"]?.array?.compactMap(\.string) ?? []
            guard let actual, expected.contains(actual) else {
                return .failed("got \(actual ?? "an error"), expected \(expected.first ?? "")")
            }
            return .passed
        }
    }

    static func parameter(_ value: CaseValue) -> ParameterValue {
        switch value {
        case .null: .null
        case .bool(let flag): .bool(flag)
        case .number(let text): Int64(text).map { .integer($0) } ?? .double(Double(text) ?? 0)
        case .string(let text): .string(text)
        case .array(let values): .array(values.map(parameter))
        case .object(let members):
            .dictionary(Parameters(members.map { Parameters.Item(key: $0.key, value: parameter($0.value)) }))
        }
    }
}
