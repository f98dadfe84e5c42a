import SwitchyardClient
import SwitchyardServices

/// For which environments and users a page was asked, by the name of the service.
///
/// There are several where they changed between the calls of one page: such a page fits to no other.
typealias PageOrigins = [String: Set<PageOrigin>]

/// For which environment and user a call of a manager was made.
struct PageOrigin: Sendable, Hashable {
    let environment: ServiceEnvironment
    let user: String?
    /// How often the client's credentials had become another user's by then; 0 where the user has a name.
    let userChanges: UInt64
}

extension PageOrigins {
    /// Whether a page asked for these cannot stand in one list with pages asked for those.
    func differ(from list: PageOrigins) -> Bool {
        contains { service, origins in list[service].map { $0 != origins } ?? false }
    }
}

/// Notes for which environments and users the managers make their calls while a page is loaded.
final class PageWitness: Sendable {
    /// The witness of the load for which the present task works.
    @TaskLocal private static var present: PageWitness?

    private let seen = Locked<PageOrigins>([:])

    /// What has been noted.
    var origins: PageOrigins { seen.withLock { $0 } }

    /// Notes a call that is made now, if a page is being loaded.
    static func note(_ client: NetworkClient, user: String?) {
        present?.note(client, user)
    }

    /// Loads a page with this as the witness.
    nonisolated(nonsending) func watching<Value>(_ load: () async throws -> Value) async throws -> Value {
        try await Self.$present.withValue(self) { try await load() }
    }

    private func note(_ client: NetworkClient, _ user: String?) {
        let place = client.place
        let changes = user == nil ? client.userChanges(in: place.environment) : 0
        let origin = PageOrigin(environment: place.environment, user: user, userChanges: changes)
        seen.withLock { _ = $0[place.service, default: []].insert(origin) }
    }
}
