/// The plan of a client: everything that is generated for a document.
struct ClientPlan {
    /// A service with its environments.
    struct ServicePlan {
        /// The base URL of one environment.
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
        /// The base URL with placeholders, or `nil` if no part is variable.
        let template: String?
        let variables: [Variable]
        /// The fallback servers, which are used if the first server does not respond, by name.
        let fallbacks: [(name: String, url: String)]
    }

    /// A manager, which contains the operations of one tag on one service.
    struct Manager {
        let typeName: String
        let propertyName: String
        let description: String?
        /// The index of the service.
        let service: Int
        var methods: [Method] = []
    }

    /// An authentication scheme.
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
    /// The documented error statuses with their names.
    var errors: [(status: Int, name: String, description: String)] = []
    /// The location of the message and the fields in an error body, or `nil` if it is unknown.
    var errorBody: (message: String, fields: String?)?
    /// The type of the most frequent error body.
    var errorType: SwiftType?
}

/// A method of a manager.
struct Method {
    /// A parameter of a method.
    struct Parameter {
        /// The serialization of the value.
        enum Style {
            case plain
            /// One text in which the elements are separated by commas, spaces or other characters.
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
        /// The only allowed value, or `nil` if several values are allowed.
        var constant: String?

        /// Whether the caller must pass a value.
        var isDemanded: Bool { isRequired && constant == nil }
    }

    /// The body of a request.
    struct Body {
        enum Kind {
            /// JSON with this content type.
            case json(String)
            case form
            case multipart
            case text(String)
            case bytes(String)
        }

        let kind: Kind
        let type: SwiftType
        let isRequired: Bool
        /// The form fields whose list elements are written with indexes.
        let deepLists: [String]
    }

    /// The result of a method.
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
    /// Whether the response can also be an event stream.
    var hasEvents = false
    /// Whether a parameter is an idempotency key, by which a server detects a repeated write.
    var hasIdempotencyKey = false
    /// The query parameters whose list elements are written with indexes.
    var deepLists: [String] = []
    /// The exception from sending credentials, or `nil` if credentials are required.
    var access: Access?
    var list: ListPlan?

    enum Access {
        case none
        case optional
    }
}

/// The part of an operation that appears in the documentation of its method.
struct OperationHead {
    let path: String
    let method: String
    let id: String?
    let summary: String?
    let description: String?
    let isDeprecated: Bool
    let place: Place
}

/// The location of a method's parameter.
typealias OpenAPILocation = Operation.Location

/// The plan for reading a list page by page.
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
    /// The name of the parameter that selects the page, or `nil` for links.
    let pageParameter: String?
    let sizeParameter: String?
    let item: SwiftType
    /// The path of properties from the response to the items, which is empty if the response itself is the list.
    let items: [PathStep]
    let next: [PathStep]
    let total: [PathStep]
    let more: [PathStep]
    /// The property that identifies an item.
    let itemID: PathStep?

    /// A property on the path to a value.
    struct PathStep {
        let name: String
        let isOptional: Bool
        let type: SwiftType
    }
}
