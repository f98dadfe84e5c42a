/// A type that is generated.
final class Declaration {
    /// A property of a structure.
    struct Property {
        /// The name in JSON.
        let name: String
        var type: SwiftType
        var isRequired: Bool
        var isNullable: Bool
        var isReadOnly: Bool
        var isDeprecated: Bool
        /// The only value that is allowed; `nil` if there are several.
        var constant: String?
        var description: String?
        /// Whether the value is kept behind a reference, because the type would contain itself.
        var isBoxed = false
        /// The content type of a part of a multipart form; `nil` where it follows from the type.
        var partType: String?

        var isOptional: Bool { !isRequired || isNullable }
    }

    /// A case of a union.
    struct Variant {
        var type: SwiftType
        /// The values of the discriminator that stand for this case.
        var tags: [String]
        /// The properties that are required.
        var required: Set<String>
        /// The name of the component, if it is one.
        var component: String?
    }

    /// What is generated.
    enum Kind {
        /// Not read yet, or replaced by another type.
        case pending
        case structure([Property], additional: SwiftType?)
        case openEnum([String])
        case union([Variant], discriminator: String?)
    }

    let id: Int
    let place: Place
    var kind = Kind.pending
    /// The name of the component; `nil` for a schema that stands where it is used.
    let component: String?
    /// A name that follows from where the schema stands.
    let hint: String
    var description: String?
    /// Whether values are read, and whether they are sent.
    var isDecoded = false
    var isEncoded = false
    /// Whether the structure is a form of parts, and not JSON.
    var isMultipart = false
    /// Whether the enum keeps its payload behind a reference, because the type would contain itself.
    var isIndirect = false
    /// The final name in Swift.
    var name = ""
    /// The managers that use the type.
    var users: Set<String> = []

    init(id: Int, place: Place, component: String?, hint: String) {
        self.id = id
        self.place = place
        self.component = component
        self.hint = hint
    }

    /// The protocol for what is done with values.
    var codingProtocol: String { isDecoded ? isEncoded ? "Codable" : "Decodable" : "Encodable" }

    /// The types of the values within.
    var parts: [SwiftType] {
        switch kind {
        case .pending, .openEnum: []
        case .structure(let properties, let additional): properties.map(\.type) + (additional.map { [$0] } ?? [])
        case .union(let variants, _): variants.map(\.type)
        }
    }

    /// Changes the types of the values within.
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

    /// A text that is equal for declarations of equal shape.
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

/// Something that is not generated as the document says it, or not at all.
public struct GeneratorNote: Sendable, Hashable {
    /// The kinds of notes.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A part of the document is left out.
        case skipped
        /// A value has no type of its own and is a `JSONValue`.
        case untyped
        /// The case of a union is chosen by trying, and more than one may fit.
        case ambiguous
    }

    /// The kind.
    public var kind: Kind
    /// What is generated in place of what the document says.
    public var message: String
    /// The file.
    public var file: String
    /// The line, counted from 1.
    public var line: Int
    /// The JSON pointer of the value (RFC 6901).
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
    /// The note in one line.
    public var description: String { "\(file):\(line): \(kind.rawValue): \(message) (at \(pointer))" }
}
