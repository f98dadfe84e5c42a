// Generated from forum.yaml: Forum, version 1, OpenAPI 3.1.0.
// Command: yard generate forum.yaml --name ForumClient
// Changes to this file are lost when it is generated again.

import Switchyard

/// The users of the forum.
final class UsersAPI: APIManager {
    let client: NetworkClient
    let module = ForumClient.module

    init(client: NetworkClient) {
        self.client = client.scoped()
    }

    /// Get a user.
    func get(id: Int) async throws(APIError) -> UsersGetUserResponse {
        try await value(.get, "users/{id}", values: ["id": id])
    }
}
