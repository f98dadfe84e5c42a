#if os(Linux)
    import Dispatch
    import Foundation
    import Glibc
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardTesting
    import Testing

    @testable import SwitchyardTransport

    /// A transport allocates and releases its resources.
    @Suite(.serialized, .timeLimit(.minutes(5)), .prompt) struct CurlResourceTests {
        private let server = LoopbackServer()
        private let url: RequestURL

        init() throws {
            server.route(.get, "/text", answering: .text("hello"))
            server.route(.get, "/never") { _ in
                try await Task.sleep(for: .seconds(3600))
                return .text("late")
            }
            try server.start()
            url = try #require(RequestURL(server.baseURL + "/text"))
        }

        private static func threads() throws -> Int {
            let tasks = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
            return tasks.filter { task in
                let name = try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
                return name?.hasPrefix("switchyard-curl") == true
            }.count
        }

        /// Limits the number of threads of this user, or ends the limit.
        private static func allowThreads(_ count: rlim_t?) {
            let resource = __rlimit_resource_t(6)  // RLIMIT_NPROC, a macro that Swift does not import.
            var limit = rlimit()
            getrlimit(resource, &limit)
            limit.rlim_cur = count ?? limit.rlim_max
            setrlimit(resource, &limit)
        }

        @Test func `released transports leave no connection and no thread`() async throws {
            for index in 0..<200 {
                let transport = try CurlTransport()
                if index % 2 == 0 { _ = try await transport.send(HTTPRequest(url: url)) }
                if index % 4 == 0 { transport.shutdown() }
            }

            #expect(await server.wait { $0.connectionsOpen == 0 })
        }

        @Test(.startsProcess) func `a transport without requests has no thread`() async {
            // In its own process, where no other test sends requests.
            await #expect(processExitsWith: .success) {
                let transports = try (0..<20).map { _ in try CurlTransport() }

                #expect(try Self.threads() == 0)
                #expect(transports.count == 20)
            }
        }

        @Test(.startsProcess)
        func `if its thread cannot be started, a transport fails the request, and the next request starts the thread`()
            async
        {
            // In its own process, because the limit applies to a whole process.
            await #expect(processExitsWith: .success) {
                let server = LoopbackServer()
                server.route(.get, "/text", answering: .text("hello"))
                try server.start()
                let request = HTTPRequest(url: try #require(RequestURL(server.baseURL + "/text")))
                let transport = try CurlTransport()
                // The thread that delivers the failure must exist before threads are limited.
                await withCheckedContinuation { done in DispatchQueue.global().async { done.resume() } }
                // Root has no such limit.
                if getuid() == 0 { #expect(setuid(65_534) == 0) }

                let result: Result<HTTPResponse, TransportError> = await withCheckedContinuation { done in
                    Self.allowThreads(1)
                    _ = transport.start(request, progress: nil) { done.resume(returning: $0) }
                    Self.allowThreads(nil)
                }

                let error = #expect(throws: TransportError.self) { try result.get() }
                #expect(error?.kind == .resourcesExhausted)
                #expect(error?.mayHaveBeenSent == false)
                #expect(try await transport.send(request).status == 200)
            }
        }

        @Test(.startsProcess) func `a crash on a transport's thread reaches the program's signal handler`() async throws
        {
            await #expect(processExitsWith: .exitCode(42)) {
                signal(SIGSEGV) { _ in _exit(42) }
                let transport = try CurlTransport()
                // The port has no listener. The completion runs on the transport's thread.
                let request = HTTPRequest(url: try #require(RequestURL("http://127.0.0.1:1/")))
                _ = transport.start(request, progress: nil) { _ in
                    UnsafeMutablePointer<Int>(bitPattern: 8)?.pointee = 1
                }
                try await Task.sleep(for: .seconds(3600))
            }
        }

        @Test func `one thread serves two thousand waiting requests`() async throws {
            let transport = try CurlTransport()
            let never = try #require(RequestURL(server.baseURL + "/never"))
            let waiting = (0..<2000).map { _ in
                Task { try await transport.send(HTTPRequest(url: never)) }
            }
            #expect(await server.waitForRequests(2000))

            #expect(try await transport.send(HTTPRequest(url: url)).status == 200)
            for task in waiting { task.cancel() }
            for task in waiting { #expect(await task.result.isCancelled) }
        }
    }

    extension Result where Success == HTTPResponse {
        fileprivate var isCancelled: Bool {
            if case .failure(let error) = self { (error as? TransportError)?.kind == .cancelled } else { false }
        }
    }
#endif
