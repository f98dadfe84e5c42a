import Foundation
import SwitchyardFixtures
import Testing

@testable import SwitchyardClient
@testable import SwitchyardHTTP

/// Cases for the styles of nested values.
@Suite struct StyleCaseTests {
    @Test func `nested values are encoded as in qs`() throws {
        try CaseFile("qs_stringify").run(reading: "test parameters options expected") { item in
            guard let given = item["parameters"], given.members != nil else {
                return .notApplicable("Parameters are named; a bare value is none.")
            }
            if Self.names(given).contains("__proto__") {
                return .notApplicable("There are no prototypes whose members could hide.")
            }
            let options = try Self.qsOptions(item["options"])
            let parameters = try CaseParameters.parameters(given)
            if case .commaSeparated = options.arrays, Self.nestsInList(given) {
                return (try? CaseParameters.encoded(parameters, options)) == nil
                    ? .differs(
                        "What is nested inside a list that is joined with commas is an error: it has no form."
                    )
                    : .failed("was encoded")
            }
            var actual = try CaseParameters.encoded(parameters, options)
            if item["options"]?["addQueryPrefix"]?.bool == true, !actual.isEmpty { actual = "?\(actual)" }
            let outcome = Self.judge(actual, item, options)
            return outcome.or(
                "A list has no holes: null in it is a value, as it is elsewhere.",
                if: Self.holdsNullInList(given) && options.nulls != .dropped
            ).or(
                "An empty object is written where an empty list is, and both as the style writes names.",
                if: options.emptyCollections == .bare && Self.holdsEmptyCollection(given)
            )
        }
    }

    private static func judge(_ actual: String, _ item: CaseValue, _ options: ParameterEncodingOptions) -> CaseOutcome {
        let expected = item["expected"]?.text
        if case .commaSeparated = options.arrays {
            return .compare(
                actual,
                expected,
                escaping: "The commas between elements stand as they are, those inside are escaped."
            )
        }
        if options.emptyCollections == .bare {
            return .compare(actual, expected, escaping: "The brackets of an empty list are escaped like all others.")
        }
        if item["options"]?["encode"]?.bool == false || item["options"]?["encodeValuesOnly"]?.bool == true {
            return .compare(actual, expected, escaping: "Characters outside ASCII are always escaped.")
        }
        if item["options"]?["format"] != nil {
            return .compare(
                actual,
                expected,
                escaping: "Spaces and parentheses follow RFC 3986 or the form rule as a whole."
            )
        }
        return .compare(actual, expected)
    }

    /// Whether an element of a list is itself a list or an object.
    static func nestsInList(_ value: CaseValue) -> Bool {
        switch value {
        case .array(let values): values.contains { $0.array != nil || $0.members != nil && $0["$date"] == nil }
        case .object(let members): members.contains { nestsInList($0.value) }
        default: false
        }
    }

    static func holdsNullInList(_ value: CaseValue) -> Bool {
        switch value {
        case .array(let values): values.contains { $0 == .null || holdsNullInList($0) }
        case .object(let members): members.contains { holdsNullInList($0.value) }
        default: false
        }
    }

    static func holdsEmptyCollection(_ value: CaseValue) -> Bool {
        switch value {
        case .array(let values): values.isEmpty || values.contains(where: holdsEmptyCollection)
        case .object(let members): members.isEmpty || members.contains { holdsEmptyCollection($0.value) }
        default: false
        }
    }

    static func names(_ value: CaseValue) -> [String] {
        switch value {
        case .object(let members): members.flatMap { [$0.key] + names($0.value) }
        case .array(let values): values.flatMap(names)
        default: []
        }
    }

    static func qsOptions(_ value: CaseValue?) throws -> ParameterEncodingOptions {
        var options = ParameterEncodingOptions()
        options.sortsKeys = false
        options.arrays = .indexed
        options.nulls = .empty
        options.booleans = .literal
        options.dates = .iso8601WithMilliseconds
        options.allowedCharacters = .unreserved
        for member in value?.members ?? [] {
            // The older option counts only if the newer one is missing.
            if member.key == "indices", value?["arrayFormat"] != nil { continue }
            try apply(member.key, member.value, to: &options)
        }
        return options
    }

    private static func apply(_ name: String, _ value: CaseValue, to options: inout ParameterEncodingOptions) throws {
        switch (name, value.string ?? value.bool.map { "\($0)" } ?? "?") {
        case ("arrayFormat", "indices"): options.arrays = .indexed
        case ("arrayFormat", "brackets"): options.arrays = .brackets
        case ("arrayFormat", "repeat"): options.arrays = .repeated
        case ("arrayFormat", "comma"): options.arrays = .commaSeparated
        case ("indices", "false"): options.arrays = .repeated
        case ("indices", "true"), ("charset", "utf-8"): break
        case ("allowDots", "true"): options.nesting = .dots
        case ("skipNulls", "true"): options.nulls = .dropped
        case ("strictNullHandling", "true"): if options.nulls != .dropped { options.nulls = .bare }
        case ("allowEmptyArrays", "true"): options.emptyCollections = .bare
        case ("encodeValuesOnly", "true"): options.allowedKeyCharacters = .printable
        case ("encode", "false"):
            options.allowedCharacters = .printable
            options.allowedKeyCharacters = .printable
        case ("delimiter", let text): options.separator = text
        case ("format", "RFC1738"): options.spaces = .plus
        case ("format", "RFC3986"), ("addQueryPrefix", _): break
        case ("sort", _) where value == .null: break
        case (_, "false"): break
        case ("encode", "true"): break
        default: throw CaseParameters.Unknown(what: "There is no option \(name).")
        }
    }

    @Test func `nested values are encoded as in Rack and OpenAPI`() throws {
        let keys: CaseKeys = "style parameters key value expected expected_error"
        try CaseFile("query_styles").run(reading: keys, Self.styled)
    }

    @Test func `a date in a case for parameter styles is not treated as a nested value`() throws {
        let text = #"{"style": "deepObjectExplode", "key": "a", "value": {"$date": 0}, "expected_error": "primitive"}"#

        let outcome = try Self.styled(CaseReader.read(text))

        #expect(outcome == .differs("A value that is not nested is written plainly in every style."))
    }

    private static func styled(_ item: CaseValue) throws -> CaseOutcome {
        let style = item["style"]?.string ?? ""
        if style.hasPrefix("rack") { return try rack(item) }
        guard let key = item["key"]?.string, let given = item["value"] else {
            return .notApplicable("There is no value.")
        }
        let value = try sorted(CaseParameters.value(given))
        let parameters = Parameters([.init(key: key, value: value)])
        let actual = try? openAPI(style, key, value, parameters)
        if item["expected_error"] != nil {
            return CaseOutcome.compare(actual, nil).or(
                "A value that is not nested is written plainly in every style.",
                if: style == "deepObjectExplode" && !hasMembers(value)
            )
        }
        return .compare(actual, item["expected"]?.text)
    }

    /// Whether a value has members.
    ///
    /// A date in the notation of the case files has none.
    private static func hasMembers(_ value: ParameterValue) -> Bool {
        if case .dictionary = value { true } else { false }
    }

    static func rack(_ item: CaseValue) throws -> CaseOutcome {
        guard let given = item["parameters"] else { return .notApplicable("There are no parameters.") }
        var options = ParameterEncodingOptions.form
        options.sortsKeys = false
        options.nulls = .bare
        options.booleans = .literal
        let parameters = try CaseParameters.parameters(given)
        guard item["expected_error"] == nil else { return .notApplicable("Parameters always have names.") }
        return .compare(try CaseParameters.encoded(parameters, options), item["expected"]?.text)
    }

    /// OpenAPI's encoder writes the members of a value in ascending order.
    static func sorted(_ value: ParameterValue) -> ParameterValue {
        guard case .dictionary(let parameters) = value else { return value }
        return .dictionary(Parameters(parameters.items.stablySortedByKey))
    }

    static func openAPI(
        _ style: String,
        _ key: String,
        _ value: ParameterValue,
        _ parameters: Parameters
    ) throws -> String {
        var options = ParameterEncodingOptions()
        options.booleans = .literal
        options.allowedCharacters = .unreserved
        switch style {
        case "simpleExplode": return try URLTemplate("{\(key)*}").expanded(with: parameters, missing: .leftOut)
        case "simpleUnexplode": return try URLTemplate("{\(key)}").expanded(with: parameters, missing: .leftOut)
        case "formExplode": return String(try form("{?\(key)*}", parameters))
        case "formUnexplode": return String(try form("{?\(key)}", parameters))
        case "formDataExplode": return try form("{?\(key)*}", parameters).replacing("%20", with: "+")
        case "formDataUnexplode": return try form("{?\(key)}", parameters).replacing("%20", with: "+")
        case "deepObjectExplode":
            options.arrays = .repeated
            return try CaseParameters.encoded(parameters, options)
        default: throw CaseParameters.Unknown(what: "There is no style \(style).")
        }
    }

    private static func form(_ template: String, _ parameters: Parameters) throws -> String {
        String(try URLTemplate(template).expanded(with: parameters, missing: .leftOut).dropFirst())
    }
}
