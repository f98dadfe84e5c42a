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
        var table = NameTable(reserved: ["other"])
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
            if declaration.isDecoded, declaration.isEncoded { code.line() }
            if declaration.isEncoded { writeEncoding(cases, &code) }
        }
    }

    private func protocols(of declaration: Declaration) -> String {
        var protocols = options.isHashable ? ["Hashable"] : []
        if declaration.isDecoded { protocols.append("FieldValue") }
        if declaration.isEncoded { protocols.append("Encodable") }
        if !declaration.isDecoded { protocols.append("Sendable") }
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

    private func writeDecoding(_ cases: [Case], _ discriminator: String?, _ code: inout CodeLines) {
        let tagged = discriminator == nil ? [] : cases.filter { !$0.variant.tags.isEmpty }
        let tried = Self.ordered(discriminator == nil ? cases : cases.filter { $0.variant.tags.isEmpty }, names.graph)
        if options.access == .public { code.line("/// Reads a value.") }
        code.block("\(prefix)init(from decoder: any Decoder) throws") { code in
            guard let discriminator, !tagged.isEmpty else { return attempts(tried, &code) }
            code.line("switch decoder.tag(\(SwiftName.literal(discriminator))) {")
            var seen: Set<String> = []
            for item in tagged {
                let tags = item.variant.tags.filter { seen.insert($0).inserted }
                guard !tags.isEmpty else { continue }
                let body = "self = .\(SwiftName.afterDot(item.name))(try decoder.value())"
                Self.writeCase(tags.map(SwiftName.literal), body, &code)
            }
            if tried.isEmpty {
                code.line("default: self = .other(try decoder.value())")
            } else {
                code.line("default:")
                code.indented { attempts(tried, &$0) }
            }
            code.line("}")
        }
    }

    private static func writeCase(_ patterns: [String], _ body: String, _ code: inout CodeLines) {
        let oneLine = "case \(patterns.joined(separator: ", ")): \(body)"
        if oneLine.count + 8 <= CodeLines.width { return code.line(oneLine) }
        var row = "case "
        for (index, pattern) in patterns.enumerated() {
            let piece = pattern + (index < patterns.count - 1 ? "," : ":")
            if row.count + piece.count + 9 > CodeLines.width {
                code.line(row.trimmingBlanks.hasSuffix("case") ? row : String(row.dropLast()))
                row = "    "
            }
            row += piece + " "
        }
        code.line(String(row.dropLast()))
        code.indented { $0.line(body) }
    }

    private func attempts(_ cases: [Case], _ code: inout CodeLines) {
        for (index, item) in cases.enumerated() {
            let word = index == 0 ? "if" : "} else if"
            code.line("\(word) let value: \(names.name(item.variant.type)) = decoder.attempt() {")
            code.indented { $0.line("self = .\(SwiftName.afterDot(item.name))(value)") }
        }
        if cases.isEmpty { return code.line("self = .other(try decoder.value())") }
        code.line("} else {")
        code.indented { $0.line("self = .other(try decoder.value())") }
        code.line("}")
    }

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
            case .json: return (10, 0)
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
        if options.access == .public { code.line("/// Writes the value.") }
        code.block("\(prefix)func encode(to encoder: any Encoder) throws") { code in
            code.line("switch self {")
            for name in cases.map(\.name) + ["other"] {
                code.switchCase("case .\(SwiftName.afterDot(name))(let value)", "try encoder.write(value)")
            }
            code.line("}")
        }
    }
}
