/// Functions that find the error responses of a document, and the position of the message in their bodies.
struct ErrorPlanner {
    /// The names of the HTTP status codes (RFC 9110 section 15, RFC 6585 and others).
    private static let names: [Int: String] = [
        304: "notModified",
        400: "badRequest", 401: "unauthorized", 402: "paymentRequired", 403: "forbidden", 404: "notFound",
        405: "methodNotAllowed", 406: "notAcceptable", 407: "proxyAuthenticationRequired", 408: "requestTimeout",
        409: "conflict", 410: "gone", 411: "lengthRequired", 412: "preconditionFailed", 413: "contentTooLarge",
        414: "uriTooLong", 415: "unsupportedMediaType", 416: "rangeNotSatisfiable", 417: "expectationFailed",
        421: "misdirectedRequest", 422: "unprocessableContent", 423: "locked", 424: "failedDependency", 425: "tooEarly",
        426: "upgradeRequired", 428: "preconditionRequired", 429: "tooManyRequests", 431: "headerFieldsTooLarge",
        451: "unavailableForLegalReasons", 500: "internalServerError", 501: "notImplemented", 502: "badGateway",
        503: "serviceUnavailable", 504: "gatewayTimeout", 507: "insufficientStorage",
    ]

    /// Returns the documented statuses from 400 to 599 with their names.
    ///
    /// Status 304 is included if a parameter makes a GET request conditional.
    static func errors(of operations: [Operation]) -> [(status: Int, name: String, description: String)] {
        var texts: [Int: String] = [:]
        for operation in operations {
            let hasCondition = operation.parameters.contains(where: operation.isReadCondition)
            for response in operation.responses {
                guard let status = Int(response.status),
                    (400...599).contains(status) || status == 304 && hasCondition
                else { continue }
                texts[status] = texts[status] ?? response.description ?? ""
            }
        }
        return texts.sorted { $0.key < $1.key }.map { ($0.key, names[$0.key] ?? "status\($0.key)", $0.value) }
    }

    /// Returns the most frequent schema of JSON error bodies, or `nil` if no error body has a schema.
    static func commonSchema(of operations: [Operation], in document: OpenAPIDocument) throws(GeneratorError) -> Place?
    {
        var counts: [String: (count: Int, order: Int, place: Place)] = [:]
        for response in operations.flatMap(\.responses) {
            guard response.status.hasPrefix("4") || response.status.hasPrefix("5") || response.status == "default",
                let content = response.contents.first(where: { MethodPlanner.isJSON(MethodPlanner.essence($0.type)) }),
                let schema = content.schema
            else { continue }
            let target = try document.resolved(schema)
            let earlier = counts[target.key] ?? (0, counts.count, schema)
            counts[target.key] = (earlier.count + 1, earlier.order, earlier.place)
        }
        return counts.values.max { ($0.count, -$0.order) < ($1.count, -$1.order) }?.place
    }

    /// Returns the paths to the message and to the errors of fields in an error body of this type, or `nil` if it has
    /// no message.
    static func body(of type: SwiftType, in graph: TypeGraph) -> (message: String, fields: String?)? {
        guard case .structure(let properties, _)? = graph.declaration(of: type)?.kind else { return nil }
        let fields = properties.first { ["errors", "fields", "field_errors"].contains($0.name) }?.name
        for name in ["message", "detail", "error_description", "title", "msg"]
        where properties.contains(where: { $0.name == name }) {
            return (name, fields)
        }
        guard let error = properties.first(where: { $0.name == "error" }) else { return nil }
        if error.type == .string { return ("error", fields) }
        return body(of: error.type, in: graph).map { ("error.\($0.message)", $0.fields.map { "error.\($0)" }) }
    }
}
