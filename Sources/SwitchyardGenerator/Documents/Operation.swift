/// An operation of an OpenAPI document: a method of a path.
struct Operation {
    /// The part of a request that contains a parameter.
    enum Location: String {
        case path
        case query
        case header
        case cookie
    }

    /// A parameter of an operation.
    struct Parameter {
        let name: String
        let location: Location
        let isRequired: Bool
        let isDeprecated: Bool
        let style: String
        let explodes: Bool
        let schema: Place?
        let description: String?
        let place: Place

        /// Whether another parameter has the same name and location.
        ///
        /// The case of the name of a header field is ignored (RFC 9110 section 5.1).
        func isNamed(like other: Parameter) -> Bool {
            guard location == other.location else { return false }
            return location == .header ? name.lowercased() == other.name.lowercased() : name == other.name
        }
    }

    /// The description of a request body or response body for one content type.
    struct Content {
        let type: String
        /// The media type object of the document, with the schema of the body.
        let place: Place
        var schema: Place? { place["schema"] }
    }

    /// A response of an operation.
    struct Response {
        /// The status code, a range such as `2XX`, or `default`.
        let status: String
        let description: String?
        let contents: [Content]
        /// The names of the documented header fields, in lower case.
        let headers: Set<String>
        let place: Place
    }

    let path: String
    /// The HTTP method in lower case, as in the document.
    let method: String
    let id: String?
    let tag: String?
    let summary: String?
    let description: String?
    let isDeprecated: Bool
    let parameters: [Parameter]
    let bodies: [Content]
    let isBodyRequired: Bool
    let responses: [Response]
    /// The security requirements of the operation, or `nil` if the document's requirements apply.
    let security: [Place]?
    /// The servers of the operation or its path, or an empty array if the document's servers apply.
    let servers: [Place]
    let place: Place

    /// Whether a parameter makes a GET request conditional: the server responds with 304 if the caller's copy is still
    /// current (RFC 9110 section 13.1).
    ///
    /// `If-Modified-Since` counts only if the document describes the 304 response, because some services use the field
    /// as a filter of a list.
    func isReadCondition(_ parameter: Parameter) -> Bool {
        guard method == "get", parameter.location == .header else { return false }
        switch parameter.name.lowercased() {
        case "if-none-match": return true
        case "if-modified-since": return responses.contains { $0.status == "304" }
        default: return false
        }
    }
}
