/// Generates the model types.
struct ModelWriter {
    let names: TypeNames
    let options: GeneratorOptions
    private var prefix: String { options.prefix }

    /// Adds a type.
    func write(_ declaration: Declaration, to code: inout CodeLines) {
        switch declaration.kind {
        case .pending: break
        case .openEnum(let values): writeEnum(declaration, values, &code)
        case .structure(_, let additional):
            writeStructure(declaration, additional, &code)
        case .union(let variants, let discriminator):
            UnionWriter(names: names, options: options).write(declaration, variants, discriminator, to: &code)
        }
    }

    private func document(_ declaration: Declaration, _ code: inout CodeLines) {
        let fallback = prefix.isEmpty ? nil : "The schema `\(declaration.component ?? declaration.hint)`."
        code.documentation(declaration.description, fallback: fallback)
    }

    // MARK: - Enums

    private func writeEnum(_ declaration: Declaration, _ values: [String], _ code: inout CodeLines) {
        var table = NameTable(reserved: ["other", "known"])
        let cases = values.map { (value: $0, name: table.unique(SwiftName.member(of: $0))) }
        document(declaration, &code)
        let isPublic = options.access == .public
        code.block("\(prefix)enum \(declaration.name): OpenEnum") { code in
            if isPublic {
                for (value, name) in cases {
                    code.line("/// The text \(SwiftName.literal(value)).")
                    code.line("case \(SwiftName.escaped(name))")
                }
                code.line("/// A value that the document does not list.")
            } else {
                Self.fill("case ", cases.map { SwiftName.escaped($0.name) }, &code)
            }
            code.line("case other(String)")
            code.line()
            if isPublic { code.line("/// The listed values.") }
            code.list(
                "\(prefix)static let known: [String: Self] = [",
                cases.map { .pair(SwiftName.literal($0.value), ".\(SwiftName.afterDot($0.name))") },
                "]",
                hasTrailingComma: true
            )
            if isPublic { code.line("/// The text.") }
            code.line("\(prefix)var rawValue: String { if case .other(let text) = self { text } else { knownText } }")
        }
    }

    /// Adds a list of names, with as many names on each line as fit.
    private static func fill(_ head: String, _ names: [String], _ code: inout CodeLines) {
        var row = ""
        for name in names {
            if !row.isEmpty, head.count + row.count + name.count + 2 > CodeLines.width - 4 {
                code.line(head + row)
                row = ""
            }
            row += row.isEmpty ? name : ", \(name)"
        }
        if !row.isEmpty { code.line(head + row) }
    }

    // MARK: - Structures

    private func writeStructure(_ declaration: Declaration, _ additional: SwiftType?, _ code: inout CodeLines) {
        let properties = names.properties(of: declaration)
        let isSent = declaration.isEncoded
        document(declaration, &code)
        let protocols = (options.isHashable && !declaration.isMultipart ? ["Hashable"] : []) + ["Sendable"]
        code.block("\(prefix)struct \(declaration.name): \(protocols.joined(separator: ", "))") { code in
            for (property, name) in properties {
                let fallback = options.access == .public ? "The value of `\(property.name)`." : nil
                code.documentation(property.description, fallback: fallback, maximumLines: 1)
                code.line(self.declaration(of: property, name, isSent, declaration.isMultipart))
            }
            if let additional {
                if options.access == .public { code.line("/// The members that the document does not list.") }
                let type = names.name(.dictionary(additional))
                code.line(
                    isSent
                        ? "\(prefix)var additionalProperties: \(type) = [:]"
                        : "\(prefix)let additionalProperties: \(type)"
                )
            }
            if !prefix.isEmpty, isSent || declaration.isMultipart {
                writeInitializer(declaration, properties, additional, &code)
            }
        }
        if declaration.isMultipart { return writeParts(declaration, properties, &code) }
        code.line()
        code.block("extension \(declaration.name): \(declaration.codingProtocol)") { code in
            if declaration.isDecoded { writeDecoding(declaration, properties, additional, &code) }
            if declaration.isDecoded, isSent { code.line() }
            if isSent { writeEncoding(properties, additional, &code) }
        }
    }

    private func declaration(
        of property: Declaration.Property,
        _ name: String,
        _ isSent: Bool,
        _ isMultipart: Bool
    ) -> String {
        let isOptional = isOptional(property, isSent)
        let type = typeName(property.type, isMultipart) + (isOptional ? "?" : "")
        let member = SwiftName.escaped(name)
        if property.isBoxed {
            return "@Indirect \(prefix)var \(member): \(type)\(isOptional && isSent ? " = nil" : "")"
        }
        guard isSent else { return "\(prefix)let \(member): \(type)" }
        if let constant = property.constant, !isOptional {
            return "\(prefix)var \(member) = \(SwiftName.literal(constant))"
        }
        return "\(prefix)var \(member): \(type)"
    }

    /// Returns whether a property is optional.
    ///
    /// A property that only the service sets is optional too, because the app does not have to provide it.
    private func isOptional(_ property: Declaration.Property, _ isSent: Bool) -> Bool {
        property.isOptional || (isSent && property.isReadOnly)
    }

    private func typeName(_ type: SwiftType, _ isMultipart: Bool) -> String {
        guard isMultipart else { return names.name(type) }
        if type == .file { return "FilePart" }
        if type == .list(.file) { return "[FilePart]" }
        return names.name(type)
    }

    private func writeInitializer(
        _ declaration: Declaration,
        _ properties: [(property: Declaration.Property, name: String)],
        _ additional: SwiftType?,
        _ code: inout CodeLines
    ) {
        code.line()
        if options.access == .public { code.line("/// Creates a value.") }
        var parameters = properties.map { property, name in
            let isOptional = isOptional(property, true)
            let type = typeName(property.type, declaration.isMultipart) + (isOptional ? "?" : "")
            let constant = property.constant.flatMap { isOptional ? nil : SwiftName.literal($0) }
            return "\(SwiftName.label(name)): \(type)" + (isOptional ? " = nil" : constant.map { " = \($0)" } ?? "")
        }
        if let additional { parameters.append("additionalProperties: \(names.name(.dictionary(additional))) = [:]") }
        code.list("\(prefix)init(", parameters.map { .text($0) }, ") {")
        code.indented { code in
            for (_, name) in properties { code.line("self.\(SwiftName.afterDot(name)) = \(SwiftName.escaped(name))") }
            if additional != nil { code.line("self.additionalProperties = additionalProperties") }
        }
        code.line("}")
    }

    // MARK: - Coding

    private func writeDecoding(
        _ declaration: Declaration,
        _ properties: [(property: Declaration.Property, name: String)],
        _ additional: SwiftType?,
        _ code: inout CodeLines
    ) {
        if options.access == .public { code.line("/// Reads a value.") }
        if properties.isEmpty, additional == nil {
            return code.line("\(prefix)init(from decoder: any Decoder) throws { _ = try decoder.fields() }")
        }
        code.block("\(prefix)init(from decoder: any Decoder) throws") { code in
            code.line("let fields = try decoder.fields()")
            for (property, name) in properties {
                let function = Self.decodingFunction(property, isOptional(property, declaration.isEncoded))
                let target = ["decoder", "fields"].contains(name) ? "self.\(name)" : SwiftName.escaped(name)
                code.assignment(target, "try fields.\(function)(\(SwiftName.literal(property.name)))")
            }
            guard additional != nil else { return }
            code.list(
                "additionalProperties = try fields.others(than: [",
                properties.map { .text(SwiftName.literal($0.property.name)) },
                "])",
                hasTrailingComma: true
            )
        }
    }

    private static func decodingFunction(_ property: Declaration.Property, _ isOptional: Bool) -> String {
        switch property.type {
        case .date(.unixTime): isOptional ? "optionalUnixTime" : "unixTime"
        case .date(.rfc2822): isOptional ? "optionalHTTPDate" : "httpDate"
        default: isOptional ? "optional" : "value"
        }
    }

    private func writeEncoding(
        _ properties: [(property: Declaration.Property, name: String)],
        _ additional: SwiftType?,
        _ code: inout CodeLines
    ) {
        if options.access == .public { code.line("/// Writes the value.") }
        code.block("\(prefix)func encode(to encoder: any Encoder) throws") { code in
            if properties.isEmpty, additional == nil {
                return code.line("_ = encoder.container(keyedBy: FieldName.self)")
            }
            code.line("var fields = encoder.container(keyedBy: FieldName.self)")
            for (property, name) in properties {
                let source = ["encoder", "fields"].contains(name) ? "self.\(name)" : SwiftName.escaped(name)
                let function = Self.encodingFunction(property)
                code.line("try fields.\(function)(\(source), \(SwiftName.literal(property.name)))")
            }
            if additional != nil { code.line("try fields.write(others: additionalProperties)") }
        }
    }

    private static func encodingFunction(_ property: Declaration.Property) -> String {
        switch property.type {
        case .date(.unixTime): "writeUnixTime"
        case .date(.rfc2822): "writeHTTPDate"
        default: property.isRequired && property.isNullable && !property.isReadOnly ? "writeOrNull" : "write"
        }
    }

    private func writeParts(
        _ declaration: Declaration,
        _ properties: [(property: Declaration.Property, name: String)],
        _ code: inout CodeLines
    ) {
        code.line()
        code.block("extension \(declaration.name): MultipartBody") { code in
            if options.access == .public { code.line("/// Adds the parts to a form.") }
            code.block("\(prefix)func add(to form: inout MultipartForm) throws(APIError)") { code in
                for (property, name) in properties { code.line(part(property, name)) }
            }
        }
    }

    private func part(_ property: Declaration.Property, _ name: String) -> String {
        let source = name == "form" ? "self.form" : SwiftName.escaped(name)
        let key = SwiftName.literal(property.name)
        let isOptional = isOptional(property, true)
        if property.type == .file {
            return "form.add(\(key), files: \(isOptional ? "\(source).map { [$0] }" : "[\(source)]"))"
        }
        if property.type == .list(.file) { return "form.add(\(key), files: \(source))" }
        if let type = property.partType, type != "text/plain" {
            if names.isParameter(property.type), type != "application/json" {
                return "form.add(\(key), \(source), contentType: \(SwiftName.literal(type)))"
            }
            return "try form.add(\(key), json: \(source), contentType: \(SwiftName.literal(type)))"
        }
        return names.isParameter(property.type)
            ? "form.add(\(key), \(source))" : "try form.add(\(key), json: \(source))"
    }
}
