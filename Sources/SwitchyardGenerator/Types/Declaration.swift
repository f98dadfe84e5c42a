/// The declaration of a generated type.
final class Declaration {
    /// A property of a structure.
    struct Property {
        /// The name of the property in JSON.
        let name: String
        var type: SwiftType
        var isRequired: Bool
        var isNullable: Bool
        var isReadOnly: Bool
        var isDeprecated: Bool
        /// The only allowed value, or `nil` if several values are allowed.
        var constant: String?
        var description: String?
        /// Whether the value is stored behind a reference because the type would otherwise contain itself.
        var isBoxed = false
        /// Whether the property is the discriminator of a union that contains the structure.
        var isDiscriminator = false
        /// The content type of this part of a multipart form, or `nil` to derive it from the Swift type.
        var partType: String?

        var isOptional: Bool { !isRequired || isNullable }
        /// The value that is sent unless the caller sets another value, or `nil` if the caller must set it.
        ///
        /// An optional discriminator has a value too, because a service cannot read a union without it.
        var defaultValue: String? { isOptional && !isDiscriminator ? nil : constant }
    }

    /// A case of a union.
    struct Variant {
        var type: SwiftType
        /// The discriminator values that select this case.
        var tags: [String]
        /// The names of the properties that the case's type requires.
        var required: Set<String>
        /// The name of the case's schema in the document's components, or `nil` if it is not a component.
        var component: String?
    }

    /// The kind of the generated type.
    enum Kind {
        /// The schema has not been read yet, or another type has replaced this one.
        case pending
        case structure([Property], additional: SwiftType?)
        case openEnum([String])
        case union([Variant], discriminator: String?)
    }

    let id: Int
    let place: Place
    var kind = Kind.pending
    /// The name of the schema in the document's components, or `nil` for an inline schema.
    let component: String?
    /// A suggested name, derived from the place of the schema in the document.
    let hint: String
    var description: String?
    /// Whether generated code decodes values of this type.
    ///
    /// `isEncoded` states whether generated code encodes them.
    var isDecoded = false
    var isEncoded = false
    /// Whether the structure is sent as a multipart form and not as JSON.
    var isMultipart = false
    /// Whether the enum is `indirect`, because the type would otherwise contain itself.
    var isIndirect = false
    /// The name of the type in the generated code.
    var name = ""
    /// The names of the managers that use the type.
    var users: Set<String> = []

    init(id: Int, place: Place, component: String?, hint: String) {
        self.id = id
        self.place = place
        self.component = component
        self.hint = hint
    }

    /// The types of the properties, cases or other values that this type contains.
    var parts: [SwiftType] {
        switch kind {
        case .pending, .openEnum: []
        case .structure(let properties, let additional): properties.map(\.type) + (additional.map { [$0] } ?? [])
        case .union(let variants, _): variants.map(\.type)
        }
    }

    /// Replaces the indexes of the generated types that this type contains.
    func renumber(_ number: (Int) -> Int) {
        switch kind {
        case .pending, .openEnum: break
        case .structure(var properties, let additional):
            for index in properties.indices { properties[index].type = properties[index].type.renumbered(number) }
            kind = .structure(properties, additional: additional?.renumbered(number))
        case .union(var variants, let discriminator):
            for index in variants.indices { variants[index].type = variants[index].type.renumbered(number) }
            kind = .union(variants, discriminator: discriminator)
        }
    }

    /// A text that is equal for declarations with the same properties, cases and types.
    var signature: String {
        switch kind {
        case .pending: "pending \(id)"
        case .openEnum(let values): "enum \(values)"
        case .structure(let properties, let additional):
            "struct \(isMultipart) \(String(describing: additional)) "
                + properties.map {
                    "\($0.name) \($0.type) \($0.isRequired) \($0.isNullable) \($0.isReadOnly) \($0.constant ?? "")"
                }
                .sorted().joined(separator: "\n")
        case .union(let variants, let discriminator):
            "union \(discriminator ?? "") " + variants.map { "\($0.type) \($0.tags)" }.joined(separator: "\n")
        }
    }
}

/// A note about a part of the document that was skipped, or that the generated code represents less precisely.
public struct GeneratorNote: Sendable, Hashable {
    /// The kinds of notes.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// No code was generated for a part of the document.
        case skipped
        /// A value has the type `JSONValue`, although the document is more specific.
        case untyped
        /// The decoder tries the cases of a union one after the other, and several cases can match.
        case ambiguous
    }

    /// The kind of note.
    public var kind: Kind
    /// A description of the difference between the document and the generated code.
    public var message: String
    /// The name of the file that contains the part.
    public var file: String
    /// The line in the file, counted from 1.
    public var line: Int
    /// The JSON pointer of the part (RFC 6901).
    public var pointer: String

    init(_ kind: Kind, _ message: String, at place: Place) {
        self.kind = kind
        self.message = message
        file = place.file
        line = place.node.position.line
        pointer = place.pointer
    }
}

extension GeneratorNote: CustomStringConvertible {
    /// The note on one line: `FILE:LINE: KIND: MESSAGE (at POINTER)`.
    public var description: String { "\(file):\(line): \(kind.rawValue): \(message) (at \(pointer))" }
}
