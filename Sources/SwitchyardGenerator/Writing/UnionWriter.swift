/// Generates a union (`oneOf`, `anyOf`) as an enum with an associated value in each case.
struct UnionWriter {
    let names: TypeNames
    let options: GeneratorOptions
    private var prefix: String { options.prefix }

    /// A case of the enum.
    private struct Case {
        let name: String
        let variant: Declaration.Variant
    }

    func write(
        _ declaration: Declaration,
        _ variants: [Declaration.Variant],
        _ discriminator: String?,
        to code: inout CodeLines
    ) {
        var table = NameTable(reserved: ["other", "cases", "content"])
        let cases = variants.map { Case(name: table.unique(caseName($0.type, in: declaration.name)), variant: $0) }
        let isPublic = options.access == .public
        code.documentation(
            declaration.description,
            fallback: prefix.isEmpty ? nil : "The schema `\(declaration.component ?? declaration.hint)`."
        )
        let word = declaration.isIndirect ? "indirect enum" : "enum"
        code.block("\(prefix)\(word) \(declaration.name): \(protocols(of: declaration))") { code in
            for item in cases {
                if isPublic { code.line("/// A value of type `\(names.name(item.variant.type))`.") }
                code.list("case \(SwiftName.escaped(item.name))(", [.text(names.name(item.variant.type))], ")")
            }
            if isPublic { code.line("/// A value that matches none of the cases.") }
            code.line("case other(JSONValue)")
            code.line()
            if declaration.isDecoded { writeDecoding(cases, discriminator, &code) }
            if declaration.isEncoded { writeEncoding(cases, &code) }
        }
    }

    private func protocols(of declaration: Declaration) -> String {
        var protocols = options.isHashable ? ["Hashable"] : []
        if declaration.isDecoded { protocols.append("DecodableUnion") }
        if declaration.isEncoded { protocols.append("EncodableUnion") }
        if !declaration.isDecoded, !declaration.isEncoded { protocols.append("Sendable") }
        return protocols.joined(separator: ", ")
    }

    func caseName(_ type: SwiftType, in union: String) -> String {
        switch type {
        case .bool: return "boolean"
        case .int, .int64: return "integer"
        case .double: return "number"
        case .string: return "string"
        case .date: return "date"
        case .day: return "day"
        case .data, .file: return "data"
        case .json: return "json"
        case .optional(let value): return caseName(value, in: union)
        case .dictionary: return "dictionary"
        case .list(let element):
            let name = caseName(element, in: union)
            return "list" + name.prefix(1).uppercased() + name.dropFirst()
        case .declared(let id):
            let name = names.graph[id].name
            let rest = name.dropFirst(union.count)
            let isPart = name.hasPrefix(union) && rest.first?.isUppercase == true
            return SwiftName.member(of: isPart ? String(rest) : name)
        }
    }

    // MARK: - Coding

    /// Adds the cases that tags select, and then the other cases in the order in which the decoder tries them.
    private func writeDecoding(_ cases: [Case], _ discriminator: String?, _ code: inout CodeLines) {
        let isTagged = discriminator != nil
        var seen: Set<String> = []
        let tagged = (isTagged ? cases : []).compactMap { item -> CodeLines.Element? in
            let tags = item.variant.tags.filter { seen.insert($0).inserted }
            guard !tags.isEmpty else { return nil }
            let rows = ModelWriter.wordRows(tags, label: "tags: ", depth: 3)
            return .call(".of(", ([Self.maker(item)] + rows).map { .text($0) }, ")")
        }
        let tried = Self.ordered(isTagged ? cases.filter { $0.variant.tags.isEmpty } : cases, names.graph)
        if options.access == .public { code.line("/// The cases, in the order in which they are tried.") }
        var elements = tagged + tried.map { .text(".of(\(Self.maker($0)))") }
        if let discriminator, !tagged.isEmpty {
            elements.insert(.text("tag: \(SwiftName.literal(discriminator))"), at: 0)
        }
        code.list("\(prefix)static let cases = UnionCases<Self>(", elements, ")")
    }

    private static func maker(_ item: Case) -> String { "Self.\(SwiftName.afterDot(item.name))" }

    /// Returns the cases in the order in which the decoder tries them.
    ///
    /// Strings with listed values are tried before other strings. Objects with more required properties are tried
    /// before objects with fewer required properties.
    private static func ordered(_ cases: [Case], _ graph: TypeGraph) -> [Case] {
        func rank(_ item: Case) -> (Int, Int) {
            switch item.variant.type {
            case .bool: return (0, 0)
            case .int, .int64: return (1, 0)
            case .double: return (2, 0)
            case .date, .day, .data, .file: return (3, 0)
            case .string: return (5, 0)
            case .list: return (6, 0)
            case .dictionary: return (9, 0)
            case .json, .optional: return (10, 0)
            case .declared(let id):
                switch graph[id].kind {
                case .openEnum: return (4, 0)
                case .union: return (8, 0)
                default: return (7, -item.variant.required.count)
                }
            }
        }
        return cases.map { (item: $0, rank: rank($0)) }.enumerated()
            .sorted { left, right in
                let first = left.element.rank
                let second = right.element.rank
                return (first.0, first.1, left.offset) < (second.0, second.1, right.offset)
            }
            .map(\.element.item)
    }

    private func writeEncoding(_ cases: [Case], _ code: inout CodeLines) {
        if options.access == .public { code.line("/// The value of the case.") }
        code.block("\(prefix)var content: any Encodable") { code in
            code.line("switch self {")
            for name in cases.map(\.name) + ["other"] {
                code.switchCase("case .\(SwiftName.afterDot(name))(let value)", "value")
            }
            code.line("}")
        }
    }
}
