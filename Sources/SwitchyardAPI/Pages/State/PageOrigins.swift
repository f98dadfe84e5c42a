package import SwitchyardClient
import SwitchyardServices

/// The environments and users for which a page was requested, by the name of the service.
///
/// If the environment or user changes between the calls that load one page, the service has several entries. Such a
/// page matches no other page.
typealias PageOrigins = [String: Set<PageOrigin>]

/// The environment and user for which a manager made a call.
struct PageOrigin: Sendable, Hashable {
    let environment: ServiceEnvironment
    let user: String?
    /// The number of times that the client's credentials had changed to another user before the call, or 0 if the user
    /// has a name.
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

    /// Whether the user is still logged in.
    var hasUser: Bool { isUserThere() }

    /// Whether the user is still logged in and the environment is still in use.
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
    /// Returns whether a page with these origins cannot be in the same list as pages with the origins `list`.
    func differ(from list: PageOrigins) -> Bool {
        contains { service, origins in list[service].map { $0 != origins } ?? false }
    }

    /// Returns whether there are origins that `list` does not have, at a service of `list`.
    func exceed(_ list: PageOrigins) -> Bool {
        contains { service, origins in list[service].map { !origins.isSubset(of: $0) } ?? false }
    }

    /// Whether any origin's user has logged out, or its environment is no longer in use.
    var areOver: Bool { values.contains { $0.contains { !$0.isPresent } } }

    /// Whether any origin's user has logged out.
    var areLeft: Bool { values.contains { $0.contains { !$0.hasUser } } }
}

/// A recorder of the environments and users for which the managers make their calls while a page is loaded.
package final class PageLoadRecorder: Sendable {
    /// The recorder of the load that the current task performs.
    @TaskLocal package static var present: PageLoadRecorder?

    private struct State {
        var origins: PageOrigins = [:]
        /// The counters of changes at the requested paths, each with its value when the path was requested.
        var writes: [(writes: PathWrites, count: UInt32)] = []
    }

    private let state = Locked(State())

    /// The recorded origins.
    var origins: PageOrigins { state.withLock { $0.origins } }

    /// Whether a user of the load has logged out, or an environment of the load is no longer in use.
    var isOver: Bool { origins.areOver }

    /// Whether a call such as a PUT has changed something at a requested path since the path was requested.
    var isOutdated: Bool { state.withLock { $0.writes }.contains { $0.writes.count != $0.count } }

    /// Loads a page and records the origins of its calls.
    nonisolated(nonsending) func watching<Value>(_ load: () async throws -> Value) async throws -> Value {
        try await Self.$present.withValue(self) { try await load() }
    }

    /// Records the environment and user of a call that is made now.
    package func note(
        _ call: APIConfiguration,
        _ client: NetworkClient,
        user: String?,
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
        let writes = client.pathCounters.writes(at: call)
        let count = writes?.count
        state.withLock { state in
            _ = state.origins[place.service, default: []].insert(origin)
            if let writes, let count, state.writes.count < 100 { state.writes.append((writes, count)) }
        }
    }
}
