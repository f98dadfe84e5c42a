/// Reads the operations of a document.
struct OperationReader {
    static let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]

    let document: OpenAPIDocument

    /// Returns the operations in the order of the document.
    ///
    /// - Parameter isChosen: A function that returns whether the operation with this path, method, identifier and tag
    ///   is included.
    /// - Returns: The operations.
    /// - Throws: ``GeneratorError`` for the first error, such as two operations with the same identifier.
    func operations(
        where isChosen: (_ path: String, _ method: String, _ id: String?, _ tag: String?) -> Bool = { _, _, _, _ in true
        }
    ) throws(GeneratorError) -> [Operation] {
        guard let paths = try document.root.object("paths") else { return [] }
        var operations: [Operation] = []
        var identifiers: Set<String> = []
        for (path, item) in paths.members where !path.hasPrefix("x-") {
            guard path.hasPrefix("/") else { throw item.error("the path \"\(path)\" must start with \"/\"") }
            let item = try document.resolved(item)
            guard item.node.isMap else { throw item.error("a path must be an object, not \(item.node.kindName)") }
            for method in Self.methods {
                guard let place = try item.object(method).map(document.resolved) else { continue }
                let id = place.text("operationId")
                if let id, !identifiers.insert(id).inserted {
                    throw place.error("the operationId \"\(id)\" occurs twice")
                }
                let tag = place["tags"]?.elements.first?.node.scalarText
                guard isChosen(path, method, id, tag) else { continue }
                operations.append(try operation(path, method, place, item, id, tag))
            }
        }
        return operations
    }

    private func operation(
        _ path: String,
        _ method: String,
        _ place: Place,
        _ item: Place,
        _ id: String?,
        _ tag: String?
    ) throws(GeneratorError) -> Operation {
        let body = try place.object("requestBody").map(document.resolved)
        let own = try place.list("servers")
        return Operation(
            path: path,
            method: method,
            id: id,
            tag: tag,
            summary: place.text("summary") ?? item.text("summary"),
            description: place.text("description") ?? item.text("description"),
            isDeprecated: try place.flag("deprecated"),
            parameters: try parameters(of: place, in: item, path),
            bodies: try body.map(contents) ?? [],
            isBodyRequired: try body?.flag("required") ?? false,
            responses: try responses(of: place),
            security: place["security"].map(\.elements),
            servers: own.isEmpty ? try item.list("servers") : own,
            place: place
        )
    }

    /// Returns the parameters of an operation, and the parameters of its path that the operation does not override.
    private func parameters(
        of place: Place,
        in item: Place,
        _ path: String
    ) throws(GeneratorError) -> [Operation.Parameter] {
        var parameters: [Operation.Parameter] = []
        let own = try place.list("parameters")
        for place in try item.list("parameters") + own {
            let parameter = try parameter(at: document.resolved(place))
            let same = parameters.firstIndex { $0.isNamed(like: parameter) }
            if let same { parameters[same] = parameter } else { parameters.append(parameter) }
        }
        let names = Self.placeholders(of: path)
        for name in names where !parameters.contains(where: { $0.location == .path && $0.name == name }) {
            parameters.append(Self.undeclared(name, at: place))
        }
        return parameters.filter { $0.location != .path || names.contains($0.name) }
    }

    /// Returns a text parameter for a placeholder in the path that no parameter of the document describes.
    private static func undeclared(_ name: String, at place: Place) -> Operation.Parameter {
        Operation.Parameter(
            name: name,
            location: .path,
            isRequired: true,
            isDeprecated: false,
            style: "simple",
            explodes: false,
            schema: nil,
            description: nil,
            place: place
        )
    }

    private func parameter(at place: Place) throws(GeneratorError) -> Operation.Parameter {
        guard let name = try place.string("name") else { throw place.error("a parameter must have a \"name\"") }
        let text = try place.string("in") ?? ""
        guard let location = Operation.Location(rawValue: text) else {
            throw place.error(
                "the location \"\(text)\" of the parameter \"\(name)\" is invalid: must be path, query, header or cookie"
            )
        }
        let isForm = location == .query || location == .cookie
        let style = try place.string("style") ?? (isForm ? "form" : "simple")
        let schema = try place.object("schema") ?? place["content"]?.members.first?.place["schema"]
        return Operation.Parameter(
            name: name,
            location: location,
            isRequired: location == .path ? true : try place.flag("required"),
            isDeprecated: try place.flag("deprecated"),
            style: place["content"] == nil ? style : "content",
            explodes: place["explode"] == nil ? style == "form" : try place.flag("explode"),
            schema: schema,
            description: place.text("description"),
            place: place
        )
    }

    private func contents(of place: Place) throws(GeneratorError) -> [Operation.Content] {
        try place.object("content")?.members.map { Operation.Content(type: $0.key, place: $0.place) } ?? []
    }

    private func responses(of place: Place) throws(GeneratorError) -> [Operation.Response] {
        guard let responses = try place.object("responses") else { return [] }
        var result: [Operation.Response] = []
        for (status, place) in responses.members where !status.hasPrefix("x-") {
            let response = try document.resolved(place)
            result.append(
                Operation.Response(
                    status: status.uppercased() == "DEFAULT" ? "default" : status.uppercased(),
                    description: response.text("description"),
                    contents: try contents(of: response),
                    headers: Set(response["headers"]?.members.map { $0.key.lowercased() } ?? []),
                    place: response
                )
            )
        }
        return result
    }

    /// Returns the names of the placeholders in a path, such as `id` in `/orders/{id}`.
    static func placeholders(of path: String) -> [String] {
        path.matches(of: /\{([^{}]+)\}/).map { String($0.1) }
    }
}
