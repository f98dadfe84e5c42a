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
    private let isUserThere: @Sendable () -> Bool
    private let isEnvironmentInUse: @Sendable () -> Bool

    init(
        environment: ServiceEnvironment,
        user: String?,
        userChanges: UInt64,
        isUserThere: @escaping @Sendable () -> Bool = { true },
        isEnvironmentInUse: @escaping @Sendable () -> Bool = { true }
    ) {
        (self.environment, self.user, self.userChanges) = (environment, user, userChanges)
        (self.isUserThere, self.isEnvironmentInUse) = (isUserThere, isEnvironmentInUse)
    }

    /// Whether the user is still there.
    var hasUser: Bool { isUserThere() }

    /// Whether environment and user are still those of the manager.
    var isPresent: Bool { isUserThere() && isEnvironmentInUse() }

    static func == (left: PageOrigin, right: PageOrigin) -> Bool {
        left.environment == right.environment && left.user == right.user && left.userChanges == right.userChanges
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(environment)
        hasher.combine(user)
        hasher.combine(userChanges)
    }
}

extension PageOrigins {
    /// Whether a page of these origins cannot be in one list with pages of `list`.
    func differ(from list: PageOrigins) -> Bool {
        contains { service, origins in list[service].map { $0 != origins } ?? false }
    }

    /// Whether environment or user of one of them are others by now.
    var areOver: Bool { values.contains { $0.contains { !$0.isPresent } } }

    /// Whether the user of one of them has gone.
    var areLeft: Bool { values.contains { $0.contains { !$0.hasUser } } }
}

/// Notes for which environments and users the managers make their calls while a page is loaded.
final class PageLoadRecorder: Sendable {
    /// The recorder of the load that the current task performs.
    @TaskLocal private static var present: PageLoadRecorder?

    private struct State {
        var origins: PageOrigins = [:]
        /// The writes at the paths that were asked, and how many there had been.
        var writes: [(writes: PathWrites, count: UInt32)] = []
    }

    private let state = Locked(State())

    /// The recorded origins.
    var origins: PageOrigins { state.withLock { $0.origins } }

    /// Whether the load belongs to an earlier environment or user.
    var isOver: Bool { origins.areOver }

    /// Whether a write has changed something since, at a path that was asked.
    var isOutdated: Bool { state.withLock { $0.writes }.contains { $0.writes.count != $0.count } }

    /// Notes a call that is made now, if a page is being loaded.
    static func note(
        _ call: APIConfiguration,
        _ client: NetworkClient,
        user: String?,
        presentUser: () -> @Sendable () -> String?
    ) {
        present?.note(call, client, user, presentUser())
    }

    /// Loads a page and records its origins.
    nonisolated(nonsending) func watching<Value>(_ load: () async throws -> Value) async throws -> Value {
        try await Self.$present.withValue(self) { try await load() }
    }

    private func note(
        _ call: APIConfiguration,
        _ client: NetworkClient,
        _ user: String?,
        _ presentUser: @escaping @Sendable () -> String?
    ) {
        let place = client.place
        let origin = PageOrigin(
            environment: place.environment,
            user: user,
            userChanges: user == nil ? client.userChanges(in: place.environment) : 0,
            isUserThere: client.watchingUser(user, presentUser),
            isEnvironmentInUse: client.watchingEnvironment()
        )
        let writes = client.writes(at: call)
        let count = writes?.count
        state.withLock { state in
            _ = state.origins[place.service, default: []].insert(origin)
            if let writes, let count, state.writes.count < 100 { state.writes.append((writes, count)) }
        }
    }
}
