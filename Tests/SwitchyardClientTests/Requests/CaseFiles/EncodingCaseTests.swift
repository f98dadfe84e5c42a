import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import Testing

@testable import SwitchyardClient

/// Cases for queries and forms.
@Suite struct EncodingCaseTests {
    @Test func `parameters are encoded as in Alamofire`() throws {
        let keys: CaseKeys = """
            parameters options encoding method url headers expected_encoded expected_query expected_content_type
            expected_body expected_body_json expected_error
            """
        try CaseFile("alamofire_parameters").run(reading: keys) { item in
            if item["encoding"]?.string == "json" { return try Self.json(item) }
            let options = try CaseParameters.alamofireOptions(item["options"])
            guard let given = item["parameters"] else { return .notApplicable("There are no parameters.") }
            if item["expected_error"] != nil {
                let isRefused = (try? CaseParameters.encoded(CaseParameters.parameters(given), options)) == nil
                return isRefused
                    ? .passed : .notApplicable("Parameters always have names, so the root value is not possible.")
            }
            let parameters = try CaseParameters.parameters(given)
            if let expected = item["expected_encoded"] {
                let actual = try CaseParameters.encoded(parameters, options)
                return Self.excusing(.compare(actual, expected.text), actual, expected.text, given)
            }
            return try Self.request(item, parameters, options)
        }
    }

    static func request(
        _ item: CaseValue,
        _ parameters: Parameters,
        _ options: ParameterEncodingOptions
    ) throws -> CaseOutcome {
        let method = item["method"]?.string.flatMap { HTTPMethod($0) } ?? .get
        var configuration = APIConfiguration(path: item["url"]?.string ?? "", method: method)
        configuration.parameters = parameters
        configuration.parameterOptions = options
        // Alamofire allows a body in every request.
        configuration.allowsUnusualBody = item["options"]?["destination"]?.string == "httpBody"
        switch item["options"]?["destination"]?.string {
        case "queryString": configuration.parameterDestination = .query
        case "httpBody": configuration.parameterDestination = .body
        default: break
        }
        for member in item["headers"]?.members ?? [] {
            configuration.headers.add(member.key, member.value.string ?? "")
        }
        var generator = RequestGenerator()
        // Alamofire has no limit.
        generator.maximumURLLength = .max
        let request = try generator.request(for: configuration, on: BaseURL("http://unused.example"))
        var outcome = CaseOutcome.passed
        if let expected = item["expected_query"] {
            let query = request.url.query
            outcome = excusing(.compare(query, expected.text), query, expected.text, item["parameters"])
        }
        if outcome == .passed, let type = item["expected_content_type"] {
            outcome = .compare(request.headers["Content-Type"], type.string)
        }
        if outcome == .passed, let body = item["expected_body"] {
            outcome = .compare(Self.text(request.body), body.text)
        }
        return outcome
    }

    /// How Alamofire changes lists and numbers in its sorted output.
    static func excusing(
        _ outcome: CaseOutcome,
        _ actual: String?,
        _ expected: String?,
        _ given: CaseValue?
    ) -> CaseOutcome {
        let pairs = [actual, expected].map { ($0 ?? "").split(separator: "&").sorted() }
        let whole = pairs.map { $0.map { $0.hasSuffix(".0") ? $0.dropLast(2) : $0 } }
        return outcome.or(
            "The elements of a list keep their order; Alamofire sorts them as text.",
            if: pairs[0] == pairs[1] && (given.map(holdsList) ?? false)
        ).or(
            "A floating-point number keeps its “.0”, as in Alamofire's encoder.",
            if: whole[0] == whole[1]
        )
    }

    static func holdsList(_ value: CaseValue) -> Bool {
        value.array != nil || (value.members ?? []).contains { holdsList($0.value) }
    }

    static func text(_ body: HTTPBody) -> String? {
        if case .data(let data) = body { return String(decoding: data, as: UTF8.self) }
        return nil
    }

    static func json(_ item: CaseValue) throws -> CaseOutcome {
        var configuration = APIConfiguration(method: .post)
        var options = JSONBodyOptions()
        options.isPretty = item["options"]?["outputFormatting"]?.string == "prettyPrinted"
        if let given = item["parameters"], given != .null {
            do {
                configuration.body = .json(try CaseParameters.value(given), options: options)
            } catch is EncodingError {
                configuration.body = .json(CaseParameters.Unserialisable())
            }
        }
        for member in item["headers"]?.members ?? [] {
            configuration.headers.add(member.key, member.value.string ?? "")
        }
        let request = try? RequestGenerator().request(for: configuration, on: BaseURL("http://unused.example"))
        guard item["expected_error"] == nil else { return request == nil ? .passed : .failed("was encoded") }
        guard let request else { return .failed("was not encoded") }
        var outcome = CaseOutcome.passed
        if let type = item["expected_content_type"] { outcome = .compare(request.headers["Content-Type"], type.string) }
        if outcome == .passed, let expected = item["expected_body"] {
            outcome = .compare(text(request.body), expected.text)
        }
        if outcome == .passed, let expected = item["expected_body_json"] {
            let actual = try CaseReader.read(text(request.body) ?? "null")
            outcome = Self.sorted(actual) == Self.sorted(expected) ? .passed : .failed("got \(actual)")
        }
        return outcome
    }

    /// JSON with the members of its objects in a fixed order.
    static func sorted(_ value: CaseValue) -> CaseValue {
        switch value {
        case .array(let values): .array(values.map(sorted))
        case .object(let members):
            .object(members.map { .init(key: $0.key, value: sorted($0.value)) }.sorted { $0.key < $1.key })
        default: value
        }
    }

    @Test func `forms are encoded as in OkHttp`() throws {
        let keys: CaseKeys = "pairs already_encoded expected expected_content_type expected_content_length"
        try CaseFile("okhttp_form_body").run(reading: keys) { item in
            guard let expected = item["expected"]?.string, let pairs = item["pairs"]?.array else {
                return .notApplicable("Forms are not parsed, and there is no access to their parts.")
            }
            guard String(validUTF8: PercentText.bytes(expected)) != nil else {
                return .notApplicable("Forms are written only in UTF-8.")
            }
            var options = ParameterEncodingOptions.form
            options.sortsKeys = false
            let actual = try CaseParameters.encoded(Self.parameters(pairs), options)
            var outcome = CaseOutcome.compare(actual, expected)
                .or("Already encoded text is not detected.", if: item["already_encoded"] != nil)
            if outcome == .passed, let length = item["expected_content_length"]?.int {
                outcome = .compare("\(actual.utf8.count)", "\(length)")
            }
            guard outcome == .passed, let type = item["expected_content_type"]?.string else { return outcome }
            let sent = RequestBody.form(Self.parameters(pairs)).contentType
            return .compare(sent?.split(separator: ";").first.map(String.init), type)
        }
    }

    static func parameters(_ pairs: [CaseValue]) -> Parameters {
        Parameters(
            pairs.map { pair in
                let texts = pair.array ?? []
                return Parameters.Item(
                    key: texts.first?.text ?? "",
                    value: texts.count > 1 ? texts[1].text.map { .string($0) } ?? .null : .null
                )
            }
        )
    }

    @Test func `forms are written and parsed as in the web platform`() throws {
        let keys: CaseKeys = "description style operation input pairs form_encoding expected"
        try CaseFile("wpt_urlencoded").run(reading: keys) { item in
            if item["operation"]?.string == "parse" {
                let expected = Self.parameters(item["expected"]?.array ?? [])
                let actual = Parameters(parsing: item["input"]?.text ?? "")
                return actual == expected ? .passed : .failed("got \(actual)")
            }
            guard item["form_encoding"] == nil else {
                return .notApplicable(
                    "Characters outside the character set are an error and not written as references."
                )
            }
            var options = ParameterEncodingOptions.form
            options.sortsKeys = false
            let pairs = item["pairs"]?.array ?? []
            let text = pairs.flatMap { $0.array ?? [] }.compactMap(\.text).joined()
            let outcome = CaseOutcome.compare(
                try CaseParameters.encoded(Self.parameters(pairs), options),
                item["expected"]?.text
            )
            return outcome.or(
                "Line breaks are kept, whereas a browser's form changes line breaks to CR LF.",
                if: text.unicodeScalars.contains { $0 == "\n" || $0 == "\r" }
            )
        }
    }
}
