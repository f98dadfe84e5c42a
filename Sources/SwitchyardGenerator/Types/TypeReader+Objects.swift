extension TypeReader {
    /// The properties of an object whose schema combines several schemas.
    struct ObjectShape {
        var properties: [Declaration.Property] = []
        var additional: SwiftType?
        var required: Set<String> = []

        /// Adds a property, or merges it with the property of the same name.
        mutating func add(_ property: Declaration.Property) {
            guard let index = properties.firstIndex(where: { $0.name == property.name }) else {
                return properties.append(property)
            }
            var merged = property
            let earlier = properties[index]
            if merged.type == .json { merged.type = earlier.type }
            merged.description = merged.description ?? earlier.description
            merged.isReadOnly = merged.isReadOnly || earlier.isReadOnly
            merged.isNullable = merged.isNullable && earlier.isNullable
            properties[index] = merged
        }
    }

    /// Returns the type of an object schema.
    func objectType(_ place: Place, _ origin: Origin) throws(GeneratorError) -> TypedSchema {
        let facts = try SchemaFacts(place)
        let alternatives = try facts.alternatives
        if !facts.hasProperties, alternatives.isEmpty {
            return try dictionaryType(place, origin)
        }
        let declaration = declare(place, origin)
        let type = TypedSchema(type: .declared(declaration.id))
        begin(place, as: TypedSchema(type: type.type, isNullable: facts.isNullable))
        var shape = ObjectShape()
        try collect(place, into: &shape, origin)
        finish(declaration, shape)
        return type
    }

    /// Creates a structure for a multipart form.
    ///
    /// The structure for the form and the JSON structure for the same schema are separate types.
    func formDeclaration(
        _ place: Place,
        _ origin: Origin,
        isOnlyBody: Bool
    ) throws(GeneratorError) -> Declaration {
        let declaration = declare(
            place,
            Origin(component: nil, hint: origin.component.map { "\($0) form" } ?? origin.hint)
        )
        declaration.isMultipart = true
        var shape = ObjectShape()
        try collect(place, into: &shape, origin)
        for index in shape.properties.indices {
            setFileType(of: &shape.properties[index], in: declaration, isOnlyBody: isOnlyBody)
        }
        finish(declaration, shape)
        return declaration
    }

    private func dictionaryType(_ place: Place, _ origin: Origin) throws(GeneratorError) -> TypedSchema {
        guard let additional = place["additionalProperties"], additional.node.isMap, !additional.node.members.isEmpty
        else { return TypedSchema(type: .dictionary(.json)) }
        return TypedSchema(type: .dictionary(try type(of: additional, origin.child("value")).element))
    }

    private func finish(_ declaration: Declaration, _ shape: ObjectShape) {
        var properties = shape.properties
        for index in properties.indices {
            properties[index].isRequired = shape.required.contains(properties[index].name)
        }
        for name in shape.required.subtracting(properties.map(\.name)).sorted() {
            note(.skipped, "the required property \"\(name)\" has no schema", at: declaration.place)
        }
        declaration.kind = .structure(properties, additional: shape.additional)
    }

    // MARK: - allOf

    /// Returns the type of a schema with `allOf`.
    ///
    /// If `allOf` has only one part, the result is the type of that part. Otherwise, the result is a type with the
    /// properties of all parts.
    func mergedType(
        _ facts: SchemaFacts,
        _ parts: [Place],
        _ origin: Origin
    ) throws(GeneratorError) -> TypedSchema {
        let real = try parts.kept { part throws(GeneratorError) in try !isTrivial(part) }
        let alternatives = try facts.alternatives
        let hasAdditional = facts.place["additionalProperties"]?.node.isMap ?? false
        let addsNothing = !facts.hasProperties && alternatives.isEmpty && !hasAdditional
        if real.count == 1, addsNothing, facts.values == nil {
            var type = try type(of: real[0], real[0]["$ref"] == nil ? origin : origin.child("value"))
            // If `nullable` is next to a reference, only this use of the referenced type is nullable.
            if facts.isNullable { type.isNullable = true }
            return type
        }
        if let plain = try plainMergedType(facts, real, origin) { return plain }
        let declaration = declare(facts.place, origin)
        let type = TypedSchema(type: .declared(declaration.id))
        begin(facts.place, as: TypedSchema(type: type.type, isNullable: facts.isNullable))
        var shape = ObjectShape()
        try collect(facts.place, into: &shape, origin)
        finish(declaration, shape)
        return type
    }

    /// Returns the type of a schema with `allOf` whose parts are not objects, or `nil` if its parts are objects.
    private func plainMergedType(
        _ facts: SchemaFacts,
        _ parts: [Place],
        _ origin: Origin
    ) throws(GeneratorError) -> TypedSchema? {
        var plain: [TypedSchema] = []
        var hasObject = facts.hasProperties || facts.isObject
        for part in parts {
            let target = try document.resolved(part)
            if try isObject(target) {
                hasObject = true
            } else {
                plain.append(try type(of: part, origin))
            }
        }
        guard let first = plain.last, parts.count == plain.count || hasObject else { return nil }
        if hasObject {
            if plain.allSatisfy({ $0.type == .json }) { return nil }
            throw facts.place.error(
                "no value matches \"allOf\", which requires an object and \(Self.kindName(first.type))"
            )
        }
        let kinds = Set(plain.map { Self.kindName($0.type) }.filter { $0 != "any value" })
        guard kinds.count <= 1 || kinds == ["an integer", "a number"] else {
            throw facts.place.error(
                "no value matches \"allOf\", which requires \(kinds.sorted().joined(separator: " and "))"
            )
        }
        return plain.last { if case .declared = $0.type { true } else { false } } ?? first
    }

    /// Returns whether a schema describes an object, directly or through `allOf`, `oneOf` or `anyOf`.
    private func isObject(_ place: Place, depth: Int = 0) throws(GeneratorError) -> Bool {
        guard depth < 50 else { throw place.error("\"allOf\" is circular") }
        guard place.node.isMap else { return false }
        let facts = try SchemaFacts(place)
        if facts.isObject || facts.isTrivial { return true }
        if !facts.types.isEmpty { return false }
        for part in try facts.allOf + facts.alternatives where try isObject(document.resolved(part), depth: depth + 1) {
            return true
        }
        return false
    }

    private static func kindName(_ type: SwiftType) -> String {
        switch type {
        case .bool: "a Boolean"
        case .int, .int64: "an integer"
        case .double: "a number"
        case .string, .date, .day, .data, .file, .declared: "a string"
        case .list: "a list"
        case .dictionary: "an object"
        case .json, .optional: "any value"
        }
    }

    /// Adds the properties of a schema, and of all schemas that it combines, to `shape`.
    private func collect(
        _ place: Place,
        into shape: inout ObjectShape,
        _ origin: Origin,
        within: Set<String> = [],
        isAlternative: Bool = false
    ) throws(GeneratorError) {
        let place = try document.resolved(place)
        guard !within.contains(place.key) else { throw place.error("\"allOf\" is circular") }
        guard place.node.isMap else { return }
        let within = within.union([place.key])
        for part in try place.list("allOf") {
            try collect(part, into: &shape, origin, within: within, isAlternative: isAlternative)
        }
        try addProperties(of: place, to: &shape, origin)
        if !isAlternative {
            shape.required.formUnion(try place.list("required").compactMap(\.node.string))
        }
        // The properties of alternatives are optional, because a value has only the properties of one alternative.
        for part in try place.list("oneOf") + place.list("anyOf") {
            try collect(part, into: &shape, origin, within: within, isAlternative: true)
        }
    }

    private func addProperties(
        of place: Place,
        to shape: inout ObjectShape,
        _ origin: Origin
    ) throws(GeneratorError) {
        var properties = try place.object("properties")
        // In some documents, the value of `properties` is a reference.
        if let all = properties, all["$ref"]?.node.string != nil { properties = try document.resolved(all) }
        for (name, schema) in properties?.members ?? [] {
            let target = try schema["$ref"] == nil ? schema : document.resolved(schema)
            if schema.node.bool == false { continue }
            let typed = try type(of: schema, origin.child(name))
            let isFlagged = { (key: String) throws(GeneratorError) in
                let isHere = try schema.flag(key)
                return try target.flag(key) || isHere
            }
            shape.add(
                Declaration.Property(
                    name: name,
                    type: typed.type,
                    isRequired: false,
                    isNullable: typed.isNullable,
                    isReadOnly: try isFlagged("readOnly"),
                    isDeprecated: try isFlagged("deprecated"),
                    constant: typed.constant,
                    description: schema.text("description") ?? (schema["$ref"] == nil ? schema.text("title") : nil)
                )
            )
        }
        guard let additional = place["additionalProperties"], place["properties"] != nil else { return }
        if additional.node.bool == true {
            shape.additional = shape.additional ?? .json
        } else if additional.node.isMap {
            let value = try type(of: additional, origin.child("value"))
            shape.additional = value.element
        }
    }
}
