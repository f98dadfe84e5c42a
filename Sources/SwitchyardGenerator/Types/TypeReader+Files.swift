/// The parts of the reader for multipart forms and their files.
extension TypeReader {
    /// Returns the type of a multipart form.
    ///
    /// In this type, files are `FilePart` values and not text in base 64.
    func multipartType(of schema: Place, _ origin: Origin) throws(GeneratorError) -> SwiftType {
        let target = try document.resolved(schema)
        let facts = try SchemaFacts(target)
        let parts = try facts.allOf
        guard facts.isObject || !parts.isEmpty else { return .dictionary(.json) }
        let declaration = try formDeclaration(target, schema["$ref"] == nil ? origin : Self.origin(of: target))
        return .declared(declaration.id)
    }

    /// Returns whether a schema describes an object with a property that is a file or a list of files.
    func hasFiles(_ schema: Place?, depth: Int = 0) throws(GeneratorError) -> Bool {
        guard let schema, depth < 10 else { return false }
        let target = try document.resolved(schema)
        for (_, property) in try target.object("properties")?.members ?? [] where try isFile(property) { return true }
        for part in try target.list("allOf") where try hasFiles(part, depth: depth + 1) { return true }
        return false
    }

    /// Returns whether all values of a schema are files or lists of files.
    private func isFile(_ schema: Place, depth: Int = 0) throws(GeneratorError) -> Bool {
        guard depth < 10 else { return false }
        let target = try document.resolved(schema)
        guard target.node.isMap else { return false }
        if target.text("format") == "binary" { return true }
        if let items = target["items"] { return try isFile(items, depth: depth + 1) }
        let alternatives = try target.list("oneOf") + target.list("anyOf")
        for alternative in alternatives where try !isFile(alternative, depth: depth + 1) { return false }
        return !alternatives.isEmpty
    }

    /// Returns a list of files if a property of a form is either a file or a list of files, otherwise the type itself.
    func fileList(_ type: SwiftType) -> SwiftType {
        guard case .declared(let id) = type, case .union(let variants, _) = declarations[id].kind else { return type }
        return variants.allSatisfy { [.file, .list(.file)].contains($0.type) } ? .list(.file) : type
    }
}
