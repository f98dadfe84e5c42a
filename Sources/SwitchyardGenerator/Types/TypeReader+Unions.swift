extension TypeReader {
    /// Returns the type of a schema with `oneOf` or `anyOf`: the type of its only alternative, an enum of strings, a
    /// number, or a union.
    func unionType(
        _ facts: SchemaFacts,
        _ alternatives: [Place],
        _ origin: Origin
    ) throws(GeneratorError) -> TypedSchema {
        let declaration = declare(facts.place, origin)
        let own = SwiftType.declared(declaration.id)
        var isNullable = facts.isNullable
        for alternative in alternatives where try isNull(alternative) { isNullable = true }
        begin(facts.place, as: TypedSchema(type: own, isNullable: isNullable))
        var members: [(place: Place, type: TypedSchema)] = []
        for (index, alternative) in alternatives.enumerated() {
            if try isNull(alternative) { continue }
            let name = alternatives.count > 1 ? alternative.text("title") ?? "\(index + 1)" : ""
            let typed = try type(of: alternative, name.isEmpty ? origin : origin.child(name))
            isNullable = isNullable || typed.isNullable
            if !members.contains(where: { $0.type.type == typed.type && $0.type.constant == typed.constant }) {
                members.append((alternative, typed))
            }
        }
        var result = try simplified(members, facts, origin) ?? TypedSchema(type: own)
        // An alternative that refers back to this schema was given the union's type, so this type is replaced or kept.
        if result.type != own, isUsedWithinItself(facts.place) {
            if case .declared(let other) = result.type {
                replacements[declaration.id] = other
            } else {
                result.type = own
            }
        }
        if result.type == own { declaration.kind = try union(of: members, facts) }
        result.isNullable = isNullable
        return result
    }

    /// Returns the type of a schema whose `type` has several names.
    func unionType(
        _ facts: SchemaFacts,
        kinds: [String],
        _ origin: Origin
    ) throws(GeneratorError) -> TypedSchema {
        var variants: [Declaration.Variant] = []
        for kind in kinds {
            let type = try type(ofKind: kind, facts, origin).type.withPlainDates
            variants.append(Declaration.Variant(type: type, tags: [], required: []))
        }
        let types = variants.map(\.type)
        if Set(types).isSubset(of: [.int, .int64, .double]) { return TypedSchema(type: .double) }
        if types.contains(.json) { return TypedSchema(type: .json) }
        let declaration = declare(facts.place, origin)
        declaration.kind = .union(variants, discriminator: nil)
        return TypedSchema(type: .declared(declaration.id))
    }

    /// Returns whether a schema allows only `null`.
    func isNull(_ place: Place) throws(GeneratorError) -> Bool {
        let target = try document.resolved(place)
        guard target.node.isMap else { return false }
        if target.text("type") == "null" { return true }
        let facts = try SchemaFacts(target)
        // If `null` is the only value that a schema lists, the schema allows only `null`.
        return facts.values?.isEmpty == true && facts.isNullable
    }

    /// Returns a type for the alternatives that is not a union, or `nil` if a union is needed.
    private func simplified(
        _ members: [(place: Place, type: TypedSchema)],
        _ facts: SchemaFacts,
        _ origin: Origin
    ) throws(GeneratorError) -> TypedSchema? {
        guard let first = members.first else { return TypedSchema(type: .json, isNullable: true) }
        if members.count == 1 { return first.type }
        let types = members.map(\.type.type)
        if types.contains(.json) {
            note(.untyped, "one of the alternatives accepts any value", at: facts.place)
            return TypedSchema(type: .json)
        }
        if Set(types).isSubset(of: [.int, .int64, .double]) { return TypedSchema(type: .double) }
        return try texts(of: members).map { values in
            values.isEmpty ? TypedSchema(type: .string) : enumType(values, facts.place, origin)
        }
    }

    /// Returns the strings that all alternatives together list, or `nil` if an alternative is not a string.
    ///
    /// The result is empty if the alternatives are strings without listed values.
    private func texts(of members: [(place: Place, type: TypedSchema)]) throws(GeneratorError) -> [String]? {
        var values: [String] = []
        for (_, member) in members {
            switch member.type {
            case .string: if let constant = member.constant { values.append(constant) }
            case .declared(let id):
                guard case .openEnum(let listed) = declarations[id].kind else { return nil }
                values += listed
            default: return nil
            }
        }
        return values
    }

    // MARK: - Discriminators

    private func union(
        of members: [(place: Place, type: TypedSchema)],
        _ facts: SchemaFacts
    ) throws(GeneratorError) -> Declaration.Kind {
        var variants: [Declaration.Variant] = []
        for (place, typed) in members {
            let component = try place.string("$ref").map { $0.split(separator: "/").last.map(String.init) ?? $0 }
            variants.append(
                Declaration.Variant(
                    type: typed.type.withPlainDates,
                    tags: [],
                    required: required(typed.type),
                    component: component
                )
            )
        }
        if let name = try facts.place.object("discriminator")?.string("propertyName") {
            try tag(&variants, by: name, facts.place["discriminator"]?["mapping"])
            return .union(variants, discriminator: name)
        }
        return .union(variants, discriminator: nil)
    }

    /// Sets the values of the discriminator that select each case of a union.
    private func tag(
        _ variants: inout [Declaration.Variant],
        by name: String,
        _ mapping: Place?
    ) throws(GeneratorError) {
        for (value, target) in mapping?.members ?? [] {
            let path = target.node.scalarText ?? ""
            let component = path.split(separator: "/").last.map(String.init) ?? path
            guard let index = variants.firstIndex(where: { $0.component == component }) else { continue }
            variants[index].tags.append(value)
        }
        let mapped = Set(variants.flatMap(\.tags))
        for index in variants.indices {
            let constants = constants(variants[index].type, of: name)
            if !constants.isEmpty {
                if variants[index].tags.isEmpty { variants[index].tags = constants }
            } else if let component = variants[index].component, !mapped.contains(component) {
                // The name of a schema selects it even if the mapping has further values for it.
                variants[index].tags.append(component)
            }
        }
    }

    /// Returns the names of the properties that a type requires.
    private func required(_ type: SwiftType) -> Set<String> {
        guard case .declared(let id) = type, case .structure(let properties, _) = declarations[id].kind else {
            return []
        }
        return Set(properties.filter(\.isRequired).map(\.name))
    }

    /// Returns the values that the schema of a property lists, or an empty array if it lists none.
    ///
    /// A union can contain itself, so the unions in `within` are not read again.
    func constants(_ type: SwiftType, of name: String, within: Set<Int> = []) -> [String] {
        guard case .declared(let id) = type, !within.contains(id) else { return [] }
        switch declarations[id].kind {
        case .structure(let properties, _):
            guard let property = properties.first(where: { $0.name == name }) else { return [] }
            if let constant = property.constant { return [constant] }
            if case .declared(let other) = property.type, case .openEnum(let values) = declarations[other].kind {
                return values
            }
            return []
        case .union(let variants, _):
            return variants.flatMap { constants($0.type, of: name, within: within.union([id])) }
        default: return []
        }
    }

    /// Determines the discriminator of each union.
    ///
    /// Must be called after all schemas have been converted.
    func completeUnions() {
        for declaration in declarations {
            guard case .union(var variants, let given) = declaration.kind else { continue }
            for index in variants.indices { variants[index].required = required(variants[index].type) }
            guard given == nil else {
                declaration.kind = .union(variants, discriminator: given)
                continue
            }
            let objects = variants.indices.filter { isObject(variants[$0].type) }
            guard objects.count > 1 else {
                declaration.kind = .union(variants, discriminator: nil)
                continue
            }
            if let name = implicitDiscriminator(of: objects.map { variants[$0].type }) {
                for index in objects { variants[index].tags = constants(variants[index].type, of: name) }
                declaration.kind = .union(variants, discriminator: name)
            } else {
                declaration.kind = .union(variants, discriminator: nil)
                recordAmbiguity(of: objects.map { variants[$0] }, at: declaration.place)
            }
        }
    }

    private func recordAmbiguity(of variants: [Declaration.Variant], at place: Place) {
        let sets = variants.map(\.required)
        guard Set(sets).count < sets.count else { return }
        note(.ambiguous, "several cases can match, so the first match in document order is used", at: place)
    }

    private func isObject(_ type: SwiftType) -> Bool {
        switch type {
        case .dictionary: return true
        case .declared(let id):
            switch declarations[id].kind {
            case .structure, .union: return true
            default: return false
            }
        default: return false
        }
    }

    /// Returns the name of a property whose listed values differ between all types, or `nil` if there is none.
    private func implicitDiscriminator(of types: [SwiftType]) -> String? {
        guard case .declared(let id)? = types.first, case .structure(let properties, _) = declarations[id].kind else {
            return nil
        }
        return properties.map(\.name).first { name in
            let values = types.map { constants($0, of: name) }
            guard values.allSatisfy({ !$0.isEmpty }) else { return false }
            let all = values.flatMap(\.self)
            return Set(all).count == all.count
        }
    }
}
