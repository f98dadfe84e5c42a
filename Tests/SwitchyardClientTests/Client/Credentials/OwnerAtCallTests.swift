import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// A call belongs to the user who was logged in when it was made.
@Suite(.timeLimit(.minutes(5)), .prompt) struct OwnerAtCallTests {
    @Test @MainActor func `a stream does not get the credential of a user who logs in later`() async throws {
        for _ in 0..<50 {
            let credentials = Credentials { _ in nil }
            credentials.set(.bearer("ann"), in: .test)
            let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { _ in
                .chunks([Data("one".utf8)])
            }
            let call = Task { @MainActor in _ = try await client.stream(APIConfiguration(path: "x")) }
            let change = Task { @MainActor in
                credentials.logOut(in: .test)
                credentials.set(.bearer("bob"), in: .test)
            }
            await change.value
            _ = try? await call.value
            #expect(transport.requests.allSatisfy { $0.headers["Authorization"] == "Bearer ann" })
        }
    }
}
