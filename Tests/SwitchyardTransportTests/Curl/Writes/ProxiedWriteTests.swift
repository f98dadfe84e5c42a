#if os(Linux)
    import Foundation
    import Glibc
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardServices
    import SwitchyardTesting
    import SwitchyardTransport
    import Testing

    /// Writes through a proxy that fails.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct ProxiedWriteTests {
        private struct Proxy: Sendable {
            let listener: TCPListener
            let heads = Locked<[String]>([])

            /// Serves connections of the proxy with an action for each request.
            init(connections: Int = 6, _ act: @escaping @Sendable (Int, String, Int32) -> Bool) throws {
                listener = try TCPListener()
                for _ in 0..<connections {
                    listener.serveAtOnce { [heads] connection in
                        guard connection >= 0 else { return }
                        while true {
                            let head = String(decoding: RawHTTP.request(on: connection), as: UTF8.self)
                            guard !head.isEmpty else { return }
                            let length = head.lowercased().split(separator: "\r\n")
                                .first { $0.hasPrefix("content-length") }
                            RawHTTP.read(Int(length?.split(separator: " ").last ?? "0") ?? 0, on: connection)
                            let number = heads.withLock { heads in
                                heads.append(head)
                                return heads.count
                            }
                            guard act(number, head, connection) else { return }
                        }
                    }
                }
            }

            func count(_ method: String) -> Int { heads.withLock { $0.count { $0.hasPrefix(method + " ") } } }

            func client(_ urls: [String], retries: Bool = true) throws -> NetworkClient {
                var configuration = CurlTransport.Configuration()
                configuration.proxy = .local(.http, listener.port)
                var options = NetworkClient.Options(seed: 1)
                if retries { options.retry = RetryPolicy(maximumRetries: 2, backoff: .constant(.milliseconds(5))) }
                return try NetworkClient(
                    service: .singles(urls, switching: .recommended),
                    transport: CurlTransport(configuration: configuration),
                    options: options
                )
            }
        }

        private static let urls = ["http://one.invalid", "http://two.invalid"]
        private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

        private func write(_ method: HTTPMethod) -> APIConfiguration {
            APIConfiguration(path: "pay", method: method, body: .text("x"), timeout: .seconds(20))
        }

        @Test(arguments: [HTTPMethod.post, .put, .patch, .delete], [502, 504, 408, 520])
        func `a write may have been executed if the proxy responds with 408, 502, 504 or 520`(
            method: HTTPMethod,
            status: Int
        )
            async throws
        {
            let proxy = try Proxy { _, head, connection in
                let answer = "HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n"
                RawHTTP.say(head.hasPrefix("GET") ? Self.ok : answer, on: connection)
                return true
            }
            let client = try proxy.client(Self.urls)

            let result = await client.result(of: write(method))
            client.shutdown()

            #expect(result.context.mayHaveBeenExecuted)
            #expect(proxy.count(method.name) == 1)
        }

        @Test(arguments: [HTTPMethod.post, .patch])
        func `a write that gets a 503 from the proxy is not sent to the next server`(method: HTTPMethod) async throws {
            let proxy = try Proxy { _, head, connection in
                let answer = "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"
                RawHTTP.say(head.hasPrefix("GET") ? Self.ok : answer, on: connection)
                return true
            }
            let client = try proxy.client(Self.urls)

            let result = await client.result(of: write(method))
            client.shutdown()

            #expect(result.context.mayHaveBeenExecuted)
            #expect(proxy.count(method.name) == 1)
        }

        @Test(arguments: [HTTPMethod.post, .put, .patch, .delete], [false, true])
        func `a write may have been executed if the proxy closes the connection after reading the write`(
            method: HTTPMethod,
            isKept: Bool
        ) async throws {
            let proxy = try Proxy { _, head, connection in
                if head.hasPrefix("GET") {
                    RawHTTP.say(Self.ok, on: connection)
                    return true
                }
                var linger = linger(l_onoff: 1, l_linger: 0)
                setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
                return false
            }
            let client = try proxy.client(Self.urls)
            if isKept { _ = await client.result(of: APIConfiguration(path: "list")) }

            let result = await client.result(of: write(method))
            client.shutdown()

            guard case .failure(let failure) = result else {
                Issue.record("no failure")
                return
            }
            #expect(failure.mayHaveBeenExecuted)
            #expect(proxy.count(method.name) == 1)
        }

        @Test(arguments: [HTTPMethod.post, .put], [403, 407, 502, 503, 504, 500])
        func `a write has not been executed if the proxy refuses the tunnel`(method: HTTPMethod, status: Int)
            async throws
        {
            let proxy = try Proxy { _, _, connection in
                RawHTTP.say("HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n", on: connection)
                return false
            }
            let client = try proxy.client(["https://one.invalid", "https://two.invalid"], retries: false)

            let result = await client.result(of: write(method))
            client.shutdown()

            guard case .failure(let failure) = result else {
                Issue.record("no failure")
                return
            }
            #expect(!failure.mayHaveBeenExecuted)
            #expect(proxy.count(method.name) == 0)
        }

        @Test(arguments: [HTTPMethod.post, .put])
        func `a write is sent at most twice if the proxy responds with 407`(method: HTTPMethod) async throws {
            let proxy = try Proxy { _, head, connection in
                let answer =
                    "HTTP/1.1 407 Login\r\nProxy-Authenticate: Digest realm=\"x\", nonce=\"1\"\r\nContent-Length: 0\r\n\r\n"
                RawHTTP.say(head.hasPrefix("GET") ? Self.ok : answer, on: connection)
                return true
            }
            let client = try proxy.client(Self.urls, retries: false)

            let result = await client.result(of: write(method))
            client.shutdown()

            #expect(!result.context.mayHaveBeenExecuted)
            #expect(proxy.count(method.name) <= 2)
        }
    }

    extension Service {
        /// A service with a server for each URL.
        static func singles(_ urls: [String], switching: SwitchPolicy) throws -> Service {
            try Service(
                name: "writes",
                servers: zip(["primary", "secondary"], urls).map { name, url in
                    try Server(name: name, baseURLs: [.test: ServerURL(url)])
                },
                defaultEnvironment: .test,
                switching: switching
            )
        }
    }
#endif
