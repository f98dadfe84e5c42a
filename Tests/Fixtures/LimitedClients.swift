package import SwitchyardClient
package import SwitchyardHTTP
package import SwitchyardServices
package import SwitchyardTesting

extension NetworkClient {
    /// A client with a stub, limits and a manual clock.
    package static func limited(
        _ limits: [any RequestLimit],
        time: ManualClock = ManualClock(),
        _ answer: @escaping @Sendable (HTTPRequest) -> StubResponse = { _ in .status(200) }
    ) throws -> (client: NetworkClient, transport: StubTransport) {
        let transport = StubTransport(answer)
        var options = Options(seed: 1)
        options.limits = limits
        let client = try NetworkClient(
            service: try Service.topics(switching: .off),
            transport: transport,
            options: options,
            time: time
        )
        return (client, transport)
    }
}

extension APIConfiguration {
    /// A request for a path that every test server serves.
    package static func path(
        _ path: String,
        priority: RequestPriority = .normal,
        timeout: Duration? = .seconds(3_600)
    ) -> APIConfiguration {
        var configuration = APIConfiguration(path: path, timeout: timeout)
        configuration.priority = priority
        return configuration
    }
}

/// Returns whether an attempt is prompt.
///
/// On a busy machine, a single attempt may be late. An operation that is never prompt fails all attempts.
package func isPrompt(
    isolation: isolated (any Actor)? = #isolation,
    attempts: Int = 20,
    _ attempt: () async throws -> Bool
) async rethrows -> Bool {
    var isPrompt = false
    for _ in 0..<attempts where !isPrompt { isPrompt = try await attempt() }
    return isPrompt
}

/// Waits for a condition that other tasks cause.
///
/// A condition that does not become true soon is checked once per millisecond, because a task that only yields takes
/// the processor from the tasks that it waits for.
package func until(isolation: isolated (any Actor)? = #isolation, _ condition: () -> Bool) async {
    for _ in 0..<20 {
        if condition() { return }
        await Task.yield()
    }
    while !condition(), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
}
