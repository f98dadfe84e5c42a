/// Functions that name the generated types.
struct TypeNamer {
    /// The names of Swift, Foundation and the library that generated types must not have.
    static let reserved: Set<String> = [
        "Any", "AnyObject", "Array", "Bool", "Boxed", "CalendarDay", "Character", "Codable", "CodingKey", "Comparable",
        "Data", "Date", "Decimal", "Decodable", "Decoder", "Dictionary", "Double", "Duration", "Encodable", "Encoder",
        "Equatable", "Error", "FieldName", "FieldReader", "Fields", "FieldValue", "FilePart", "Float", "Hashable",
        "HTTPHeaders", "HTTPMethod",
        "Identifiable", "Indirect", "Int", "Int32", "Int64", "JSONDecoder", "JSONEncoder", "JSONValue", "Locale",
        "ModuleErrorCode", "ModuleErrors", "MultipartForm", "MultipartPart", "Never", "NSError", "OpenEnum", "Optional",
        "Page", "PageRecorder", "PageRequest", "PageStrategy", "PagedList", "ParameterConvertible", "Parameters",
        "ParameterValue", "Protocol", "Range", "RequestBody", "Result", "Self", "Sendable", "Sequence", "Server",
        "Service", "ServiceEnvironment", "Set", "String", "Substring", "Task", "Type", "UInt", "UInt8", "URL",
        "URLRequest",
        "UUID", "Void", "Credential", "Credentials", "NetworkClient", "APIConfiguration", "APIError", "APIManager",
        "APIModule", "APIResponse", "ErrorBody", "ItemSequence", "ServiceCatalog", "CatalogError", "Thread", "Timer",
        "Notification", "ObjectDecodable", "Words", "Bundle", "Process", "Stream", "Host", "Progress", "Operation",
        "Measurement", "Unit", "FieldNames", "FieldValues", "ObjectCodable", "ObjectEncodable", "DecodableUnion",
        "EncodableUnion", "UnionCase", "UnionCases", "IdempotencyKey", "CachePolicy", "EmptyBody",
        "Calendar", "TimeZone", "Foundation", "Switchyard", "View", "App", "Scene", "Text", "Image", "Button", "List",
    ]

    /// Sets the names of all types of a graph.
    ///
    /// A component of the document (an entry of `components/schemas`) keeps its own name. Any other type receives the
    /// shortest name that is derived from the places where it is used.
    ///
    /// - Parameters:
    ///   - graph: The types.
    ///   - taken: The names of managers and other generated types.
    static func name(_ graph: TypeGraph, taken: Set<String>) {
        var table = NameTable(reserved: taken.union(reserved))
        let used = graph.used
        for declaration in used.filter({ $0.component != nil }).sorted(by: {
            ($0.component ?? "", $0.id) < ($1.component ?? "", $1.id)
        }) {
            let name = SwiftName.type(shortened(SwiftName.words(of: declaration.component ?? "")))
            declaration.name = table.unique(of: [name, "\(name)Model"])
        }
        let inline = used.filter { $0.component == nil }.map { declaration in
            (declaration, names: names(from: graph.hints[declaration.id] ?? [declaration.hint]))
        }
        for (declaration, names) in inline.sorted(by: { ($0.names[0], $0.0.id) < ($1.names[0], $1.0.id) }) {
            declaration.name = table.unique(of: names + ["\(names[0])Model"])
        }
    }

    private static func names(from hints: [String]) -> [String] {
        Set(hints.map { SwiftName.type(shortened(SwiftName.words(of: $0))) })
            .sorted { ($0.count, $0) < ($1.count, $1) }
    }

    /// The maximum length of a name in characters.
    ///
    /// Longer names are shortened.
    private static let maximumLength = 60

    /// Removes words that repeat the word before them.
    ///
    /// If the name is still too long, also removes all other repetitions, and then words in the middle.
    private static func shortened(_ words: [String]) -> [String] {
        var result: [String] = []
        for word in words where result.last != word { result.append(word) }
        func isLong() -> Bool { result.reduce(0) { $0 + $1.count } > maximumLength }
        guard isLong() else { return result }
        var seen: Set<String> = []
        result = result.reversed().filter { seen.insert($0).inserted }.reversed()
        while isLong(), result.count > 4 { result.remove(at: min(3, result.count / 2)) }
        return result
    }
}
