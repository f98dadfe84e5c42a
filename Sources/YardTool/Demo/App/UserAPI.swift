import Switchyard

/// The users of the forum.
final class UserAPI: APIManager {
    let client: NetworkClient
    let module: APIModule

    init(client: NetworkClient) {
        self.client = client.scoped()
        module = APIModule(
            errors: ModuleErrors(UserError.self, codes: [301: .userNotFound, 302: .nameTaken]),
            envelope: Envelope(success: [0])
        )
    }

    /// Returns a user from a response that is cached for a minute.
    func user(id: User.ID) async throws(APIError) -> User {
        var configuration = APIConfiguration(path: "users/\(id)")
        configuration.cacheLifetime = .seconds(60)
        return try await value(for: configuration)
    }
}
