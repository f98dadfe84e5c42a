/// The plan of a client: all types, managers, methods and services that are generated for a document.
struct ClientPlan {
    /// A service with its environments.
    struct ServicePlan {
        /// The base URL of one environment.
        struct Environment {
            let name: String
            let url: String
        }

        /// A variable of the base URL.
        ///
        /// The app chooses its value.
        struct Variable {
            let name: String
            let value: String
            let description: String?
        }

        let name: String
        var environments: [Environment]
        /// The base URL with placeholders for variables, or `nil` if it has no variables.
        let template: String?
        let variables: [Variable]
        /// The names and base URLs of the fallback servers: the servers that are used if the first server does not
        /// respond.
        let fallbacks: [(name: String, url: String)]
    }

    /// A manager: the operations that have the same tag and use the same service.
    struct Manager {
        let typeName: String
        let propertyName: String
        let description: String?
        /// The index of the service that the operations use.
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
    /// The error statuses that the document describes, with their names and descriptions.
    var errors: [(status: Int, name: String, description: String)] = []
    /// The paths to the message and to the errors of single fields in an error body, or `nil` if they are unknown.
    var errorBody: (message: String, fields: String?)?
    /// The type of the most frequent error body.
    var errorType: SwiftType?
}

/// A method of a manager.
struct Method {
    /// A parameter of a method.
    struct Parameter {
        /// The form in which the value is written into the request.
        enum Style {
            case plain
            /// A single text in which the elements of a list, or the names and values of an object, are separated by
            /// this text, such as a comma: `R,100,G,200`.
            case joined(String)
            /// A single text with the members of an object as pairs, separated by commas: `R=100,G=200`.
            case pairs
            /// The value in an expression of the path's template (RFC 6570), with this operator before the variable, and
            /// with `*` after the variable if the value is exploded.
            case expanded(String, explodes: Bool)
            /// The value as JSON text.
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
        var type: SwiftType
        let isRequired: Bool
        /// The form fields whose `encoding` sets a style.
        var fields = FieldStyles()
        /// The argument label of the body.
        var label = "body"
    }

    /// The fields of a form that are written in another form than by default.
    struct FieldStyles {
        /// The fields in which list elements are written with indexes, as in `items[0]`.
        var deepLists: [String] = []
        /// The fields whose members are written as fields of their own, if their value is an object.
        var exploded: [String] = []
        /// The fields that are written as a single text, with the separator between its parts.
        var joined: [(name: String, separator: String)] = []
    }

    /// The return value of a method.
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
    /// The multipart form that an additional method for the operation sends, because JSON cannot contain its files, or
    /// `nil` if there is none.
    var form: Body?
    var result: Result
    /// Whether the response can also be an event stream.
    var hasEvents = false
    /// Whether a parameter is an idempotency key, by which a server recognizes a write request that is sent again.
    var hasIdempotencyKey = false
    /// The names of the header parameters that make a read request conditional.
    ///
    /// If there is one, the method has a parameter for the cache policy of the call.
    var readConditions: [String] = []
    /// Whether a response has a documented validator, `ETag` or `Last-Modified`.
    var hasValidator = false
    /// The query parameters in which list elements are written with indexes, as in `items[0]`.
    var deepLists: [String] = []
    /// The query parameters whose members are sent as parameters of their own, if their value is an object.
    var exploded: [String] = []
    /// Whether the call may be sent without a credential, or `nil` if a credential is required.
    var access: Access?
    var list: ListPlan?
    /// The names of the additional methods that are generated for the operation.
    var furtherNames: [Further: String] = [:]

    enum Access {
        case none
        case optional
    }

    /// An additional method that is generated for an operation, with the suffix of its name.
    enum Further: String, CaseIterable {
        case configuration = "Configuration"
        case response = "Response"
        case pages = "Pages"
    }

    /// Returns the name of an additional method for the operation.
    func name(of further: Further) -> String { furtherNames[further] ?? name + further.rawValue }
}

/// The data of an operation that appears in the documentation comment of its method.
struct OperationHead {
    let path: String
    let method: String
    let id: String?
    let summary: String?
    let description: String?
    let isDeprecated: Bool
    let place: Place
}

/// The part of a request that contains a parameter of a method.
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
    /// The name of the parameter that selects the page, or `nil` if pages are found by links.
    let pageParameter: String?
    let sizeParameter: String?
    let item: SwiftType
    /// The path of properties from the response to the items.
    ///
    /// It is empty if the response itself is the list.
    let items: [PathStep]
    let next: [PathStep]
    let total: [PathStep]
    let more: [PathStep]
    /// The property that identifies an item, or `nil` if there is none.
    let itemID: PathStep?

    /// One property on a path through nested objects.
    struct PathStep {
        let name: String
        let isOptional: Bool
        let type: SwiftType
    }
}

extension Method {
    /// The method that sends the multipart form in place of the JSON body, or `nil` if there is none.
    var withForm: Method? {
        guard let form else { return nil }
        var method = self
        method.body = form
        method.form = nil
        method.list = nil
        return method
    }

    /// The parameters of the generated method that set an option of the library, with their types and default values.
    var options: [(name: String, type: String, value: String)] {
        var options: [(name: String, type: String, value: String)] = []
        if hasIdempotencyKey { options.append(("idempotencyKey", "IdempotencyKey", ".automatic")) }
        if !readConditions.isEmpty { options.append(("cache", "CachePolicy", "CachePolicy()")) }
        return options
    }

    var optionNames: [String] { options.map(\.name) }
}
