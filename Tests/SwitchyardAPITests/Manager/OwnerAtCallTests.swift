import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

/// A call belongs to the environment that is current at the call.
@Suite(.timeLimit(.minutes(5)), .prompt) struct OwnerAtCallTests {
    /// A manager with two environments, with a different user in each or without users.
    private func start(hasCredentials: Bool) throws -> (TopicAPI, StubTransport) {
        let transport = StubTransport { _ in Topic.answer }
        var options = NetworkClient.Options()
        if hasCredentials {
            let credentials = Credentials { _ in nil }
            credentials.set(.bearer("ann"), in: .release)
            credentials.set(.bearer("bob"), in: .test)
            options.credentials = credentials
        }
        return (TopicAPI(client: try .stubbed(transport, options: options)), transport)
    }

    private static let cached = TopicAPI.topic(1, lifetime: .seconds(60))

    @Test(arguments: [TopicAPI.topic(1), cached], [false, true])
    func `a call with a completion handler is not sent in an environment that the app switches to later`(
        configuration: APIConfiguration,
        hasCredentials: Bool
    ) async throws {
        for _ in 0..<50 {
            let (topics, transport) = try start(hasCredentials: hasCredentials)
            let result: Result<Topic, APIError> = await withCheckedContinuation { done in
                topics.value(Topic.self, for: configuration, on: .global()) { done.resume(returning: $0) }
                try? topics.client.switchEnvironment(to: .test)
            }
            #expect(transport.requests.allSatisfy { $0.url.description.contains("release.example") })
            if case .failure(let error) = result { #expect(error.reason == .cancelled(.caller)) }
        }
    }

    @Test(arguments: [TopicAPI.topic(1), cached], [false, true]) @MainActor
    func `an async call is not sent in an environment that the app switches to later`(
        configuration: APIConfiguration,
        hasCredentials: Bool
    ) async throws {
        for _ in 0..<50 {
            let (topics, transport) = try start(hasCredentials: hasCredentials)
            let call = Task { @MainActor in try await topics.value(Topic.self, for: configuration) }
            let change = Task { @MainActor in try topics.client.switchEnvironment(to: .test) }
            _ = try? await call.value
            try await change.value
            #expect(transport.requests.allSatisfy { $0.url.description.contains("release.example") })
        }
    }
}
