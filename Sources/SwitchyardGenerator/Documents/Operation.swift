/// An operation of a document.
struct Operation {
    /// The location of a parameter in a request.
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
    }

    /// A request or response body in one content type.
    struct Content {
        let type: String
        /// The media type object.
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
    /// The method in lower case.
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
    /// The security requirements, or `nil` if the document's requirements apply.
    let security: [Place]?
    /// The servers of the operation or its path, or an empty array if the document's servers apply.
    let servers: [Place]
    let place: Place
}
