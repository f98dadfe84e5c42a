import Foundation
package import SwitchyardHTTP

/// Parameters and options in the notation of the case files.
package enum CaseParameters {
    /// A value that no encoder accepts.
    package struct Unserialisable: Encodable, Sendable {
        package init() {}

        package func encode(to encoder: any Encoder) throws {
            let context = EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "cannot be encoded")
            throw EncodingError.invalidValue(self, context)
        }
    }

    /// A notation that the library or this reader does not support.
    package struct Unknown: Error {
        package var what: String

        package init(what: String) {
            self.what = what
        }
    }

    package static func parameters(_ value: CaseValue) throws -> Parameters {
        guard let members = value.members else { throw Unknown(what: "Parameters are named; a bare value is none.") }
        return Parameters(try members.map { Parameters.Item(key: $0.key, value: try self.value($0.value)) })
    }

    package static func value(_ value: CaseValue) throws -> ParameterValue {
        switch value {
        case .null: return .null
        case .bool(let flag): return .bool(flag)
        case .number(let text): return Int64(text).map { .integer($0) } ?? .double(Double(text) ?? 0)
        case .string(let text): return .string(text)
        case .array(let values): return .array(try values.map(self.value))
        case .object(let members):
            if let text = value.text { return .string(text) }
            if value["$unserialisable"] != nil {
                throw EncodingError.invalidValue(0, .init(codingPath: [], debugDescription: ""))
            }
            if let type = value["$type"]?.string { return try typed(type, value) }
            if let seconds = value["$date"].flatMap(number) { return .date(Date(timeIntervalSince1970: seconds)) }
            if let float = value["$float"]?.string {
                return .double(float == "nan" ? .nan : float == "infinity" ? .infinity : -.infinity)
            }
            if members.first?.key.hasPrefix("$") ?? false { throw Unknown(what: "The notation is not known.") }
            return .dictionary(try parameters(value))
        }
    }

    private static func typed(_ type: String, _ value: CaseValue) throws -> ParameterValue {
        if let seconds = value["secondsSinceReferenceDate"].flatMap(number) {
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        }
        if let base64 = value["base64"]?.string, let data = Data(base64Encoded: base64) { return .data(data) }
        guard let content = value["value"] else { throw Unknown(what: "The notation is not known.") }
        switch type {
        case "Double": return .double(number(content) ?? .nan)
        case "Float": return Float(number(content) ?? .nan).parameterValue
        case "Decimal": return .decimal(Decimal(string: content.string ?? digits(content)) ?? .nan)
        case "String", "URL", "UUID": return .string(content.text ?? "")
        case "Bool": return .bool(content.bool ?? false)
        case "Data": return .data(Data((content.text ?? "").utf8))
        case "Date": return .date(Date(timeIntervalSinceReferenceDate: number(content) ?? 0))
        default:
            if type.hasPrefix("UInt") { return .unsigned(UInt64(digits(content)) ?? 0) }
            if type.hasPrefix("Int") { return .integer(Int64(digits(content)) ?? 0) }
            throw Unknown(what: "The type \(type) is not known.")
        }
    }

    private static func digits(_ value: CaseValue) -> String {
        if case .number(let text) = value { return text }
        return value.string ?? ""
    }

    private static func number(_ value: CaseValue) -> Double? {
        Double(digits(value))
    }

    /// The serialized text.
    package static func encoded(_ parameters: Parameters, _ options: ParameterEncodingOptions) throws -> String {
        var output = ByteBuffer(capacity: 64)
        var serializer = ParameterSerializer(ParameterSerializerPlan(options))
        try serializer.write(parameters, to: &output)
        return output.text()
    }

    // MARK: - Alamofire's options

    package static func alamofireOptions(_ value: CaseValue?) throws -> ParameterEncodingOptions {
        var options = ParameterEncodingOptions()
        options.dates = .deferred
        for member in value?.members ?? [] where member.key != "destination" {
            try apply(member.key, member.value, to: &options)
        }
        return options
    }

    private static func apply(_ name: String, _ value: CaseValue, to options: inout ParameterEncodingOptions) throws {
        switch (name, value.string ?? "") {
        case ("arrayEncoding", "brackets"): options.arrays = .brackets
        case ("arrayEncoding", "noBrackets"): options.arrays = .repeated
        case ("arrayEncoding", "indexInBrackets"): options.arrays = .indexed
        case ("arrayEncoding", _) where value["custom"]?.string == "{key}.{index+1}":
            options.arrays = .custom { "\($0).\($1 + 1)" }
        case ("boolEncoding", "numeric"): options.booleans = .numeric
        case ("boolEncoding", "literal"): options.booleans = .literal
        case ("dateEncoding", "deferredToDate"): options.dates = .deferred
        case ("dateEncoding", "secondsSince1970"): options.dates = .secondsSince1970
        case ("dateEncoding", "millisecondsSince1970"): options.dates = .millisecondsSince1970
        case ("dateEncoding", "iso8601"): options.dates = .iso8601
        case ("dateEncoding", _) where value["formatted"]?.string != nil:
            options.dates = .pattern(value["formatted"]?.string ?? "")
        case ("dateEncoding", _) where value["format"]?.string != nil:
            options.dates = .pattern(value["format"]?.string ?? "")
        case ("dataEncoding", "base64"): options.data = .base64
        case ("dataEncoding", "deferredToData"): options.data = .deferred
        case ("keyEncoding", let text): options.keyCase = try keyCase(text)
        case ("keyPathEncoding", "brackets"): options.nesting = .brackets
        case ("keyPathEncoding", "dots"): options.nesting = .dots
        case ("nilEncoding", "dropKey"): options.nulls = .dropped
        case ("nilEncoding", "dropValue"): options.nulls = .empty
        case ("nilEncoding", "null"): options.nulls = .literal("null")
        case ("nilEncoding", _) where value["custom"]?.string != nil:
            options.nulls = .literal(value["custom"]?.string ?? "")
        case ("spaceEncoding", "percentEscaped"): options.spaces = .percentEncoded
        case ("spaceEncoding", "plusReplaced"): options.spaces = .plus
        case ("alphabetizeKeyValuePairs", _): options.sortsKeys = value.bool ?? true
        case ("allowedCharacters", let text) where !text.isEmpty && !text.contains(" "):
            options.allowedCharacters = URLCharacters(text)
        default: throw Unknown(what: "The option \(name) in this form is not known.")
        }
    }

    private static func keyCase(_ name: String) throws -> ParameterEncodingOptions.KeyCase {
        switch name {
        case "useDefaultKeys": .unchanged
        case "convertToSnakeCase": .snakeCase
        case "convertToKebabCase": .kebabCase
        case "capitalized": .capitalized
        case "uppercased": .uppercased
        case "lowercased": .lowercased
        default: throw Unknown(what: "The key encoding \(name) is not known.")
        }
    }
}
