/// Converts the schemas of a document to types when they are needed.
final class TypeReader {
    let document: OpenAPIDocument
    private(set) var declarations: [Declaration] = []
    private(set) var notes: [GeneratorNote] = []
    private var finished: [String: TypedSchema] = [:]
    private var underWay: Set<String> = []
    private var usedWithinThemselves: Set<String> = []
    /// The number of the declaration that replaces a declaration, by the number of the replaced declaration.
    var replacements: [Int: Int] = [:]
    /// The maximum nesting depth of schemas, counting each reference and each property on the way; a deeper schema is
    /// an error.
    private let maximumDepth = 3_000
    private var depth = 0

    init(_ document: OpenAPIDocument) {
        self.document = document
    }

    /// The place of a schema in the document, from which the name of its type is derived.
    struct Origin {
        var component: String?
        var hint: String

        /// The origin for the elements of a list.
        ///
        /// Its name is the singular of the list's name.
        var element: Origin {
            let words = SwiftName.words(of: hint)
            guard let last = words.last, last.hasSuffix("s"), !last.hasSuffix("ss"), !last.hasSuffix("us"),
                last.count > 3
            else {
                return child("item")
            }
            let singular = last.hasSuffix("ies") ? last.dropLast(3) + "y" : last.dropLast()
            return Origin(component: nil, hint: (words.dropLast() + [String(singular)]).joined(separator: " "))
        }

        /// Returns the origin for a part of the schema, such as a property.
        func child(_ name: String) -> Origin { Origin(component: nil, hint: "\(hint) \(name)") }
    }

    func note(_ kind: GeneratorNote.Kind, _ message: String, at place: Place) {
        let note = GeneratorNote(kind, message, at: place)
        if !notes.contains(note) { notes.append(note) }
    }

    func declare(_ place: Place, _ origin: Origin) -> Declaration {
        let declaration = Declaration(
            id: declarations.count,
            place: place,
            component: origin.component,
            hint: origin.hint
        )
        declaration.description = place.text("description") ?? place.text("title")
        declarations.append(declaration)
        return declaration
    }

    /// Stores the type of a schema before its properties have been read, because a property may refer to this schema.
    func begin(_ place: Place, as type: TypedSchema) { finished[place.key] = type }

    /// Returns whether a schema that is being read contains itself.
    func isUsedWithinItself(_ place: Place) -> Bool { usedWithinThemselves.contains(place.key) }

    // MARK: - Schemas

    /// Returns the type of a schema.
    ///
    /// - Throws: ``GeneratorError`` if the place is not a schema or no value can match the schema.
    func type(of place: Place, _ origin: Origin) throws(GeneratorError) -> TypedSchema {
        if let known = finished[place.key] {
            if underWay.contains(place.key) { usedWithinThemselves.insert(place.key) }
            return known
        }
        depth += 1
        defer { depth -= 1 }
        guard depth <= maximumDepth else { throw place.error("schemas are nested deeper than \(maximumDepth) levels") }
        if place.node.bool == true { return TypedSchema(type: .json) }
        guard place.node.isMap else { throw place.error("a schema must be an object, not \(place.node.kindName)") }
        guard underWay.insert(place.key).inserted else { return try recursive(place) }
        defer { underWay.remove(place.key) }
        let type: TypedSchema
        if place["$ref"] == nil { type = try plainType(of: place, origin) } else { type = try referredType(of: place) }
        finished[place.key] = type
        return type
    }

    /// Returns a replacement for a schema that contains itself but is neither an object nor a union: a `JSONValue`.
    private func recursive(_ place: Place) throws(GeneratorError) -> TypedSchema {
        if place["$ref"] != nil { throw place.error("the reference is circular") }
        note(.untyped, "the schema contains itself without an object in between", at: place)
        return TypedSchema(type: .json)
    }

    private func referredType(of place: Place) throws(GeneratorError) -> TypedSchema {
        guard let reference = try place.string("$ref") else { return TypedSchema(type: .json) }
        let target = try document.files.target(of: reference, at: place)
        if target["$ref"] != nil { _ = try document.resolved(place) }
        var type = try type(of: target, Self.origin(of: target))
        if try place.flag("nullable") { type.isNullable = true }
        return type
    }

    /// Returns the origin for a referenced schema: its name if it is a component, otherwise the last two steps of its
    /// path.
    static func origin(of target: Place) -> Origin {
        let steps = target.pointer.split(separator: "/").map {
            String($0).replacing("~1", with: "/").replacing("~0", with: "~")
        }
        if steps.isEmpty {
            let file = target.file.split(separator: "/").last.map(String.init) ?? target.file
            let name = file.split(separator: ".").first.map(String.init) ?? file
            return Origin(component: name, hint: name)
        }
        let name = steps.last ?? "value"
        if steps.count == 3, steps[0] == "components" { return Origin(component: name, hint: name) }
        if steps.count == 1 { return Origin(component: name, hint: name) }
        let words = steps.filter { !["components", "schemas", "properties", "items", "schema"].contains($0) }
        return Origin(component: nil, hint: words.suffix(2).joined(separator: " "))
    }

    private func plainType(of place: Place, _ origin: Origin) throws(GeneratorError) -> TypedSchema {
        let facts = try SchemaFacts(place)
        if place["enum"]?.node.list?.isEmpty == true {
            note(.untyped, "\"enum\" has no values and is ignored", at: place)
        }
        if place["not"] != nil { note(.skipped, "\"not\" is not checked", at: place) }
        let composite = try compositeType(facts, origin)
        var type: TypedSchema
        if let composite { type = composite } else { type = try simpleType(facts, origin) }
        type.isNullable = type.isNullable || facts.isNullable
        return type
    }

    /// Returns the type of a schema with `allOf`, `oneOf` or `anyOf`, or `nil` for any other schema.
    private func compositeType(_ facts: SchemaFacts, _ origin: Origin) throws(GeneratorError) -> TypedSchema? {
        let parts = try facts.allOf
        if !parts.isEmpty { return try mergedType(facts, parts, origin) }
        let alternatives = try facts.alternatives
        guard !alternatives.isEmpty else { return nil }
        let real = try alternatives.kept { place throws(GeneratorError) in try !isTrivial(place) }
        if facts.hasProperties || (facts.isObject && real.isEmpty) { return try objectType(facts.place, origin) }
        if real.isEmpty { return nil }
        return try unionType(facts, alternatives, origin)
    }

    /// Returns whether a schema allows every value.
    func isTrivial(_ place: Place) throws(GeneratorError) -> Bool {
        guard place["$ref"] == nil, place.node.isMap else { return false }
        return try SchemaFacts(place).isTrivial
    }

    // MARK: - Simple schemas

    private func simpleType(_ facts: SchemaFacts, _ origin: Origin) throws(GeneratorError) -> TypedSchema {
        if let values = facts.values, let type = try listedType(values, facts, origin) { return type }
        guard facts.types.count <= 1 else {
            return try unionType(facts, kinds: facts.types, origin)
        }
        return try type(ofKind: facts.types.first ?? "", facts, origin)
    }

    /// Returns the type of a schema whose `type` has this single name.
    ///
    /// If the name is empty, the type is inferred from the other members of the schema.
    func type(ofKind kind: String, _ facts: SchemaFacts, _ origin: Origin) throws(GeneratorError) -> TypedSchema {
        switch kind {
        case "string": return TypedSchema(type: Self.stringType(facts))
        case "integer": return TypedSchema(type: Self.integerType(facts.format))
        case "number": return TypedSchema(type: facts.format == "unix-time" ? .date(.unixTime) : .double)
        case "boolean": return TypedSchema(type: .bool)
        case "array": return try listType(facts.place, origin)
        case "object": return try objectType(facts.place, origin)
        default: break
        }
        if facts.place["items"] != nil || facts.place["prefixItems"] != nil { return try listType(facts.place, origin) }
        if facts.isObject { return try objectType(facts.place, origin) }
        if facts.format == "date-time" || facts.format == "date" {
            return TypedSchema(type: Self.stringType(facts))
        }
        return TypedSchema(type: .json)
    }

    private static func stringType(_ facts: SchemaFacts) -> SwiftType {
        if facts.isFile { return .file }
        if let encoding = facts.place.text("contentEncoding") { return encoding.hasPrefix("base64") ? .data : .string }
        switch facts.format {
        case "date-time": return .date(.rfc3339)
        case "date": return .day
        case "date-time-rfc-2822": return .date(.rfc2822)
        case "byte": return .data
        default: return .string
        }
    }

    private static func integerType(_ format: String?) -> SwiftType {
        switch format {
        case "int64": .int64
        case "unix-time": .date(.unixTime)
        default: .int
        }
    }

    private func listType(_ place: Place, _ origin: Origin) throws(GeneratorError) -> TypedSchema {
        if place["prefixItems"] != nil {
            note(.untyped, "`prefixItems` describes a tuple, so its elements become JSONValue", at: place)
            return TypedSchema(type: .list(.json))
        }
        // The schema `false` allows no elements.
        guard let items = place["items"], items.node.bool != false else { return TypedSchema(type: .list(.json)) }
        if items.node.list != nil {
            note(.untyped, "`items` is a list of schemas (a tuple), so its elements become JSONValue", at: items)
            return TypedSchema(type: .list(.json))
        }
        return TypedSchema(type: .list(try type(of: items, origin.element).element))
    }

    /// Returns the type of a schema that lists its allowed values, or `nil` if the list does not change the type.
    private func listedType(
        _ values: [Node],
        _ facts: SchemaFacts,
        _ origin: Origin
    ) throws(GeneratorError) -> TypedSchema? {
        if values.isEmpty { return TypedSchema(type: .json, isNullable: true) }
        let texts = values.compactMap(\.string)
        if facts.types == ["string"] || (facts.types.isEmpty && texts.count == values.count) {
            return enumType(values.compactMap(\.scalarText), facts.place, origin)
        }
        if !facts.types.isEmpty { return nil }
        if values.allSatisfy({ $0.bool != nil }) { return TypedSchema(type: .bool) }
        let numbers = values.compactMap { if case .number(let text) = $0.value { text } else { nil } }
        if numbers.count == values.count {
            return TypedSchema(type: numbers.allSatisfy { Int($0) != nil } ? .int : .double)
        }
        note(.untyped, "\"enum\" has values of several types", at: facts.place)
        return TypedSchema(type: .json)
    }

    /// Returns an enum for the listed strings.
    ///
    /// For a single string, returns `String` with this string as the only allowed value.
    func enumType(_ values: [String], _ place: Place, _ origin: Origin) -> TypedSchema {
        var seen: Set<String> = []
        let values = values.filter { seen.insert($0).inserted }
        if values.count == 1 { return TypedSchema(type: .string, constant: values[0]) }
        let declaration = declare(place, origin)
        declaration.kind = .openEnum(values)
        return TypedSchema(type: .declared(declaration.id))
    }
}
