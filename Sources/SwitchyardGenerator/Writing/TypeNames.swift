/// Returns the names of types and properties in the generated code.
struct TypeNames {
    let graph: TypeGraph

    /// Returns the Swift name of a type.
    func name(_ type: SwiftType) -> String {
        switch type {
        case .bool: "Bool"
        case .int: "Int"
        case .int64: "Int64"
        case .double: "Double"
        case .string: "String"
        case .date: "Date"
        case .day: "CalendarDay"
        case .data, .file: "Data"
        case .json: "JSONValue"
        case .list(let element): "[\(name(element))]"
        case .dictionary(let value): "[String: \(name(value))]"
        case .optional(let value): "\(name(value))?"
        case .declared(let id): graph[id].name
        }
    }

    /// Returns whether a value of this type can be a query or form parameter without an encoder.
    func isParameter(_ type: SwiftType) -> Bool {
        switch type {
        case .bool, .int, .int64, .double, .string, .date, .day, .data, .file: true
        case .json, .dictionary, .optional: false
        case .list(let element): isParameter(element)
        case .declared(let id): if case .openEnum = graph[id].kind { true } else { false }
        }
    }

    /// Returns the properties of a structure with their Swift names.
    func properties(of declaration: Declaration) -> [(property: Declaration.Property, name: String)] {
        guard case .structure(let properties, _) = declaration.kind else { return [] }
        var table = NameTable(reserved: ["additionalProperties", "fieldValues", "otherValues"])
        return properties.map { ($0, table.unique(SwiftName.member(of: $0.name))) }
    }

    /// Returns whether the generated property at one step of a path of properties is optional.
    ///
    /// In a type that is also sent, a property that only the service sets is optional.
    func isOptional(_ step: ListPlan.PathStep, in type: SwiftType) -> Bool {
        guard let declaration = graph.declaration(of: type), declaration.isEncoded,
            case .structure(let properties, _) = declaration.kind
        else { return step.isOptional }
        return step.isOptional || properties.contains { $0.name == step.name && $0.isReadOnly }
    }

    /// Returns the Swift name of the property at one step of a property path.
    func name(of step: ListPlan.PathStep, in type: SwiftType) -> String {
        guard let declaration = graph.declaration(of: type) else { return SwiftName.member(of: step.name) }
        return properties(of: declaration).first { $0.property.name == step.name }?.name
            ?? SwiftName.member(of: step.name)
    }
}
