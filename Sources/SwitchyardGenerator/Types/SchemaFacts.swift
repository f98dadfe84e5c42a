/// The members of a schema that determine its type.
struct SchemaFacts {
    static let kinds: Set<String> = ["string", "integer", "number", "boolean", "array", "object"]

    /// The names in the member `type` of the schema, without `null`.
    let types: [String]
    /// Whether `null` is allowed by `type`, `nullable`, `enum` or `const`.
    let isNullable: Bool
    /// The allowed values without `null`, or `nil` if the schema does not list them.
    let values: [Node]?
    let format: String?
    let place: Place

    init(_ place: Place) throws(GeneratorError) {
        self.place = place
        var types: [String] = []
        if let type = place["type"] {
            let names = type.node.list == nil ? [type] : type.elements
            for name in names {
                guard let text = name.node.scalarText, text == "null" || Self.kinds.contains(text) else {
                    throw name.error(
                        "the type \"\(name.node.scalarText ?? name.node.kindName)\" is invalid: must be one of "
                            + Self.kinds.sorted().joined(separator: ", ") + ", null"
                    )
                }
                types.append(text)
            }
        }
        var values = place["enum"] == nil ? nil : try place.list("enum").map(\.node)
        // An empty `enum` does not help to choose a type.
        if values?.isEmpty == true { values = nil }
        if let constant = place.node["const"] { values = [constant] }
        let saysNullable = try place.flag("nullable")
        isNullable = saysNullable || types.contains("null") || values?.contains(where: \.isNull) == true
        self.types = types.filter { $0 != "null" }
        self.values = values?.filter { !$0.isNull }
        format = place.text("format")
    }

    var hasProperties: Bool { place["properties"] != nil }

    /// Whether the schema describes the bytes of a file.
    ///
    /// OpenAPI 3.1 describes bytes by keywords of JSON Schema, not by `format`.
    var isFile: Bool {
        if let encoding = place.text("contentEncoding") { return encoding == "binary" }
        if let type = place.text("contentMediaType") { return Self.isBinary(type) }
        return format == "binary"
    }

    private static func isBinary(_ type: String) -> Bool {
        ["image/", "audio/", "video/"].contains(where: type.hasPrefix)
            || ["application/octet-stream", "application/pdf", "application/zip"].contains(type)
    }
    var allOf: [Place] { get throws(GeneratorError) { try place.list("allOf") } }

    /// The alternatives in `oneOf` and `anyOf`.
    var alternatives: [Place] {
        get throws(GeneratorError) { try place.list("oneOf") + place.list("anyOf") }
    }

    /// Whether the schema describes an object.
    var isObject: Bool {
        types == ["object"] || (types.isEmpty && (hasProperties || place["additionalProperties"] != nil))
    }

    /// Whether the schema allows every value.
    ///
    /// Its descriptions and examples and the member `required` are ignored.
    var isTrivial: Bool {
        types.isEmpty && values == nil && !hasProperties && place["items"] == nil && place["prefixItems"] == nil
            && place["$ref"] == nil
            && place["allOf"] == nil && place["oneOf"] == nil && place["anyOf"] == nil && place["not"] == nil
            && place["additionalProperties"] == nil && format == nil
    }
}
