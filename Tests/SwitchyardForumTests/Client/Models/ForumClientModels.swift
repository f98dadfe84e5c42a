// Generated from forum.yaml: Forum, version 1, OpenAPI 3.1.0.
// Command: yard generate forum.yaml --name ForumClient
// Changes to this file are lost when it is generated again.

import Switchyard

struct Refusal: ObjectDecodable {
    /// The reason.
    let code: Int
    /// A message for the user.
    let message: String

    static let fields = Fields(Self.init, "code message")
}
