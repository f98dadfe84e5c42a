import Foundation
import SwitchyardServices

/// Where the body of a refused answer says what is wrong, in a service that puts no ``Envelope`` around its answers.
///
///     ErrorBody()                                        // {"detail": "Not found."} or {"name": ["Too long."]}
///     ErrorBody(message: "message", fields: "errors")    // {"message": "Invalid.", "errors": {"name": ["Too long."]}}
///     ErrorBody(message: "title", fields: nil)           // {"title": "Out of credit."} (RFC 9457)
///
/// The message becomes ``APIError/serverMessage``, what is said about fields ``APIError/fieldMessages``. Names are those of
/// the body, whatever strategy the module's decoder has for keys.
public struct ErrorBody: Sendable, Hashable {
    /// Where the message for the user stands, a path of keys; `detail` unless set.
    public var message: String
    /// Where the object stands whose members are the fields, a path of keys; empty, the default, when it is the body itself,
    /// `nil` when there is none.
    ///
    /// A body that has the message is taken to have no fields beside it, unless they stand in an object of their own.
    public var fields: String?

    /// Creates a description.
    ///
    /// - Parameters:
    ///   - message: Where the message for the user stands, a path of keys; `detail` unless given.
    ///   - fields: Where the object stands whose members are the fields; the body itself unless given.
    public init(message: String = "detail", fields: String? = "") {
        self.message = message
        self.fields = fields
    }

    /// What a body says.
    struct Content: Equatable {
        /// The message: the service's own, else all that it says about fields, in the order of their names.
        var message: String?
        var fields: [String: [String]] = [:]
    }

    /// Reads a body.
    func content(of body: JSONValue) -> Content {
        var content = Content()
        var own = body.value(at: message)?.sentences ?? []
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

extension JSONValue {
    /// A text, or all texts of a list.
    fileprivate var sentences: [String] {
        switch self {
        case .string(let text): text.isBlank ? [] : [text]
        case .array(let elements): elements.compactMap(\.string).filter { !$0.isBlank }
        default: []
        }
    }

    /// Collects what is said below a path: texts under it, and what stands deeper under paths of its own.
    fileprivate func collect(into fields: inout [String: [String]], at path: String) {
        if !sentences.isEmpty { fields[path, default: []] += sentences }
        switch self {
        case .array(let elements):
            for (index, element) in elements.enumerated() where element.string == nil {
                element.collect(into: &fields, at: path.isEmpty ? "\(index)" : "\(path).\(index)")
            }
        case .object(let members):
            for (name, member) in members { member.collect(into: &fields, at: path.isEmpty ? name : "\(path).\(name)") }
        default: break
        }
    }
}

extension APIError {
    /// The body of the answer as the service's error model; `nil` when it is none.
    ///
    /// The bytes stay in ``Context/body``.
    ///
    /// - Parameters:
    ///   - type: The model.
    ///   - decoding: How JSON becomes values.
    /// - Returns: The model.
    public func decodedBody<Model: Decodable>(
        as type: Model.Type = Model.self,
        using decoding: JSONDecoding = .standard
    ) -> Model? {
        context.body.isEmpty ? nil : try? decoding.decode(type, from: context.body)
    }
}
