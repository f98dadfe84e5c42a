/// Plans the methods of managers from the operations of a document.
struct MethodPlanner {
    let reader: TypeReader
    let options: GeneratorOptions

    /// The names that parameters must not have, because members of a manager or generated local constants have them.
    static let reservedNames: Set<String> = ["self", "client", "module", "fileName"]

    /// Returns the method for an operation.
    ///
    /// Its final name is set later.
    func method(of operation: Operation, words: [String]) throws(GeneratorError) -> Method {
        let hint = words.joined(separator: " ")
        var method = Method(
            operation: OperationHead(
                path: operation.path,
                method: operation.method,
                id: operation.id,
                summary: operation.summary,
                description: operation.description,
                isDeprecated: operation.isDeprecated,
                place: operation.place
            ),
            name: hint,
            parameters: [],
            body: try body(of: operation, hint),
            result: .none
        )
        method.form = try form(of: operation, hint)
        try addParameters(of: operation, hint, to: &method)
        try addResult(of: operation, hint, to: &method)
        return method
    }

    // MARK: - Parameters

    private static let ignoredHeaders: Set<String> = ["accept", "content-type", "authorization", "content-length"]

    private func addParameters(of operation: Operation, _ hint: String, to method: inout Method) throws(GeneratorError)
    {
        method.hasIdempotencyKey = operation.parameters.contains(where: Self.isIdempotencyKey)
        method.readConditions = operation.parameters.filter(operation.isReadCondition).map(\.name)
        var table = NameTable(reserved: Self.reservedNames.union(["body"] + method.optionNames))
        for parameter in operation.parameters where !Self.isIdempotencyKey(parameter) {
            let name = parameter.name.lowercased()
            if parameter.location == .header, Self.ignoredHeaders.contains(name) { continue }
            guard let planned = try self.parameter(parameter, hint, &table, &method) else { continue }
            method.parameters.append(planned)
        }
        let ordered = method.parameters.enumerated().sorted { left, right in
            (rank(left.element), left.offset) < (rank(right.element), right.offset)
        }
        method.parameters = ordered.map(\.element)
    }

    private static func isIdempotencyKey(_ parameter: Operation.Parameter) -> Bool {
        parameter.location == .header && parameter.name.lowercased() == "idempotency-key"
    }

    private func rank(_ parameter: Method.Parameter) -> Int {
        !parameter.isDemanded ? 2 : parameter.location == .path ? 0 : 1
    }

    private func parameter(
        _ parameter: Operation.Parameter,
        _ hint: String,
        _ table: inout NameTable,
        _ method: inout Method
    ) throws(GeneratorError) -> Method.Parameter? {
        var typed = TypedSchema(type: .string)
        if parameter.schema == nil, parameter.place.node["in"] == nil {
            reader.note(
                .untyped,
                "the placeholder \"{\(parameter.name)}\" has no matching parameter, so it accepts any text",
                at: parameter.place
            )
        }
        if let schema = parameter.schema {
            typed = try reader.type(of: schema, .init(component: nil, hint: "\(hint) \(parameter.name)"))
        }
        let style = style(of: parameter, typed.type)
        if parameter.location == .query, reader.mayBeObject(typed.type), parameter.style == "form", parameter.explodes {
            method.exploded.append(parameter.name)
        } else if parameter.style == "deepObject", reader.mayBeList(typed.type) {
            method.deepLists.append(parameter.name)
        }
        if typed.type == .file { typed.type = .string }
        return Method.Parameter(
            name: parameter.name,
            swiftName: table.unique(SwiftName.member(of: parameter.name)),
            type: typed.type,
            isRequired: parameter.isRequired && !typed.isNullable,
            location: parameter.location,
            style: style,
            description: parameter.description,
            constant: typed.constant
        )
    }

    /// Returns the form in which the value of a parameter is written into the request.
    private func style(of parameter: Operation.Parameter, _ type: SwiftType) -> Method.Parameter.Style {
        let isObject = reader.mayBeObject(type)
        let mark = ["label": ".", "matrix": ";"][parameter.style]
        switch (parameter.style, parameter.location) {
        case ("content", _): return .json
        case ("deepObject", _): return .plain
        case (_, .path) where mark != nil || isObject: return .expanded(mark ?? "", explodes: parameter.explodes)
        case (_, .query) where !parameter.explodes && (isObject || reader.mayBeList(type)):
            return .joined(Self.separators[parameter.style] ?? ",")
        case (_, .header) where isObject && parameter.explodes: return .pairs
        default: break
        }
        guard case .list = type, parameter.location != .query else { return .plain }
        return .joined(",")
    }

    // MARK: - Bodies

    private func body(of operation: Operation, _ hint: String) throws(GeneratorError) -> Method.Body? {
        guard let content = try content(of: operation) else { return nil }
        let type = Self.essence(content.type)
        let origin = TypeReader.Origin(component: nil, hint: "\(hint) body")
        func body(_ kind: Method.Body.Kind, _ type: SwiftType, _ fields: Method.FieldStyles = .init()) -> Method.Body {
            Method.Body(kind: kind, type: type, isRequired: operation.isBodyRequired, fields: fields)
        }
        guard let schema = content.schema, Self.isStructured(type) else {
            if Self.isJSON(type) { return body(.json(type), .json) }
            if type == "text/plain" { return body(.text(type), .string) }
            if type.hasSuffix("xml") { reader.note(.untyped, "an XML body is sent as bytes", at: content.place) }
            return body(.bytes(type), .data)
        }
        if type == Self.multipart {
            return body(.multipart, try multipartType(schema, content.place["encoding"], origin, isOnlyBody: true))
        }
        let typed = try reader.type(of: schema, origin).type
        if type == "application/x-www-form-urlencoded" {
            // If the schema of a form lists no fields, the method has no body.
            if case .declared(let id) = typed, case .structure(let properties, nil) = reader.declarations[id].kind,
                properties.isEmpty
            {
                return nil
            }
            return body(.form, typed, try fieldStyles(of: typed, content.place["encoding"]))
        }
        if type == "*/*", typed == .string || typed == .file { return body(.bytes(type), .data) }
        return body(.json(type), typed)
    }

    private static let multipart = "multipart/form-data"

    /// Returns the content type to use for a body: a multipart form if the JSON schema has files, which JSON cannot
    /// contain, otherwise the preferred content type.
    private func content(of operation: Operation) throws(GeneratorError) -> Operation.Content? {
        let preferred = Self.preferred(operation.bodies)
        guard let form = operation.bodies.first(where: { Self.essence($0.type) == Self.multipart }),
            try reader.hasFiles(preferred?.schema, isExact: true)
        else { return preferred }
        return form
    }

    /// Returns the multipart form that can be sent in place of a JSON body and that has files, or `nil` if there is
    /// none.
    private func form(of operation: Operation, _ hint: String) throws(GeneratorError) -> Method.Body? {
        guard let chosen = try content(of: operation), Self.isJSON(Self.essence(chosen.type)),
            let form = operation.bodies.first(where: { Self.essence($0.type) == Self.multipart }),
            let schema = form.schema, try reader.hasFiles(schema, isExact: false)
        else { return nil }
        let origin = TypeReader.Origin(component: nil, hint: "\(hint) form")
        let type = try multipartType(schema, form.place["encoding"], origin, isOnlyBody: false)
        return Method.Body(kind: .multipart, type: type, isRequired: true, label: "form")
    }

    /// Returns the form fields for which the encoding sets a style, so that they are not written as by default.
    private func fieldStyles(of type: SwiftType, _ encoding: Place?) throws(GeneratorError) -> Method.FieldStyles {
        var styles = Method.FieldStyles()
        guard case .declared(let id) = type, case .structure(let properties, _) = reader.declarations[id].kind else {
            return styles
        }
        for property in properties {
            guard let place = encoding?[property.name], place["style"] != nil || place["explode"] != nil else {
                continue
            }
            let (isList, isObject) = (reader.mayBeList(property.type), reader.mayBeObject(property.type))
            let style = place.text("style") ?? "form"
            let explodes = place["explode"] == nil ? style == "form" : try place.flag("explode")
            if style == "deepObject" {
                if isList { styles.deepLists.append(property.name) }
            } else if !explodes, isList || isObject {
                styles.joined.append((property.name, Self.separators[style] ?? ","))
            } else if explodes, isObject, style == "form" {
                styles.exploded.append(property.name)
            }
        }
        return styles
    }

    /// The text between the elements of a list, or the names and values of an object, by the style of its parameter,
    /// other than a comma.
    private static let separators = ["spaceDelimited": " ", "pipeDelimited": "|"]

    private static func isStructured(_ type: String) -> Bool {
        isJSON(type) || type == multipart || type == "application/x-www-form-urlencoded"
    }

    private func multipartType(
        _ schema: Place,
        _ encoding: Place?,
        _ origin: TypeReader.Origin,
        isOnlyBody: Bool
    ) throws(GeneratorError) -> SwiftType {
        let typed = try reader.multipartType(of: schema, origin, isOnlyBody: isOnlyBody)
        guard case .declared(let id) = typed,
            case .structure(var properties, let additional) = reader.declarations[id].kind
        else { return typed }
        for (name, part) in encoding?.members ?? [] {
            guard let index = properties.firstIndex(where: { $0.name == name }) else { continue }
            properties[index].partType = part.text("contentType").flatMap {
                $0.contains(",") || $0.contains("*") ? nil : $0
            }
        }
        reader.declarations[id].kind = .structure(properties, additional: additional)
        return typed
    }

    /// Returns the content type to use if a body has several: JSON, otherwise multipart, a form, plain text, or any
    /// other content except event streams.
    private static func preferred(_ contents: [Operation.Content]) -> Operation.Content? {
        let ranks: [(Operation.Content) -> Bool] = [
            { essence($0.type) == "application/json" },
            { isJSON(essence($0.type)) },
            { essence($0.type) == multipart },
            { essence($0.type) == "application/x-www-form-urlencoded" },
            { essence($0.type) == "text/plain" },
        ]
        for rank in ranks { if let content = contents.first(where: rank) { return content } }
        return contents.first { essence($0.type) != "text/event-stream" }
    }

    /// Returns the content type in lower case, without parameters.
    static func essence(_ type: String) -> String {
        (type.split(separator: ";").first.map(String.init) ?? type).trimmingBlanks.lowercased()
    }

    static func isJSON(_ type: String) -> Bool {
        type == "application/json" || type.hasSuffix("+json") || type == "*/*" || type == "text/json"
            || type == "application/*"
    }

    // MARK: - Responses

    private func addResult(of operation: Operation, _ hint: String, to method: inout Method) throws(GeneratorError) {
        var successes = operation.responses.filter { $0.status.hasPrefix("2") }
        if successes.isEmpty { successes = operation.responses.filter { $0.status == "default" } }
        if successes.isEmpty, operation.responses.contains(where: { $0.status.hasPrefix("3") }),
            operation.method == "get"
        {
            method.result = .bytes
            return
        }
        var schemas: [Place] = []
        var hasEmpty = false
        for response in successes {
            if response.contents.contains(where: { Self.essence($0.type) == "text/event-stream" }) {
                method.hasEvents = true
            }
            guard let content = Self.preferred(response.contents) else {
                hasEmpty = true
                continue
            }
            let type = Self.essence(content.type)
            if Self.isJSON(type) {
                if let schema = content.schema { schemas.append(schema) }
                if content.schema == nil { method.result = .value(.json, isOptional: false) }
            } else if type.hasPrefix("text/") || type == "application/x-www-form-urlencoded" {
                method.result = .text
            } else {
                if type.hasSuffix("xml") {
                    reader.note(.untyped, "an XML response is returned as bytes", at: content.place)
                }
                method.result = .bytes
            }
        }
        try addValue(of: operation, hint, schemas, hasEmpty: hasEmpty, to: &method)
    }

    /// Sets the return type of a method from the schemas of its JSON responses, if there are any.
    private func addValue(
        of operation: Operation,
        _ hint: String,
        _ schemas: [Place],
        hasEmpty: Bool,
        to method: inout Method
    ) throws(GeneratorError) {
        guard !schemas.isEmpty else { return }
        let typed = try reader.type(
            ofAnyOf: schemas,
            at: operation.place["responses"] ?? operation.place,
            .init(component: nil, hint: "\(hint) response")
        )
        if typed.type == .file {
            method.result = .bytes
        } else {
            method.result = .value(typed.type, isOptional: typed.isNullable || hasEmpty)
        }
    }
}

extension TypeReader {
    /// Returns whether a value of a type can be a list.
    func mayBeList(_ type: SwiftType) -> Bool {
        alternatives(of: type).contains { if case .list = $0 { true } else { false } }
    }

    /// Returns whether a value of a type can be an object.
    func mayBeObject(_ type: SwiftType) -> Bool {
        alternatives(of: type).contains { type in
            switch type {
            case .json, .dictionary: true
            case .declared(let id): if case .structure = declarations[id].kind { true } else { false }
            default: false
            }
        }
    }

    /// Returns a type or, for a union, the types of its cases, with the cases of nested unions.
    ///
    /// A union can contain itself.
    private func alternatives(of type: SwiftType) -> Set<SwiftType> {
        var (found, open): (Set, Array) = ([type], [type])
        while let type = open.popLast() {
            guard case .declared(let id) = type, case .union(let variants, _) = declarations[id].kind else { continue }
            for variant in variants where found.insert(variant.type).inserted { open.append(variant.type) }
        }
        return found
    }

    /// Returns the type of a response whose body has one of several schemas.
    func type(ofAnyOf schemas: [Place], at place: Place, _ origin: Origin) throws(GeneratorError) -> TypedSchema {
        if schemas.count == 1 { return try type(of: schemas[0], origin) }
        return try unionType(SchemaFacts(place), schemas, origin)
    }
}
