// Generated from forum.yaml: Forum, version 1, OpenAPI 3.1.0.
// Command: yard generate forum.yaml --name ForumClient
// Changes to this file are lost when it is generated again.

import Switchyard

/// Forum.
struct ForumClient: Sendable {
    /// The error codes by HTTP status.
    static let errors = ModuleErrors(ForumClientError.self, statuses: [400: .badRequest, 404: .notFound])
    /// The common properties of all responses.
    static let module = APIModule(errors: errors, errorBody: ErrorBody(message: "message", fields: nil))

    /// Topics and their attachments.
    let topics: TopicsAPI
    /// The users of the forum.
    let users: UsersAPI

    /// Creates all managers.
    init(client: NetworkClient) {
        topics = TopicsAPI(client: client)
        users = UsersAPI(client: client)
    }
}

/// The documented errors, whose codes are 1000 plus the HTTP status.
///
/// `error.decodedBody(as: Refusal.self)` decodes the body of most of these errors.
enum ForumClientError: Int, ModuleErrorCode {
    /// The forum refuses the request.
    case badRequest = 1400
    /// The forum refuses the request.
    case notFound = 1404
}
