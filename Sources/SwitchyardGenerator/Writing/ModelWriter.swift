/// Generates the model types.
struct ModelWriter {
    let names: TypeNames
    let options: GeneratorOptions
    let texts: PropertyTexts
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
                code.line("case other(String)")
            } else {
                Self.fill("case ", cases.map { SwiftName.escaped($0.name) } + ["other(String)"], &code)
            }
            code.line()
            if isPublic { code.line("/// The values that the document lists, by their texts.") }
            writeTable(cases, &code)
            if isPublic { code.line("/// The text.") }
            code.line("\(prefix)var rawValue: String { if case .other(let text) = self { text } else { knownText } }")
        }
    }

    /// Adds the table of the raw strings of an enum: a dictionary if it fits on one line, otherwise rows of several
    /// cases.
    private func writeTable(_ cases: [(value: String, name: String)], _ code: inout CodeLines) {
        let head = "\(prefix)static let known: [String: Self] = "
        let pairs = cases.map { "\(SwiftName.literal($0.value)): .\(SwiftName.afterDot($0.name))" }
        let oneLine = "\(head)[\(pairs.joined(separator: ", "))]"
        if oneLine.count + 5 <= CodeLines.width { return code.line(oneLine) }
        func row(_ cases: [(value: String, name: String)]) -> CodeLines.Element {
            let names = cases.map { ".\(SwiftName.afterDot($0.name))" }
            return .call("(", [.text(SwiftName.words(cases.map(\.value))), .list("[", names, "]")], ")")
        }
        let rows = CodeLines.rows(of: cases, width: CodeLines.width - 11) { row($0).oneLine }
        code.list("\(head)table(", rows.map(row), ")")
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
        let protocols = protocols(of: declaration)
        code.block("\(prefix)struct \(declaration.name): \(protocols.joined(separator: ", "))") { code in
            for (property, name) in properties {
                let fallback = options.access == .public ? "The value of `\(property.name)`." : nil
                let text = property.description.flatMap {
                    texts.isKept($0, of: property.name, in: declaration) ? $0 : nil
                }
                code.documentation(text, fallback: fallback, maximumLines: 1)
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
            let isEmpty = properties.isEmpty && additional == nil
            if !prefix.isEmpty, isSent || declaration.isMultipart {
                if !isEmpty { code.line() }
                writeInitializer(declaration, properties, additional, &code)
            }
            if declaration.isMultipart {
                if !isEmpty || !prefix.isEmpty { code.line() }
                return writeParts(properties, &code)
            }
            if declaration.isDecoded {
                if !isEmpty || (isSent && !prefix.isEmpty) { code.line() }
                if options.access == .public { code.line("/// The members of the JSON object.") }
                writeNames("fields = Fields", ["Self.init"], properties, isSent, &code)
            }
            if isSent {
                if !declaration.isDecoded {
                    if !isEmpty || !prefix.isEmpty { code.line() }
                    if options.access == .public { code.line("/// The names of the members.") }
                    writeNames("names = FieldNames", [], properties, isSent, &code)
                }
                writeValues(properties, additional, &code)
            }
        }
    }

    private func protocols(of declaration: Declaration) -> [String] {
        if declaration.isMultipart { return ["MultipartBody"] }
        var protocols = options.isHashable ? ["Hashable"] : []
        switch (declaration.isDecoded, declaration.isEncoded) {
        case (true, true): protocols.append("ObjectCodable")
        case (true, false): protocols.append("ObjectDecodable")
        case (false, true): protocols.append("ObjectEncodable")
        case (false, false): protocols.append("Sendable")
        }
        return protocols
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
        let mark = isOptional ? ": \(type)" : ""
        if let value = value(of: property) { return "\(prefix)var \(member)\(mark) = \(SwiftName.literal(value))" }
        return "\(prefix)var \(member): \(type)"
    }

    /// Returns whether a property is optional.
    ///
    /// A property that only the service sets is optional too, because the app does not have to provide it.
    private func isOptional(_ property: Declaration.Property, _ isSent: Bool) -> Bool {
        property.isOptional || (isSent && property.isReadOnly)
    }

    /// Returns the value that a property of a sent structure has unless the caller sets another value, or `nil` if
    /// there is none.
    private func value(of property: Declaration.Property) -> String? {
        property.isReadOnly ? nil : property.defaultValue
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
        if options.access == .public { code.line("/// Creates a value.") }
        var parameters = properties.map { property, name in
            let isOptional = isOptional(property, true)
            let type = typeName(property.type, declaration.isMultipart) + (isOptional ? "?" : "")
            let value = value(of: property).map(SwiftName.literal) ?? (isOptional ? "nil" : nil)
            return "\(SwiftName.label(name)): \(type)\(value.map { " = \($0)" } ?? "")"
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

    /// Adds the constant that lists the members' names in the order of the initializer's parameters.
    private func writeNames(
        _ head: String,
        _ first: [String],
        _ properties: [(property: Declaration.Property, name: String)],
        _ isSent: Bool,
        _ code: inout CodeLines
    ) {
        let marks: [(label: String, isMarked: (Declaration.Property) -> Bool)] = [
            ("unixTimes", { $0.type == .date(.unixTime) }), ("emailDates", { $0.type == .date(.rfc2822) }),
            ("nulls", { isSent && $0.isRequired && $0.isNullable && !$0.isReadOnly }),
        ]
        var arguments = first + Self.wordRows(properties.map(\.property.name))
        for (label, isMarked) in marks {
            let names = properties.map(\.property).filter(isMarked).map(\.name)
            if !names.isEmpty { arguments += Self.wordRows(names, label: "\(label): ") }
        }
        code.list("\(prefix)static let \(head)(", arguments.map { .text($0) }, ")")
    }

    /// Returns the lines of a list of names, each a list of as many names as fit.
    static func wordRows(_ names: [String], label: String = "", depth: Int = 2) -> [String] {
        let width = CodeLines.width - depth * 4 - 1 - label.count
        let rows = CodeLines.rows(of: names, width: width, SwiftName.words).map(SwiftName.words)
        return rows.enumerated().map { $0.offset == 0 ? label + $0.element : $0.element }
    }

    /// Adds the values of the members, in the order of their names.
    private func writeValues(
        _ properties: [(property: Declaration.Property, name: String)],
        _ additional: SwiftType?,
        _ code: inout CodeLines
    ) {
        if options.access == .public { code.line("/// The values of the members.") }
        code.property("\(prefix)var fieldValues: FieldValues", values: properties.map { SwiftName.escaped($0.name) })
        guard additional != nil else { return }
        if options.access == .public { code.line("/// The members that the document does not list.") }
        code.line("\(prefix)var otherValues: [String: any Encodable] { additionalProperties }")
    }

    private func writeParts(
        _ properties: [(property: Declaration.Property, name: String)],
        _ code: inout CodeLines
    ) {
        if options.access == .public { code.line("/// Adds the parts to a form.") }
        code.block("\(prefix)func add(to form: inout MultipartForm) throws(APIError)") { code in
            for (property, name) in properties { code.line(part(property, name)) }
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
