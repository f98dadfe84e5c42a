#if os(Linux)
    import Foundation
    import Glibc
    import Switchyard
    import SwitchyardFixtures
    import SwitchyardServices
    import SwitchyardTesting
    import Testing

    /// A process that is stopped by a signal and resumes after all deadlines have passed.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct StoppedProcessTests {
        @Test(.startsProcess, arguments: [false, true])
        func `responses that arrived while the process was stopped cause no timeout`(_ switches: Bool) async throws {
            try await calm()
            let stop = Stop(afterRequests: 20)
            let servers = [LoopbackServer(), LoopbackServer()]
            for server in servers {
                server.route(.get, "/list") { request in
                    let process = request.headers["X-Process"].flatMap { pid_t($0) }
                    guard let process else { return .text("ready") }
                    await stop.passed(by: process)
                    return .text("ok")
                }
                try server.start()
            }
            let urls = servers.map(\.baseURL)
            // The testing library blocks threads of this test's priority until the process ends.
            let stopping = Task(priority: .high) { await stop.run() }

            // In its own process, which this process stops. The servers run in this process.
            await #expect(processExitsWith: .success) { [urls = urls as [String], switches = switches as Bool] in
                let client = try Self.client(urls, switches: switches)
                let process = "\(getpid())"
                let list = APIConfiguration(path: "list", headers: ["X-Process": process], timeout: Self.timeout)
                // The start of the process and of the first connection does not count towards the deadlines.
                #expect(await client.failure(of: APIConfiguration(path: "list")) == nil)
                let calls = (0..<20).map { _ in Task { await client.failure(of: list) } }

                for call in calls { #expect(await call.value == nil) }
                #expect(client.servers.allSatisfy { $0.state == .healthy && $0.statistics.failures == 0 })
            }
            stop.cancel()
            await stopping.value
        }

        /// The deadline of the calls, within which all requests must arrive on a busy machine.
        private static let timeout = Duration.seconds(8)

        /// Stops a process when all its requests have arrived, and resumes it after their deadlines.
        private final class Stop: Sendable {
            private let count: Int
            private let state = Locked((process: pid_t(0), requests: 0))
            private let (isAsked, isStopped) = (Latch(), Latch())

            init(afterRequests count: Int) { self.count = count }

            /// Waits until the process is stopped, so that the response arrives meanwhile.
            func passed(by process: pid_t) async {
                let hasAll = state.withLock { state in
                    state.process = process
                    state.requests += 1
                    return state.requests >= count
                }
                if hasAll { isAsked.open() }
                await isStopped.wait()
            }

            func run() async {
                await isAsked.wait()
                signal(SIGSTOP)
                isStopped.open()
                try? await Task.sleep(for: StoppedProcessTests.timeout + .seconds(1))
                signal(SIGCONT)
            }

            /// Releases everything that waits, when the process has ended.
            func cancel() {
                state.withLock { $0.process = 0 }
                isAsked.open()
            }

            private func signal(_ number: Int32) {
                state.withLock { state in
                    if state.process > 0 { kill(state.process, number) }
                }
            }
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
