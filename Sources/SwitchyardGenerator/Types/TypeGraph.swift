/// The graph of generated types.
///
/// It merges equal types, records which types are used, and finds types that contain themselves.
final class TypeGraph {
    private(set) var declarations: [Declaration]
    private var replacements: [Int]
    /// The suggested names of each type, one for each schema that was merged into the type.
    private(set) var hints: [Int: [String]] = [:]

    init(_ declarations: [Declaration], replacements given: [Int: Int] = [:]) {
        self.declarations = declarations
        replacements = Array(declarations.indices)
        for (id, first) in given {
            var other = first
            for _ in given.indices {
                guard let next = given[other], next != id else { break }
                other = next
            }
            replacements[id] = other
        }
        mergeEqualShapes()
    }

    /// Returns the type, in which the index of each merged type is replaced by the index of the type into which it was
    /// merged.
    func final(_ type: SwiftType) -> SwiftType { type.renumbered { self.replacements[$0] } }

    subscript(id: Int) -> Declaration { declarations[replacements[id]] }

    /// Returns the declaration of a generated type, or `nil` if the type is not generated.
    func declaration(of type: SwiftType) -> Declaration? {
        if case .declared(let id) = type { self[id] } else { nil }
    }

    // MARK: - Equal shapes

    /// Merges inline schemas with the same properties into one type.
    ///
    /// Components of the document stay separate types.
    private func mergeEqualShapes() {
        for declaration in declarations { hints[declaration.id] = [declaration.hint] }
        var hasChanged = true
        while hasChanged {
            hasChanged = false
            for declaration in declarations { declaration.renumber { self.replacements[$0] } }
            var first: [String: Int] = [:]
            let ordered = declarations.filter { replacements[$0.id] == $0.id && !$0.isPending }
                .sorted {
                    ($0.component == nil ? 1 : 0, $0.component ?? "", $0.id) < (
                        $1.component == nil ? 1 : 0, $1.component ?? "", $1.id
                    )
                }
            for declaration in ordered {
                let signature = declaration.signature
                guard let other = first[signature] else {
                    first[signature] = declaration.id
                    continue
                }
                guard declaration.component == nil else { continue }
                replace(declaration.id, by: other)
                hasChanged = true
            }
        }
    }

    private func replace(_ id: Int, by other: Int) {
        for index in replacements.indices where replacements[index] == id { replacements[index] = other }
        hints[other, default: []] += hints[id] ?? []
    }

    // MARK: - Uses

    /// Records that a manager decodes or encodes values of a type.
    func use(_ type: SwiftType, isDecoded: Bool, by user: String) {
        var open = type.declared
        while let id = open.popLast() {
            let declaration = self[id]
            let isKnown = isDecoded ? declaration.isDecoded : declaration.isEncoded
            if isKnown, declaration.users.contains(user) { continue }
            if isDecoded { declaration.isDecoded = true } else { declaration.isEncoded = true }
            declaration.users.insert(user)
            open += declaration.parts.flatMap(\.declared)
        }
    }

    /// The used types, sorted by number.
    var used: [Declaration] {
        declarations.filter { replacements[$0.id] == $0.id && ($0.isDecoded || $0.isEncoded) }
    }

    // MARK: - Discriminators

    /// Marks the properties that are discriminators of unions.
    func markDiscriminators() {
        for union in used {
            guard case .union(let variants, let name?) = union.kind else { continue }
            for declaration in variants.compactMap({ declaration(of: $0.type) }) {
                guard case .structure(var properties, let additional) = declaration.kind,
                    let index = properties.firstIndex(where: { $0.name == name })
                else { continue }
                properties[index].isDiscriminator = true
                declaration.kind = .structure(properties, additional: additional)
            }
        }
    }

    // MARK: - Cycles

    /// Stores a value behind a reference where a structure or enum would otherwise contain itself.
    func breakCycles() {
        for declaration in used {
            guard case .union = declaration.kind, reaches(declaration.id, from: declaration) else { continue }
            declaration.isIndirect = true
        }
        for declaration in used {
            guard case .structure(var properties, let additional) = declaration.kind else { continue }
            for index in properties.indices {
                guard let target = properties[index].type.stored.map({ self[$0] }), !target.isIndirect else { continue }
                guard target.id == declaration.id || reaches(declaration.id, from: target) else { continue }
                properties[index].isBoxed = true
                declaration.kind = .structure(properties, additional: additional)
            }
        }
    }

    /// Returns whether a value of a generated type can contain a value of the type with the number `id` without a
    /// reference in between.
    private func reaches(_ id: Int, from declaration: Declaration) -> Bool {
        var seen: Set<Int> = []
        var open = stored(in: declaration)
        while let next = open.popLast() {
            if next == id { return true }
            guard seen.insert(next).inserted, !self[next].isIndirect else { continue }
            open += stored(in: self[next])
        }
        return false
    }

    private func stored(in declaration: Declaration) -> [Int] {
        switch declaration.kind {
        case .structure(let properties, _): properties.filter { !$0.isBoxed }.compactMap(\.type.stored)
        case .union(let variants, _): variants.compactMap(\.type.stored)
        default: []
        }
    }
}

extension Declaration {
    /// Whether the schema has not been converted to a type yet, or was merged into another type.
    var isPending: Bool { if case .pending = kind { true } else { false } }
}
