package import SwitchyardServices

/// An observer of changes of the user.
///
/// The observer is notified for as long as it is retained.
package final class UserObserver: Sendable {
    fileprivate let action: @Sendable (ServiceEnvironment) -> Void
    private let credentials: Credentials

    fileprivate init(_ credentials: Credentials, _ action: @escaping @Sendable (ServiceEnvironment) -> Void) {
        self.credentials = credentials
        self.action = action
    }

    deinit {
        credentials.userObservers.withLock { [id = ObjectIdentifier(self)] in $0[id] = nil }
    }
}

/// A weak reference to an observer.
struct WeakUserObserver: Sendable {
    weak var watch: UserObserver?
}

extension Credentials {
    /// Adds an action that is called when the user may have changed.
    ///
    /// The user may change at a logout. The user may also change when a credential is set, if the credential differs
    /// from the previous credential or if there was no credential. A token refresh does not change the user. The action
    /// is called before ``set(_:in:)`` or ``logOut(in:)`` returns.
    ///
    /// - Parameter action: An action that receives the environment. It is called on the thread that made the change,
    ///   without a lock.
    /// - Returns: An observer. Retain it as long as the action should be called.
    package func whenUserChanges(_ action: @escaping @Sendable (ServiceEnvironment) -> Void) -> UserObserver {
        let watch = UserObserver(self, action)
        userObservers.withLock { $0[ObjectIdentifier(watch)] = WeakUserObserver(watch: watch) }
        return watch
    }

    /// Returns the number of times that the user of an environment may have changed.
    func userChanges(in environment: ServiceEnvironment) -> UInt64 {
        state.withLock { $0[environment]?.userChanges ?? 0 }
    }

    /// The environments in which the user may have changed.
    fileprivate var changedEnvironments: [ServiceEnvironment] {
        state.withLock { slots in slots.filter { $0.value.userChanges > 0 }.map(\.key) }
    }

    func notifyUserObservers(_ environment: ServiceEnvironment) {
        for watch in userObservers.withLock({ Array($0.values) }) { watch.watch?.action(environment) }
    }
}

extension Credentials: LoginSource {
    func login(in environment: ServiceEnvironment) -> PresentLogin {
        state.withLock { $0[environment]?.login ?? PresentLogin() }
    }
}

extension ClientCore {
    /// Returns the name of the user who is logged in, as the app's options define it.
    package func user(in environment: ServiceEnvironment) -> String? { options.user?(environment) }
}

extension NetworkClient {
    /// Adds an action that is called when the user may have changed.
    ///
    /// The method returns `nil` if the client has no credentials.
    package func whenUserChanges(_ action: @escaping @Sendable (ServiceEnvironment) -> Void) -> UserObserver? {
        core.options.credentials?.whenUserChanges(action)
    }

    /// The environments in which the user may have changed since the app was launched.
    package var environmentsOfOtherUsers: [ServiceEnvironment] { core.options.credentials?.changedEnvironments ?? [] }

    /// Returns the number of times that the user of an environment may have changed.
    package func userChanges(in environment: ServiceEnvironment) -> UInt64 {
        core.options.credentials?.userChanges(in: environment) ?? 0
    }
}
