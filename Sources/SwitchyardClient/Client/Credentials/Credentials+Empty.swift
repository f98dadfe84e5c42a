public import Foundation
import SwitchyardServices

extension Credentials {
    /// Creates credentials that start empty and are never refreshed, for user names with passwords or for API keys.
    ///
    ///     let credentials = Credentials()
    ///     credentials.set(.basic(user: name, password: password), in: client.environment)
    ///
    /// Calls that need a credential fail with ``CredentialError/missing`` until a credential is set. If a server
    /// responds with 401, the call returns this response.
    ///
    /// - Parameters:
    ///   - policy: Whether requests may be sent without a credential; ``Policy/init(allowsAnonymous:)`` by default.
    ///   - clock: A closure that returns the current date and time, by default the system's time.
    public convenience init(policy: Policy = Policy(), clock: @escaping @Sendable () -> Date = { Date() }) {
        self.init(provider: NoProvider(), policy: policy, clock: clock)
    }
}

/// A provider that has no credential and obtains none.
private struct NoProvider: CredentialProvider {
    func storedCredential(in environment: ServiceEnvironment) async throws -> Credential? { nil }
}
