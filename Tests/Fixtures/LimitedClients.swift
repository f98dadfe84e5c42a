package import SwitchyardClient
package import SwitchyardHTTP
package import SwitchyardServices
package import SwitchyardTesting

extension NetworkClient {
    /// A client over a stub with limits, and a clock that stands still.
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
    /// A request of a path that any server of the tests answers.
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

/// Waits for a condition that other tasks bring about.
package func until(_ condition: () -> Bool) async {
    while !condition(), !Task.isCancelled { await Task.yield() }
}
