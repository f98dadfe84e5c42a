// Generated from forum.yaml: Forum, version 1, OpenAPI 3.1.0.
// Command: yard generate forum.yaml --name ForumClient
// Changes to this file are lost when it is generated again.

import Switchyard

/// A user of the forum.
struct User: ObjectDecodable {
    let id: Int
    let name: String

    static let fields = Fields(Self.init, "id name")
}

struct UsersGetUserResponse: ObjectDecodable {
    let code: Int
    let message: String
    let data: User

    static let fields = Fields(Self.init, "code message data")
}
