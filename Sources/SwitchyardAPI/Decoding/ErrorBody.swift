import Foundation
import SwitchyardServices

/// The location of the error in the body of a refusal, for a service that puts no ``Envelope`` around its responses.
///
///     ErrorBody()                                                         // {"detail": "Not found."}
///     ErrorBody(message: "message", fields: "errors")                     // {"message": "Invalid.", "errors": {...}}
///     ErrorBody(message: "message", fields: "details", code: "errno")     // {"errno": 110, "message": "...", ...}
///     ErrorBody(message: "error.message", fields: nil, code: "error.code")
///
/// The message becomes ``APIError/serverMessage``, the messages of fields become ``APIError/fieldMessages``, and the
/// code becomes ``APIError/serverCode``. A code in the module's table (``ModuleErrors``) makes the error one of the
/// module. Names are those of the body, whatever key strategy the module's decoder has.
///
/// Fields may be an object with the fields as its members, `{"name": ["Too long."]}`, or a list of objects with a field
/// and a message each, `[{"field": "name", "message": "Too long."}]`. The field is found under `field`, `name`, `path`,
/// `loc`, `param`, `property`, `key`, `pointer` or `source.pointer`, the message under `message`, `msg`, `detail`,
/// `description`, `reason`, `error` or `title`.
public struct ErrorBody: Sendable, Hashable {
    /// The path of keys to the message for the user; `detail` by default.
    package var message: String
    /// The path of keys to the fields; empty, the default, if the fields are the body itself, `nil` if there are none.
    ///
    /// A body that contains the message has no fields beside it, unless the fields have a path of their own.
    package var fields: String?
    /// The path of keys to the error code, a number or a string; `nil`, the default, if there is none.
    package var code: String?
    /// Whether the module's own text for its code comes before the server's message; `false` by default.
    ///
    /// The server's message stays in ``APIError/serverMessage``.
    public var prefersModuleTexts = false
    /// Further paths to the message, for bodies of an unknown form.
    private var otherMessages: [String] = []

    /// Creates a description.
    ///
    /// - Parameters:
    ///   - message: The path of keys to the message for the user; `detail` by default.
    ///   - fields: The path of keys to the fields; the body itself by default.
    ///   - code: The path of keys to the error code; none by default.
    public init(message: String = "detail", fields: String? = "", code: String? = nil) {
        self.message = message
        self.fields = fields
        self.code = code
    }

    /// The usual places of a message: `message`, `error_description`, `detail`, `error.message`, `title` and `error`.
    ///
    /// A module without an envelope and without a description of its own reads refusals (400 to 499) with it.
    public static let common: ErrorBody = {
        var body = ErrorBody(message: "message", fields: nil)
        body.otherMessages = ["error_description", "detail", "error.message", "title", "error"]
        return body
    }()

    /// The content of an error body.
    struct Content: Equatable {
        /// The message: the service's own, or the messages of all fields in the order of their names.
        var message: String?
        var fields: [String: [String]] = [:]
        var code: BusinessCode?
    }

    /// Reads a body.
    func content(of body: JSONValue) -> Content {
        var content = Content(code: code.flatMap { body.value(at: $0) }.flatMap(BusinessCode.init))
        let places = [message] + otherMessages
        var own = places.lazy.map { body.value(at: $0)?.sentences ?? [] }.first { !$0.isEmpty } ?? []
        if let fields, own.isEmpty || !fields.isEmpty, let object = body.value(at: fields) {
            object.collect(into: &content.fields, at: "")
            // A bare list of texts, which are about no field.
            own += content.fields.removeValue(forKey: "") ?? []
        }
        let said = own.isEmpty ? content.fields.sorted { $0.key < $1.key }.flatMap(\.value) : own
        content.message = said.isEmpty ? nil : said.joined(separator: " ")
        return content
    }
}

extension BusinessCode {
    /// Creates the text of a code; `nil` for a value that is neither a whole number nor a string.
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
    /// A text, or all texts of a list.
    fileprivate var sentences: [String] {
        switch self {
        case .string(let text): text.isBlank ? [] : [text]
        case .array(let elements): elements.compactMap(\.string).filter { !$0.isBlank }
        default: []
        }
    }

    /// Collects the messages below a path: texts under the path itself, nested values under paths of their own.
    fileprivate func collect(into fields: inout [String: [String]], at path: String) {
        if !sentences.isEmpty { fields[path, default: []] += sentences }
        switch self {
        case .array(let elements):
            for (index, element) in elements.enumerated() where element.string == nil {
                if let report = element.fieldReport {
                    fields[path.isEmpty ? report.field : "\(path).\(report.field)", default: []] += report.messages
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
    ]
    private static let messagePlaces = ["message", "msg", "detail", "description", "reason", "error", "title"]

    /// The field and its messages, for an object that names one field; `nil` for every other value.
    private var fieldReport: (field: String, messages: [String])? {
        let field = Self.fieldPlaces.lazy.compactMap { value(at: $0)?.fieldName }.first
        let messages = Self.messagePlaces.lazy.map { value(at: $0)?.sentences ?? [] }.first { !$0.isEmpty }
        guard let field, let messages else { return nil }
        return (field, messages)
    }

    /// The name of a field as a path with dots: a text, a JSON pointer (RFC 6901), or a list of names and indexes.
    private var fieldName: String? {
        switch self {
        case .string(let text) where !text.isBlank:
            text.hasPrefix("/") ? text.split(separator: "/").joined(separator: ".") : text
        case .array(let parts):
            parts.isEmpty ? nil : parts.map { $0.string ?? $0.text }.joined(separator: ".")
        default: nil
        }
    }
}

extension APIError {
    /// Returns the body of the response as the service's error model; `nil` if it cannot be decoded.
    ///
    /// The bytes stay in ``Context/body``.
    ///
    /// - Parameters:
    ///   - type: The model.
    ///   - decoding: The JSON decoding.
    /// - Returns: The model.
    public func decodedBody<Model: Decodable>(
        as type: Model.Type = Model.self,
        using decoding: JSONDecoding = .standard
    ) -> Model? {
        context.body.isEmpty ? nil : try? decoding.decode(type, from: context.body)
    }
}
