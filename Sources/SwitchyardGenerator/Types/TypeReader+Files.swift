/// The parts of the reader for multipart forms and their files.
extension TypeReader {
    /// Returns the type of a multipart form.
    ///
    /// In this type, files are `FilePart` values and not text in base 64. If `isOnlyBody` is `false`, the request can
    /// have a JSON body instead, which contains what the form leaves out.
    func multipartType(
        of schema: Place,
        _ origin: Origin,
        isOnlyBody: Bool
    ) throws(GeneratorError) -> SwiftType {
        let target = try document.resolved(schema)
        let facts = try SchemaFacts(target)
        let parts = try facts.allOf + facts.alternatives
        guard facts.isObject || !parts.isEmpty else { return .dictionary(.json) }
        let origin = schema["$ref"] == nil ? origin : Self.origin(of: target)
        let declaration = try formDeclaration(target, origin, isOnlyBody: isOnlyBody)
        return .declared(declaration.id)
    }

    /// Returns whether a schema describes an object with a property that is a file or a list of files.
    ///
    /// If `isExact` is `true`, a property that can also be something else does not count.
    func hasFiles(_ schema: Place?, isExact: Bool, depth: Int = 0) throws(GeneratorError) -> Bool {
        guard let schema, depth < 10 else { return false }
        let target = try document.resolved(schema)
        for (_, property) in try target.object("properties")?.members ?? []
        where try isFile(property, isExact: isExact) {
            return true
        }
        for part in try target.list("allOf") + target.list("oneOf") + target.list("anyOf")
        where try hasFiles(part, isExact: isExact, depth: depth + 1) {
            return true
        }
        return false
    }

    /// Returns whether the values of a schema are files or lists of files: all values if `isExact` is `true`, otherwise
    /// some of them.
    private func isFile(_ schema: Place, isExact: Bool, depth: Int = 0) throws(GeneratorError) -> Bool {
        guard depth < 10 else { return false }
        let target = try document.resolved(schema)
        guard target.node.isMap else { return false }
        if try SchemaFacts(target).isFile { return true }
        if let items = target["items"] { return try isFile(items, isExact: isExact, depth: depth + 1) }
        var count = 0
        var files = 0
        for alternative in try target.list("oneOf") + target.list("anyOf") where try !isNull(alternative) {
            count += 1
            if try isFile(alternative, isExact: isExact, depth: depth + 1) { files += 1 }
        }
        return files > 0 && (!isExact || files == count)
    }

    /// Replaces the type of a property of a form by a file or a list of files if the property can be one of them.
    ///
    /// The other alternatives of the property are left out, because the generated form sends a property only as a file
    /// or only as a field.
    func setFileType(of property: inout Declaration.Property, in form: Declaration, isOnlyBody: Bool) {
        guard case .declared(let id) = property.type, case .union(let variants, _) = declarations[id].kind else {
            return
        }
        let types = Set(variants.map(\.type))
        guard types.contains(.file) || types.contains(.list(.file)) else { return }
        property.type = types.contains(.list(.file)) ? .list(.file) : .file
        if isOnlyBody, !types.isSubset(of: [.file, .list(.file)]) {
            note(.skipped, "the part \"\(property.name)\" of the form is always a file", at: form.place)
        }
    }
}
