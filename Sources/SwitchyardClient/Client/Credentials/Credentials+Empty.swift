public import Foundation
import SwitchyardServices

extension Credentials {
    /// Creates credentials that start empty and that nothing refreshes, for names with passwords or API keys.
    ///
    ///     let credentials = Credentials()
    ///     credentials.set(.basic(user: name, password: password), in: client.environment)
    ///
    /// Calls that need a credential fail with ``CredentialError/missing`` until one is set. A 401 is the response of the
    /// call.
    ///
    /// - Parameters:
    ///   - policy: Whether requests may go without a credential; ``Policy/init(allowsAnonymous:)`` by default.
    ///   - clock: The time of day; the system's by default.
    public convenience init(policy: Policy = Policy(), clock: @escaping @Sendable () -> Date = { Date() }) {
        self.init(provider: NoProvider(), policy: policy, clock: clock)
    }
}

/// A provider that has no credential and obtains none.
private struct NoProvider: CredentialProvider {
    func storedCredential(in environment: ServiceEnvironment) async throws -> Credential? { nil }
}
