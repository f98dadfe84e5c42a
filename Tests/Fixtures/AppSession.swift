package import SwitchyardClient
package import SwitchyardServices

/// An app in which users log in and out.
///
/// Its tokens are refreshed when the gate is open.
package final class AppSession: Sendable {
    package let credentials: Credentials
    package let refreshes: Gate
    private let user = Locked<String?>(nil)

    package init() {
        let gate = Gate()
        refreshes = gate
        credentials = Credentials { refresh in
            guard refresh.credential != nil else { return nil }
            await gate.pass()
            return nil
        }
    }

    /// Sets the credentials and, unless disabled, the user of a client.
    package func prepare(_ options: inout NetworkClient.Options, knowsUsers: Bool = true) {
        options.credentials = credentials
        if knowsUsers { options.user = { [user] _ in user.withLock { $0 } } }
    }

    package func name(_ name: String?) {
        user.withLock { $0 = name }
    }

    package func logIn(_ name: String, token: String) {
        logIn(name, .bearer(token))
    }

    package func logIn(_ name: String, _ credential: Credential, in environment: ServiceEnvironment = .test) {
        logOut(in: environment)
        self.name(name)
        credentials.set(credential, in: environment)
    }

    package func logOut(in environment: ServiceEnvironment = .test) {
        credentials.logOut(in: environment)
        name(nil)
    }
}
