import SwitchyardFixtures
import SwitchyardHTTP
import Testing

@testable import SwitchyardClient

/// Cases for joining paths and parameters to base URLs.
@Suite struct JoinCaseTests {
    static func join(_ base: String, _ configuration: APIConfiguration) -> String? {
        try? RequestGenerator().request(for: configuration, on: BaseURL(base)).url.text
    }

    static func normalized(_ url: String) -> String {
        let head = url.prefix { $0 != "?" && $0 != "#" }
        let isBare = head.split(separator: "/", omittingEmptySubsequences: false).count == 3
        return isBare ? "\(head)/\(url.dropFirst(head.count))" : url
    }

    @Test func `paths and parameters join as in OkHttp`() throws {
        let keys: CaseKeys = "base reference operations components expected_url expected_path expected_error"
        try CaseFile("okhttp_url").run(reading: keys) { item in
            guard let base = item["base"]?.string else {
                return .notApplicable("URLs are not created from components.")
            }
            if let reference = item["reference"]?.string { return Self.resolve(base, reference, item) }
            if let outcome = Self.editQuery(base, item) { return outcome }
            guard let operations = item["operations"]?.array, operations.count <= 1 else {
                return .notApplicable("A URL cannot be edited in steps.")
            }
            guard let members = operations.first?.members, let operation = members.first else {
                let expected = item["expected_url"]?.string
                return .compare(
                    try? RequestURL(validating: base).text,
                    expected.map(URLCaseTests.withoutFragment),
                    escaping: "Characters that RFC 3986 does not allow in a query are escaped."
                )
            }
            return try Self.edit(base, operation, item)
        }
    }

    static func resolve(_ base: String, _ reference: String, _ item: CaseValue) -> CaseOutcome {
        let actual = URLCaseTests.resolve(base, reference)
        let expected = item["expected_url"]?.string.map { normalized(URLCaseTests.withoutFragment($0)) }
        let outcome = CaseOutcome.compare(actual.map(normalized), expected)
        let noAuthority = ["http:", "https:"].contains { reference.hasPrefix($0) && !reference.hasPrefix("\($0)//") }
        if noAuthority { return outcome.or("A scheme without two slashes is not completed to a host.") }
        if reference.contains("\\") { return outcome.or("A backslash is not a slash.") }
        return outcome.or("More than two slashes in front of a host are an error.", if: reference.contains(":///"))
    }

    /// Edits the parameters of a URL in sequence.
    ///
    /// Returns `nil` if the case asks for other edits.
    static func editQuery(_ base: String, _ item: CaseValue) -> CaseOutcome? {
        let steps = (item["operations"]?.array ?? []).compactMap { $0.members?.first }
        guard var url = RequestURL(base), !steps.isEmpty, item["expected_url"] != nil else { return nil }
        var options = ParameterEncodingOptions()
        options.sortsKeys = false
        for step in steps {
            guard let name = step.value.string ?? step.value.array?.first?.string else { return nil }
            let arguments = step.value.array ?? []
            let value = arguments.count > 1 ? URLCaseTests.parameter(arguments[1]) : .null
            switch step.key {
            case "removeAllQueryParameters": break
            case "setQueryParameter" where value != .null: break
            case "addQueryParameter" where value != .null && url.query == nil: break
            default: return nil
            }
            let edits = Parameters([.init(key: name, value: value)])
            guard let next = try? url.setting(edits, options: options) else { return nil }
            url = next
        }
        return compare(url.text, item).or("A URL without any parameter has no question mark.", if: url.query == nil)
    }

    static func edit(_ base: String, _ operation: CaseValue.Member, _ item: CaseValue) throws -> CaseOutcome {
        let arguments = operation.value.array ?? []
        let text = arguments.first?.string ?? ""
        switch operation.key {
        case "addPathSegment" where !text.isEmpty:
            var configuration = APIConfiguration(path: "{segment}")
            configuration.pathValues = ["segment": text]
            return compare(join(base, configuration), item).or(
                "A value that is a dot segment is rejected.",
                if: text == "." || text == ".."
            )
        case "addPathSegments":
            return compare(join(base, APIConfiguration(path: text)), item).or(
                "Base and path are joined with exactly one slash, and an empty path adds no slash.",
                if: text.isEmpty || text.hasPrefix("/")
            ).or(
                "A path that leaves the base URL is an error.",
                if: text.contains("..") || text.lowercased().contains("%2e")
            )
            .or("A backslash is not a slash.", if: text.contains("\\"))
        case "addQueryParameter":
            let value = arguments.count > 1 ? arguments[1] : .null
            var options = ParameterEncodingOptions()
            options.nulls = .bare
            var configuration = APIConfiguration(
                query: Parameters([.init(key: text, value: URLCaseTests.parameter(value))])
            )
            configuration.parameterOptions = options
            return compare(join(base, configuration), item)
        default: return .notApplicable("Single segments or parameters of a URL cannot be edited.")
        }
    }

    /// Compares the expected URL, path or error of a case with an edited URL.
    private static func compare(_ url: String?, _ item: CaseValue) -> CaseOutcome {
        if item["expected_error"] != nil { return .compare(url, nil) }
        let isPath = item["expected_path"] != nil
        return .compare(
            isPath ? url.flatMap { RequestURL($0)?.path } : url,
            item[isPath ? "expected_path" : "expected_url"]?.string,
            escaping: "Every reserved character except ? and / is escaped in a parameter."
        )
    }

    @Test func `URLs of resources are joined as in Siesta`() throws {
        try CaseFile("siesta_url").run(reading: "operation base argument expected_url expected_error") { item in
            let argument = item["argument"]?.string ?? ""
            guard let base = item["base"]?.string else {
                return (try? BaseURL("")) == nil ? .passed : .failed("a base URL without text was accepted")
            }
            switch item["operation"]?.string {
            case "resource", "child": return Self.child(base, argument, item)
            case "relative":
                guard let expected = item["expected_url"]?.string else {
                    return .notApplicable("There is no expected URL.")
                }
                return CaseOutcome.compare(URLCaseTests.resolve(base, argument), URLCaseTests.withoutFragment(expected))
                    .or(Self.unrequestable, if: !URLCaseTests.isRequestable(expected))
            case "withParams": return Self.withParameters(base, item)
            case "absolute":
                let actual = try? RequestURL(validating: base).text
                if let expected = item["expected_url"]?.string {
                    return CaseOutcome.compare(actual, expected)
                        .or(Self.unrequestable, if: !URLCaseTests.isRequestable(expected))
                }
                // The invalid URL of the original test is not in the case. The base URL alone is valid.
                return .notApplicable("The invalid URL itself is not part of the case.")
            default:
                return .notApplicable("A base URL is kept unchanged, and joins do not depend on its trailing slash.")
            }
        }
    }

    private static let unrequestable =
        "A URL that is not http or https or has no host is an error because it cannot be requested."

    static func child(_ base: String, _ argument: String, _ item: CaseValue) -> CaseOutcome {
        let expected = item["expected_url"]?.string
        let outcome = CaseOutcome.compare(join(base, APIConfiguration(path: argument)), expected)
        if argument.split(separator: "/").contains(where: { $0 == "." || $0 == ".." }) {
            return outcome.or("Dot segments are removed, or are an error if they leave the base URL.")
        }
        if argument.contains("?") || argument.contains("#") {
            return outcome.or(
                "A question mark in a path starts the query, and a template can insert it into a name."
            )
        }
        if argument.contains("{") {
            return outcome.or("A name in braces is a placeholder for a value, as in a template.")
        }
        if argument.contains("%") { return outcome.or("A valid escape in a path is kept.") }
        if argument.contains("//") { return outcome.or("An absolute URL replaces the base URL.") }
        if argument.isEmpty { return outcome.or("An empty path is the base URL itself, without a slash.") }
        return outcome
    }

    static func withParameters(_ base: String, _ item: CaseValue) -> CaseOutcome {
        let items = item["argument"]?.members ?? []
        let query = Parameters(items.map { .init(key: $0.key, value: URLCaseTests.parameter($0.value)) })
        let actual = try? RequestURL(validating: base).setting(query).text
        return CaseOutcome.compare(actual, item["expected_url"]?.string).or(
            "An empty value is written with an equals sign.",
            if: query.items.contains { $0.value == .string("") }
        )
    }

    @Test func `paths join as in YTKNetwork`() throws {
        try CaseFile("ytk_url").run(reading: "baseURL path urlFilterArguments expected_url") { item in
            guard let given = item["baseURL"]?.string, let path = item["path"]?.string else {
                return .notApplicable("There is no path.")
            }
            var generator = RequestGenerator()
            var parameters = Parameters()
            for member in item["urlFilterArguments"]?.members ?? [] {
                parameters.append(member.key, URLCaseTests.parameter(member.value))
            }
            if !parameters.isEmpty { generator.pathFilters = [.appending(parameters)] }
            // An absolute path needs no base URL, but the API requires one.
            let base = try BaseURL(given.isEmpty ? "http://unused.example" : given)
            let actual = try? generator.request(for: APIConfiguration(path: path), on: base).url.text
            let isReset = path.hasPrefix("/") && base.url.path.count > 1
            return CaseOutcome.compare(actual, item["expected_url"]?.string)
                .or(
                    "A path with a leading slash is appended by default, and relative resolution is an option.",
                    if: isReset
                )
        }
    }
}
