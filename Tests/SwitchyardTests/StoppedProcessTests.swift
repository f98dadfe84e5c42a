#if os(Linux)
    import Foundation
    import Glibc
    import Switchyard
    import SwitchyardFixtures
    import SwitchyardTesting
    import Testing

    /// A process that is stopped by a signal and resumes after all deadlines have passed.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct StoppedProcessTests {
        @Test(arguments: [false, true])
        func `responses that arrived while the process was stopped cause no timeout`(_ switches: Bool) async throws {
            try await calm()
            let servers = [LoopbackServer(), LoopbackServer()]
            let isAsked = Latch()
            for server in servers {
                server.route(.get, "/list") { _ in
                    if server.requests.count >= 20 { isAsked.open() }
                    try await Task.sleep(for: .seconds(1))  // The response arrives while the client is stopped.
                    return .text("ok")
                }
                try server.start()
            }
            let urls = servers.map(\.baseURL)

            // In its own process, which stops itself. The servers run in this process.
            await #expect(processExitsWith: .success) { [urls = urls as [String], switches = switches as Bool] in
                let client = try Self.client(urls, switches: switches)
                let calls = (0..<20).map { _ in
                    Task { await client.failure(of: APIConfiguration(path: "list", timeout: .seconds(2))) }
                }
                let stop = try ChildCommand(["/bin/sh", "-c", Self.script(stopping: getpid())])

                for call in calls { #expect(await call.value == nil) }
                #expect(client.servers.allSatisfy { $0.state == .healthy && $0.statistics.failures == 0 })
                stop.wait()
            }
        }

        private static func script(stopping process: pid_t) -> String {
            "sleep 0.5; kill -STOP \(process); sleep 3; kill -CONT \(process)"
        }

        private static func client(_ urls: [String], switches: Bool) throws -> NetworkClient {
            let servers = try urls.enumerated().map { index, url in
                try Server(name: "server\(index)", baseURLs: [.test: ServerURL(url)])
            }
            let policy: SwitchPolicy = switches ? .recommended : .off
            let service = try Service(
                name: "stopped",
                servers: servers,
                defaultEnvironment: .test,
                switching: policy
            )
            return try NetworkClient(service: service)
        }
    }
#endif
