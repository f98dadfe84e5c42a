package import SwitchyardServices

/// Is told when another user may have taken the place of the one before, as long as it lives.
package final class UserWatch: Sendable {
    fileprivate let action: @Sendable (ServiceEnvironment) -> Void
    private let credentials: Credentials

    fileprivate init(_ credentials: Credentials, _ action: @escaping @Sendable (ServiceEnvironment) -> Void) {
        self.credentials = credentials
        self.action = action
    }

    deinit {
        credentials.userWatches.withLock { [id = ObjectIdentifier(self)] in $0[id] = nil }
    }
}

/// A watch that does not live for being known.
struct WeakUserWatch: Sendable {
    weak var watch: UserWatch?
}

extension Credentials {
    /// Calls back when another user may have taken the place of the one before: at a log-out, and when a credential is set
    /// in the place of a different one, or of none.
    ///
    /// A renewal changes no user. The call comes before ``set(_:in:)`` or ``logOut(in:)`` returns.
    ///
    /// - Parameter action: Gets the environment; called on the thread that made the change, without a lock.
    /// - Returns: Keep it as long as calls are wanted.
    package func whenUserChanges(_ action: @escaping @Sendable (ServiceEnvironment) -> Void) -> UserWatch {
        let watch = UserWatch(self, action)
        userWatches.withLock { $0[ObjectIdentifier(watch)] = WeakUserWatch(watch: watch) }
        return watch
    }

    /// How often another user may have taken the place of the one before.
    func userChanges(in environment: ServiceEnvironment) -> UInt64 {
        state.withLock { $0[environment]?.userChanges ?? 0 }
    }

    /// The environments in which that has happened.
    fileprivate var changedEnvironments: [ServiceEnvironment] {
        state.withLock { slots in slots.filter { $0.value.userChanges > 0 }.map(\.key) }
    }

    func tellUserWatches(_ environment: ServiceEnvironment) {
        for watch in userWatches.withLock({ Array($0.values) }) { watch.watch?.action(environment) }
    }
}

extension Credentials: LoginSource {
    func login(in environment: ServiceEnvironment) -> PresentLogin {
        state.withLock { $0[environment]?.login ?? PresentLogin() }
    }
}

extension ClientCore {
    /// The user who is logged in, by the name that the app gives.
    package func user(in environment: ServiceEnvironment) -> String? { options.user?(environment) }
}

extension NetworkClient {
    /// Calls back when another user may have taken the place of the one before; `nil` when the client has no credentials.
    package func whenUserChanges(_ action: @escaping @Sendable (ServiceEnvironment) -> Void) -> UserWatch? {
        core.options.credentials?.whenUserChanges(action)
    }

    /// The environments in which another user may have taken the place of the one before since the app was started.
    package var environmentsOfOtherUsers: [ServiceEnvironment] { core.options.credentials?.changedEnvironments ?? [] }

    /// How often another user may have taken the place of the one before.
    package func userChanges(in environment: ServiceEnvironment) -> UInt64 {
        core.options.credentials?.userChanges(in: environment) ?? 0
    }
}
