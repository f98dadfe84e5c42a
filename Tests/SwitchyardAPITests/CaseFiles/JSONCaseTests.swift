import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardServices
import Testing

@testable import SwitchyardAPI

@Suite(.timeLimit(.minutes(5)), .prompt) struct JSONCaseTests {
    @Test func `the JSON tree and the decoder accept and reject texts as RFC 8259 requires`() throws {
        try CaseFile("json_test_suite").run(reading: "body body_base64 expected expected_value must_not") { item in
            let data = try #require(
                item["body"]?.caseText.map { Data($0.utf8) }
                    ?? item["body_base64"]?.string.flatMap { Data(base64Encoded: $0) }
            )
            let response = RawResponse(headers: ["Content-Type": "application/json"], data: data)
            let tree = Result { try ResponseSerializer.json.value(of: response) }
            let decoded = Result { try ResponseSerializer.decodable(JSONValue.self).value(of: response) }
            switch item["expected"]?.string {
            case "accept": return Self.accepted(tree, decoded, item.value.object?["expected_value"])
            case "reject": return Self.refused(tree, decoded)
            default: return .passed
            }
        }
    }

    private static func accepted(
        _ tree: Result<JSONValue, any Error>,
        _ decoded: Result<JSONValue, any Error>,
        _ expected: JSONValue?
    ) -> Verdict {
        guard case .success(let value) = tree else { return .failed("the tree rejects the text: \(tree)") }
        if let expected, value != expected { return .failed("\(value) instead of \(expected)") }
        if case .failure(let error) = decoded {
            return .difference("Foundation's decoder rejects the text, but the tree accepts it: \(type(of: error))")
        }
        return .passed
    }

    private static func refused(
        _ tree: Result<JSONValue, any Error>,
        _ decoded: Result<JSONValue, any Error>
    ) -> Verdict {
        guard case .failure(let error as APIError) = tree, case .body = error.reason else {
            return .failed("the tree accepts the text: \(tree)")
        }
        if case .success = decoded {
            return .difference("Foundation's decoder is lenient here, but the tree rejects the text")
        }
        return .passed
    }

    @Test(arguments: ["ytk_json_validator", "json_template_matrix"])
    func `JSON validators of YTKNetwork are converted to JSON shapes that accept the same JSON`(file: String) throws {
        try CaseFile(file).run(reading: "validator json expected_valid lenient") { item in
            guard let template = item["validator"], let json = item.value.object?["json"],
                let expected = item["expected_valid"]?.bool
            else { return .failed("incomplete") }
            guard let shape = Self.shape(template) else { return .notApplicable("templates do not support the class") }
            let isValid = shape.accepts(json)
            if isValid != expected, item["lenient"]?.bool == true {
                return .difference("null requires a nullable shape, and a Boolean is not a number")
            }
            return .equal(isValid, expected)
        }
    }

    private static func shape(_ template: JSONValue) -> JSONShape? {
        switch template {
        case .string("string"): return .string
        case .string("number"): return .number
        case .string("object"): return .object()
        case .string("array"), .array([]): return .array()
        case .array(let elements): return shape(elements[0]).map { .array(of: $0) }
        case .object(let members):
            let shapes = members.compactMapValues(shape)
            return shapes.count == members.count ? .object(shapes) : nil
        default: return nil
        }
    }

    @Test func `the supported keywords of JSON Schema are converted to JSON shapes`() throws {
        try CaseFile("json_schema_subset").run(reading: "schema data expected_valid keywords tier") { item in
            guard let schema = item["schema"], let data = item.value.object?["data"],
                let expected = item["expected_valid"]?.bool
            else { return .failed("incomplete") }
            guard let shape = SchemaTranslator.shape(schema) else {
                return .notApplicable("shapes do not support the keyword")
            }
            return .equal(shape.accepts(data), expected)
        }
    }
}

/// Converts the supported subset of JSON Schema to shapes.
private enum SchemaTranslator {
    private static let known: Set<String> = [
        "type", "properties", "required", "additionalProperties", "items", "enum", "const", "minimum", "maximum",
        "minLength", "maxLength", "minItems", "maxItems", "pattern", "anyOf", "allOf", "not", "exclusiveMinimum",
        "exclusiveMaximum", "$comment", "minProperties", "maxProperties",
    ]

    static func shape(_ schema: JSONValue) -> JSONShape? {
        if let bool = schema.bool { return bool ? .any : .anyOf([]) }
        guard let words = schema.object, Set(words.keys).isSubset(of: known) else { return nil }
        var shape = JSONShape.any
        for (word, value) in words {
            guard let next = adding(word, value, words, to: shape) else { return nil }
            shape = next
        }
        return shape
    }

    private static func adding(
        _ word: String,
        _ value: JSONValue,
        _ words: [String: JSONValue],
        to shape: JSONShape
    ) -> JSONShape? {
        switch word {
        case "type": adding(types(value), "type", to: shape)
        case "enum": value.array.map { shape.oneOf($0) }
        case "const": shape.oneOf([value])
        case "minimum": value.double.map { shape.minimum($0) }
        case "maximum": value.double.map { shape.maximum($0) }
        case "exclusiveMinimum": value.double.map { limit in shape.rule(word) { $0.double.map { $0 > limit } ?? true } }
        case "exclusiveMaximum": value.double.map { limit in shape.rule(word) { $0.double.map { $0 < limit } ?? true } }
        case "minLength": value.int.map { shape.length($0...Int.max) }
        case "maxLength": value.int.map { shape.length(0...$0) }
        case "minItems": value.int.map { shape.count($0...Int.max) }
        case "maxItems": value.int.map { shape.count(0...$0) }
        case "minProperties":
            value.int.map { limit in shape.rule(word) { $0.object.map { $0.count >= limit } ?? true } }
        case "maxProperties":
            value.int.map { limit in shape.rule(word) { $0.object.map { $0.count <= limit } ?? true } }
        case "pattern": value.string.map { shape.pattern($0) }
        case "items": adding(self.shape(value).map { orOther(.array(of: $0)) { $0.array == nil } }, word, to: shape)
        case "properties", "additionalProperties": adding(object(words), word, to: shape)
        case "required": adding(required(value), word, to: shape)
        case "anyOf": adding(shapes(value).map { .anyOf($0) }, word, to: shape)
        case "allOf": shapes(value).map { all in shape.rule(word) { item in all.allSatisfy { $0.accepts(item) } } }
        case "not": self.shape(value).map { other in shape.rule(word) { !other.accepts($0) } }
        default: shape
        }
    }

    private static func adding(_ other: JSONShape?, _ name: String, to shape: JSONShape) -> JSONShape? {
        other.map { other in shape.rule(name) { other.accepts($0) } }
    }

    /// A keyword for one JSON type applies only to values of that type.
    private static func orOther(_ shape: JSONShape, _ isOther: @escaping @Sendable (JSONValue) -> Bool) -> JSONShape {
        .anyOf([shape, JSONShape.any.rule("other kind", isOther)])
    }

    private static func shapes(_ value: JSONValue) -> [JSONShape]? {
        guard let all = value.array?.map(shape), !all.contains(where: { $0 == nil }) else { return nil }
        return all.compactMap(\.self)
    }

    private static func object(_ words: [String: JSONValue]) -> JSONShape? {
        var members: [String: JSONShape] = [:]
        for (name, schema) in words["properties"]?.object ?? [:] {
            guard let shape = shape(schema) else { return nil }
            members[name] = .optional(shape)
        }
        var others = JSONShape.Others.allowed
        if let rest = words["additionalProperties"] {
            guard let shape = shape(rest) else { return nil }
            others = rest == false ? .forbidden : .shaped(shape)
        }
        return orOther(.object(members, others: others)) { $0.object == nil }
    }

    /// The required member names; other keywords restrict further members.
    private static func required(_ names: JSONValue) -> JSONShape? {
        let members = (names.array ?? []).compactMap(\.string).map { ($0, JSONShape.any) }
        return orOther(.object(Dictionary(members) { first, _ in first })) { $0.object == nil }
    }

    private static func types(_ value: JSONValue) -> JSONShape? {
        let names = value.array?.compactMap(\.string) ?? [value.string].compactMap(\.self)
        let kinds: [String: JSONShape] = [
            "string": .string, "number": .number, "integer": .integer, "boolean": .bool, "null": .null,
            "object": .object(), "array": .array(),
        ]
        let shapes = names.compactMap { kinds[$0] }
        return shapes.count == names.count ? .anyOf(shapes) : nil
    }
}
