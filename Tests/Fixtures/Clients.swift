import Foundation
package import SwitchyardClient
package import SwitchyardHTTP
package import SwitchyardServices
package import SwitchyardTesting

extension Service {
    /// A service with three servers, `primary.test` to `tertiary.test`, in two environments.
    package static func topics(switching: SwitchPolicy = .recommended, servers count: Int = 3) throws -> Service {
        try Service(
            name: "topics",
            servers: ["primary", "secondary", "tertiary"].prefix(count).map { name in
                try Server(
                    name: name,
                    baseURLs: [
                        .test: ServerURL("http://\(name).test/v1"),
                        .release: ServerURL("https://\(name).release/v1"),
                    ]
                )
            },
            defaultEnvironment: .test,
            switching: switching
        )
    }

    /// A service with one server for each loopback server, in order.
    package static func loopback(
        _ servers: [LoopbackServer],
        switching: SwitchPolicy = .recommended
    ) throws -> Service {
        try Service(
            name: "loopback",
            servers: zip(["primary", "secondary", "tertiary"], servers).map { name, server in
                try Server(name: name, baseURLs: [.test: ServerURL(server.baseURL)])
            },
            defaultEnvironment: .test,
            switching: switching
        )
    }
}

extension NetworkClient {
    /// A client with a stubbed transport and a manual clock.
    package static func stubbed(
        switching: SwitchPolicy = .recommended,
        servers: Int = 3,
        time: ManualClock = ManualClock(),
        _ answer: @escaping @Sendable (HTTPRequest) -> StubResponse
    ) throws -> (client: NetworkClient, transport: StubTransport) {
        let transport = StubTransport(answer)
        let options = Options(seed: 1)
        let service = try Service.topics(switching: switching, servers: servers)
        return (try NetworkClient(service: service, transport: transport, options: options, time: time), transport)
    }

    /// The reason why a request fails, or `nil` if it succeeds.
    package func failure(
        of configuration: APIConfiguration,
        id: RequestID = RequestID()
    ) async -> RequestFailure.Reason? {
        do throws(RequestFailure) {
            _ = try await send(configuration, id: id)
            return nil
        } catch {
            return error.reason
        }
    }
}

extension HTTPRequest {
    /// The first label of the host, which is the server's name in these tests.
    package var server: String {
        url.foundationURL?.host().map { String($0.prefix { $0 != "." }) } ?? ""
    }
}

extension NetworkClient {
    /// A client with a stub that responds with 200, and with a changed generator.
    package static func stubbed(
        generator change: (inout RequestGenerator) -> Void
    ) throws -> (client: NetworkClient, transport: StubTransport) {
        let transport = StubTransport { _ in .status(200) }
        return (try NetworkClient(service: .topics(), transport: transport) { change(&$0.generator) }, transport)
    }
}
