/// What is written for a document.
struct ClientPlan {
    /// A service with its environments.
    struct ServicePlan {
        /// A base URL under the name of its environment.
        struct Environment {
            let name: String
            let url: String
        }

        /// A part of the base URL that the app chooses.
        struct Variable {
            let name: String
            let value: String
            let description: String?
        }

        let name: String
        var environments: [Environment]
        /// The base URL with placeholders; `nil` if nothing is free in it.
        let template: String?
        let variables: [Variable]
        /// Servers that answer when the first does not, by name.
        let fallbacks: [(name: String, url: String)]
    }

    /// A manager: the operations of one tag on one service.
    struct Manager {
        let typeName: String
        let propertyName: String
        let description: String?
        /// The number of the service.
        let service: Int
        var methods: [Method] = []
    }

    /// A scheme by which callers identify themselves.
    struct SecurityScheme {
        enum Kind {
            case bearer
            case basic
            case header(String)
        }

        let name: String
        let kind: Kind
        let description: String?
    }

    let name: String
    let title: String
    let version: String
    let openAPIVersion: String
    var services: [ServicePlan] = []
    var managers: [Manager] = []
    var schemes: [SecurityScheme] = []
    /// The statuses of refusals that are documented, with their names.
    var errors: [(status: Int, name: String, description: String)] = []
    /// Where a refusal says what is wrong; `nil` if that is not known.
    var errorBody: (message: String, fields: String?)?
    /// The type of the body of most refusals.
    var errorType: SwiftType?
}

/// A method of a manager.
struct Method {
    /// A parameter of a method.
    struct Parameter {
        /// How the value is written.
        enum Style {
            case plain
            /// One text with the elements between commas, spaces or other characters.
            case joined(String)
            /// JSON text.
            case json
        }

        let name: String
        let swiftName: String
        let type: SwiftType
        let isRequired: Bool
        let location: OpenAPILocation
        let style: Style
        let description: String?
        /// The only value that is allowed; `nil` if there are several.
        var constant: String?

        /// Whether the caller has to give a value.
        var isDemanded: Bool { isRequired && constant == nil }
    }

    /// The body of a request.
    struct Body {
        enum Kind {
            /// JSON of this content type.
            case json(String)
            case form
            case multipart
            case text(String)
            case bytes(String)
        }

        let kind: Kind
        let type: SwiftType
        let isRequired: Bool
        /// The fields of a form whose lists are written with indexes.
        let deepLists: [String]
    }

    /// What a response is.
    enum Result {
        case none
        case value(SwiftType, isOptional: Bool)
        case text
        case bytes
    }

    let operation: OperationHead
    var name: String
    var parameters: [Parameter]
    var body: Body?
    var result: Result
    /// Whether the response may also be a stream of events.
    var hasEvents = false
    /// Whether a parameter is the key by which a server recognises a repeated write.
    var hasIdempotencyKey = false
    /// The parameters of the query whose lists are written with indexes.
    var deepLists: [String] = []
    /// Whether the request goes without credentials; `nil` when they go with it.
    var access: Access?
    var list: ListPlan?

    enum Access {
        case none
        case optional
    }
}

/// What the documentation of a method says.
struct OperationHead {
    let path: String
    let method: String
    let id: String?
    let summary: String?
    let description: String?
    let isDeprecated: Bool
    let place: Place
}

/// Where a parameter of a method stands.
typealias OpenAPILocation = Operation.Location

/// How a list is read page by page.
struct ListPlan {
    enum Strategy: String {
        case link
        case nextLink
        case cursor
        case lastID
        case offset
        case page
    }

    let strategy: Strategy
    /// The name of the parameter that names the page; `nil` for links.
    let pageParameter: String?
    let sizeParameter: String?
    let item: SwiftType
    /// The properties that lead from the response to the items; empty for a response that is the list.
    let items: [PathStep]
    let next: [PathStep]
    let total: [PathStep]
    let more: [PathStep]
    /// The property of an item that names it.
    let itemID: PathStep?

    /// A property on the way to a value.
    struct PathStep {
        let name: String
        let isOptional: Bool
        let type: SwiftType
    }
}
