import Foundation
import SwitchyardServices

/// The location of the error in the body of a rejected call (such as a 4xx response), for a service without an
/// ``Envelope``.
///
///     ErrorBody()                                                         // {"detail": "Not found."}
///     ErrorBody(message: "message", fields: "errors")                     // {"message": "Invalid.", "errors": {...}}
///     ErrorBody(message: "message", fields: "details", code: "errno")     // {"errno": 110, "message": "...", ...}
///     ErrorBody(message: "error.message", fields: nil, code: "error.code")
///
/// The message becomes ``APIError/serverMessage``, the messages of fields become ``APIError/fieldMessages``, and the
/// code becomes ``APIError/serverCode``. If the code is in the module's table (``ModuleErrors``), the error becomes one
/// of the module's errors. Names are compared with the names in the body, regardless of the key strategy of the
/// module's decoder.
///
/// Fields may be an object with the fields as its members, `{"name": ["Too long."]}`, or a list of objects with a field
/// and a message each, `[{"field": "name", "message": "Too long."}]`. The field is found under `field`, `name`, `path`,
/// `loc`, `param`, `property`, `key`, `pointer`, `source.pointer`, `source.parameter` or `source.header`. The message
/// is found under `message`, `msg`, `detail`, `description`, `reason`, `error` or `title`.
public struct ErrorBody: Sendable, Hashable {
    /// The key path of the message for the user, `detail` by default.
    package var message: String
    /// The key path of the messages about single fields.
    ///
    /// The key path is empty (the default) if the body itself has the fields as members, and `nil` if there are no such
    /// messages. If the key path is empty and the body contains the message for the user, no fields are read.
    package var fields: String?
    /// The key path of the error code, which is a number or a string, or `nil` (the default) if there is no code.
    package var code: String?
    /// Whether the module's own text for the error code is shown instead of the server's message, `false` by default.
    ///
    /// The server's message stays in ``APIError/serverMessage``.
    public var prefersModuleTexts = false
    /// Further key paths of the message, for bodies of an unknown form.
    private var otherMessages: [String] = []

    /// Creates a description.
    ///
    /// - Parameters:
    ///   - message: The key path of the message for the user, `detail` by default.
    ///   - fields: The key path of the fields. By default, the fields are the members of the body itself.
    ///   - code: The key path of the error code, none by default.
    public init(message: String = "detail", fields: String? = "", code: String? = nil) {
        self.message = message
        self.fields = fields
        self.code = code
    }

    /// A description that finds the message at the usual key paths: `message`, `error_description`, `detail`,
    /// `error.message`, `title` and `error`.
    ///
    /// This description is used for responses with a status from 400 to 499 if the module has neither an envelope nor a
    /// description of its own.
    public static let common: ErrorBody = {
        var body = ErrorBody(message: "message", fields: nil)
        body.otherMessages = ["error_description", "detail", "error.message", "title", "error"]
        return body
    }()

    /// The message, field messages and code that were found in a body.
    struct Content: Equatable {
        /// The message of the service.
        ///
        /// If there is no such message, the value contains the messages of all fields in the order of their names.
        var message: String?
        var fields: [String: [String]] = [:]
        var code: BusinessCode?
    }

    /// Returns the message, field messages and code in a body.
    func content(of body: JSONValue) -> Content {
        var content = Content(code: code.flatMap { body.value(at: $0) }.flatMap(BusinessCode.init))
        let places = [message] + otherMessages
        var own = places.lazy.map { body.value(at: $0)?.sentences ?? [] }.first { !$0.isEmpty } ?? []
        if let fields, own.isEmpty || !fields.isEmpty, let object = body.value(at: fields) {
            object.collect(into: &content.fields, at: "")
            // The messages under the empty name come from a list of strings without field names, and belong to no
            // field.
            own += content.fields.removeValue(forKey: "") ?? []
        }
        let said = own.isEmpty ? content.fields.sorted { $0.key < $1.key }.flatMap(\.value) : own
        content.message = said.isEmpty ? nil : said.joined(separator: " ")
        return content
    }
}

extension BusinessCode {
    /// Creates the code from a whole number or a string.
    ///
    /// For any other value, the result is `nil`.
    fileprivate init?(_ value: JSONValue) {
        if let number = value.int {
            self = .number(number)
        } else if let word = value.string, !word.isBlank {
            self = .word(word)
        } else {
            return nil
        }
    }
}

extension JSONValue {
    /// The string itself, or all strings of a list.
    fileprivate var sentences: [String] {
        switch self {
        case .string(let text): text.isBlank ? [] : [text]
        case .array(let elements): elements.compactMap(\.string).filter { !$0.isBlank }
        default: []
        }
    }

    /// Collects the messages below a key path.
    ///
    /// Texts are collected under the path itself, and nested values under their own paths.
    fileprivate func collect(into fields: inout [String: [String]], at path: String) {
        if !sentences.isEmpty { fields[path, default: []] += sentences }
        switch self {
        case .array(let elements):
            for (index, element) in elements.enumerated() where element.string == nil {
                if let report = element.fieldReport {
                    let name = [path, report.field].filter { !$0.isEmpty }.joined(separator: ".")
                    fields[name, default: []] += report.messages
                } else {
                    element.collect(into: &fields, at: path.isEmpty ? "\(index)" : "\(path).\(index)")
                }
            }
        case .object(let members):
            for (name, member) in members { member.collect(into: &fields, at: path.isEmpty ? name : "\(path).\(name)") }
        default: break
        }
    }

    private static let fieldPlaces = [
        "field", "name", "path", "loc", "param", "property", "key", "pointer", "source.pointer", "source.parameter",
        "source.header",
    ]
    private static let messagePlaces = ["message", "msg", "detail", "description", "reason", "error", "title"]

    /// The field and its messages in an object that names one field, or `nil` for any other value.
    ///
    /// The name is empty if a JSON Pointer names the whole body, and no other member names a field.
    private var fieldReport: (field: String, messages: [String])? {
        let whole = ["pointer", "source.pointer"].filter { ["", "#"].contains(value(at: $0)?.string) }
        let places = Self.fieldPlaces.lazy.filter { !whole.contains($0) }
        let field = places.compactMap { value(at: $0)?.fieldName }.first ?? (whole.isEmpty ? nil : "")
        let messages = Self.messagePlaces.lazy.map { value(at: $0)?.sentences ?? [] }.first { !$0.isEmpty }
        guard let field, let messages else { return nil }
        return (field, messages)
    }

    /// The name of a field as a key path with dots, from a text, a JSON pointer (RFC 6901), or a list of names and
    /// indexes.
    private var fieldName: String? {
        switch self {
        case .string(let text) where !text.isBlank: Self.path(ofPointer: text) ?? text
        case .array(let parts):
            parts.isEmpty ? nil : parts.map { $0.string ?? $0.text }.joined(separator: ".")
        default: nil
        }
    }

    /// Returns the key path for a JSON Pointer, or `nil` if the text is not a pointer.
    ///
    /// The pointer may be a URI fragment: `#/name` (RFC 6901 section 6, RFC 9457 section 3).
    private static func path(ofPointer text: String) -> String? {
        let pointer = text.hasPrefix("#/") ? text.dropFirst().removingPercentEncoding ?? text : text
        guard pointer.hasPrefix("/") else { return nil }
        return pointer.split(separator: "/")
            .map { $0.replacing("~1", with: "/").replacing("~0", with: "~") }
            .joined(separator: ".")
    }
}

extension APIError {
    /// Returns the body of the response decoded as the service's error model, or `nil` if it cannot be decoded.
    ///
    /// The bytes remain available in ``Context/body``.
    ///
    /// - Parameters:
    ///   - type: The type of the error model.
    ///   - decoding: The JSON decoding.
    /// - Returns: The error model.
    public func decodedBody<Model: Decodable>(
        as type: Model.Type = Model.self,
        using decoding: JSONDecoding = .standard
    ) -> Model? {
        context.body.isEmpty ? nil : try? decoding.decode(type, from: context.body)
    }
}
