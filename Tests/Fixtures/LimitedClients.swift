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

/// Waits for a condition that other tasks cause.
///
/// A condition that does not become true soon is checked once per millisecond, because a task that only yields takes the
/// processor from the tasks that it waits for.
package func until(isolation: isolated (any Actor)? = #isolation, _ condition: () -> Bool) async {
    for _ in 0..<20 {
        if condition() { return }
        await Task.yield()
    }
    while !condition(), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
}
