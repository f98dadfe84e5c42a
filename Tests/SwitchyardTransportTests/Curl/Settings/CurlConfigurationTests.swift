#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardServices
    import SwitchyardTesting
    import SwitchyardTransport
    import Testing

    /// What a configuration asks for is done, or refused when the transport is made.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct CurlConfigurationTests {
        private let server = LoopbackServer()

        init() throws {
            server.route(nil, "*") { request in
                .text("\(request.headers["Host"] ?? "") \(request.target)")
            }
            try server.start()
        }

        private func send(
            _ url: String,
            headers: HTTPHeaders = [:],
            _ change: (inout CurlTransport.Configuration) -> Void
        ) async throws -> HTTPResponse {
            var configuration = CurlTransport.Configuration()
            change(&configuration)
            let transport = try CurlTransport(configuration: configuration)
            let target = try #require(RequestURL(url))
            return try await transport.send(HTTPRequest(url: target, headers: headers))
        }

        @Test func `A30: a host is found where an override says`() async throws {
            let url = "http://api.example.com:\(server.port)/a"
            let response = try await send(url) { configuration in
                configuration.hostOverrides = [
                    .init(host: "api.example.com", port: Int(server.port), addresses: ["127.0.0.1"])
                ]
            }

            #expect(try await response.bytes() == Data("api.example.com:\(server.port) /a".utf8))
        }

        @Test(arguments: [(0, ["127.0.0.1"]), (65_536, ["::1"]), (443, []), (443, ["::1", "localhost"]), (443, [""])])
        func `A30: an override that cannot hold is refused before anything is sent`(
            port: Int,
            addresses: [String]
        ) throws {
            var configuration = CurlTransport.Configuration()
            configuration.hostOverrides = [.init(host: "api.example.com", port: port, addresses: addresses)]

            let error = #expect(throws: TransportError.self) { try CurlTransport(configuration: configuration) }

            #expect(error?.kind == .unsupported && error?.message.contains("host override") == true)
        }

        @Test(arguments: ["", "api.example.com:443", "-api.example.com"])
        func `A30: an override whose host would be read as another one is refused`(host: String) throws {
            var configuration = CurlTransport.Configuration()
            configuration.hostOverrides = [.init(host: host, port: 443, addresses: ["127.0.0.1"])]

            let error = #expect(throws: TransportError.self) { try CurlTransport(configuration: configuration) }

            #expect(error?.kind == .unsupported && error?.message.contains("host override") == true)
        }

        @Test func `A30: an address of IPv6 is one for an override`() throws {
            var configuration = CurlTransport.Configuration()
            configuration.hostOverrides = [.init(host: "api.example.com", port: 443, addresses: ["2001:db8::1"])]

            #expect(throws: Never.self) { try CurlTransport(configuration: configuration).shutdown() }
        }

        @Test(arguments: [-1, 0, 65_536]) func `B54: a proxy at no port is refused`(port: Int) throws {
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .server(.init(kind: .http, host: "127.0.0.1", port: port))

            let error = #expect(throws: TransportError.self) { try CurlTransport(configuration: configuration) }

            #expect(error?.kind == .unsupported && error?.message.contains("proxy") == true)
        }

        @Test(arguments: ["", "127.0.0.1:8080", "[::1]", "proxy/x", "user@proxy", "a proxy", "proxy#1"])
        func `B54: a proxy whose host would be read as another one is refused`(host: String) throws {
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .server(.init(kind: .http, host: host, port: 8080))

            let error = #expect(throws: TransportError.self) { try CurlTransport(configuration: configuration) }

            #expect(error?.kind == .unsupported && error?.message.contains("proxy whose host") == true)
        }

        @Test(arguments: ["proxy.example.com", "127.0.0.1", "::1", "fe80::1%eth0"])
        func `B54: a name and addresses of both kinds are hosts for a proxy`(host: String) throws {
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .server(.init(kind: .http, host: host, port: 8080))

            #expect(throws: Never.self) { try CurlTransport(configuration: configuration).shutdown() }
        }

        @Test func `B54: a proxy gets the whole URL`() async throws {
            let response = try await send("http://elsewhere.invalid/a") { configuration in
                configuration.proxy = .server(.init(kind: .http, host: "127.0.0.1", port: Int(server.port)))
            }

            #expect(response.status == 200)
            #expect(server.requests.first?.target == "http://elsewhere.invalid/a")
        }

        @Test func `B54: credentials of a proxy go to the proxy`() async throws {
            _ = try await send("http://elsewhere.invalid/a") { configuration in
                configuration.proxy = .local(.http, server.port, user: "us:er", password: "pass word")
            }

            let sent = try #require(server.requests.first?.headers["Proxy-Authorization"])
            #expect(sent == "Basic " + Data("us:er:pass word".utf8).base64EncodedString())
        }

        @Test func `a proxy that is not there is a proxy failure`() async throws {
            await #expect {
                try await send("http://elsewhere.invalid/") { configuration in
                    configuration.proxy = .server(.init(kind: .socks5, host: "127.0.0.1", port: 1))
                }
            } throws: {
                ($0 as? TransportError)?.kind == .proxyFailure
            }
        }

        @Test(arguments: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
        func `a proxy of the environment that is not there is a proxy failure`(_ variable: String) async {
            // In a process of its own, since the environment is all callers's.
            await #expect(processExitsWith: .success) { [variable = variable as String] in
                setenv(variable, "http://127.0.0.1:1", 1)
                var configuration = CurlTransport.Configuration()
                configuration.proxy = .environment
                let transport = try CurlTransport(configuration: configuration)
                let url = try #require(RequestURL("https://service.invalid/"))

                #expect(await transport.failure(of: HTTPRequest(url: url))?.kind == .proxyFailure)
            }
        }

        @Test func `a host among the exceptions is reached directly`() async throws {
            let response = try await send("http://127.0.0.1:\(server.port)/a") { configuration in
                var proxy = CurlTransport.Configuration.ProxyServer(kind: .http, host: "127.0.0.1", port: 1)
                proxy.exceptions = ["127.0.0.1"]
                configuration.proxy = .server(proxy)
            }

            #expect(response.status == 200)
        }

        @Test func `a direct connection that is refused is no failure of the proxy`() async throws {
            await #expect {
                try await send("http://127.0.0.1:1/") { configuration in
                    var proxy = CurlTransport.Configuration.ProxyServer(kind: .http, host: "127.0.0.1", port: 2)
                    proxy.exceptions = ["127.0.0.1"]
                    configuration.proxy = .server(proxy)
                }
            } throws: {
                ($0 as? TransportError)?.kind == .connectionRefused
            }
        }

        @Test func `E39: at no moment has more come than the limit of the download rate allows`() async throws {
            let (rate, total) = (400_000, 600_000)
            server.route(.get, "/slowly", answering: .data(Data(count: total)))
            var configuration = CurlTransport.Configuration()
            configuration.maximumDownloadRate = rate
            let url = try #require(RequestURL("http://127.0.0.1:\(server.port)/slowly"))
            let start = ContinuousClock.now

            let response = try await CurlTransport(configuration: configuration)
                .send(HTTPRequest(url: url, delivery: .stream))
            guard case .stream(let body) = response.body else { throw Unstreamed() }
            var (count, excess) = (0, -Double.infinity)
            for try await piece in body {
                count += piece.count
                // A machine that is busy lets more time pass and less come: the bound holds however slow it is.
                let seconds = (ContinuousClock.now - start) / .seconds(1)
                excess = max(excess, Double(count) - 1.1 * Double(rate) * seconds)
            }

            #expect(count == total)
            #expect(excess < 150_000)  // libcurl reads a hundred times 1 KiB before it looks at the rate.
        }

        private struct Unstreamed: Error {}

        @Test func `the limit of the upload rate holds for a body that libcurl could send in one piece`() async throws {
            let end = Locked(ContinuousClock.now)
            server.route(.put, "/slowly") { request in
                let count = try await request.body.collect(upTo: 1 << 20).count
                end.withLock { $0 = .now }
                return .text("\(count)")
            }
            var configuration = CurlTransport.Configuration()
            configuration.maximumUploadRate = 250_000
            let url = try #require(RequestURL("\(server.baseURL)/slowly"))
            let request = HTTPRequest(method: .put, url: url, body: .data(Data(count: 250_000)))
            let start = ContinuousClock.now

            let response = try await CurlTransport(configuration: configuration).send(request)

            #expect(try await response.bytes() == Data("250000".utf8))
            #expect(end.withLock { $0 } - start > .milliseconds(700))
        }

        @Test func `B30: the wait for the limit of the upload rate is no silence of the server`() async throws {
            try await calm()
            server.route(.put, "/slowly") { .text("\(try await $0.body.collect(upTo: 1 << 20).count)") }
            var configuration = CurlTransport.Configuration()
            configuration.maximumUploadRate = 16_000
            let url = try #require(RequestURL("\(server.baseURL)/slowly"))
            var request = HTTPRequest(method: .put, url: url, body: .data(Data(count: 33_000)))
            request.timeouts.idle = .milliseconds(900)  // After a piece of 16 KiB nothing may go out for 1.02 s.

            // A small body goes out in pieces where its progress is asked for.
            let response = try await CurlTransport(configuration: configuration).send(request) { _ in }

            #expect(try await response.bytes() == Data("33000".utf8))
        }

        @Test func `A31: a Unix socket replaces the network`() async throws {
            let unix = try UnixServer(answer: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nunix")

            let response = try await send("http://service.invalid/") { $0.unixSocketPath = unix.path }

            #expect(try await response.bytes() == Data("unix".utf8))
        }

        @Test(arguments: ["", String(repeating: "s", count: 108)])
        func `A31: a path that no Unix socket can have is refused before anything is sent`(path: String) throws {
            var configuration = CurlTransport.Configuration()
            configuration.unixSocketPath = path

            let error = #expect(throws: TransportError.self) { try CurlTransport(configuration: configuration) }

            #expect(error?.kind == .unsupported && error?.message.contains("107") == true)
        }

        @Test func `A31: a Unix socket replaces the network under TLS, too`() async throws {
            let certificates = try Certificates.ready()
            let folder = try TemporaryFolder.made()
            let socket = folder.url.appending(path: "s")
            let server = try TLSServer(certificates, .good, at: socket)

            let response = try await send("https://localhost/") { configuration in
                configuration.unixSocketPath = socket.path
                configuration.tls = TLSConfiguration(trustRoots: .file(certificates.authority))
            }

            #expect(response.status == 200)
            withExtendedLifetime((server, folder)) {}
        }

        @Test func `D47: requests beyond the connection limit wait for a connection`() async throws {
            var configuration = CurlTransport.Configuration()
            configuration.maximumConnectionsPerHost = 2
            let transport = try CurlTransport(configuration: configuration)
            let url = try #require(RequestURL("http://127.0.0.1:\(server.port)/"))

            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<40 { group.addTask { _ = try await transport.send(HTTPRequest(url: url)) } }
                try await group.waitForAll()
            }

            #expect(server.requests.count == 40)
            #expect(server.statistics.connectionsAccepted <= 2)
        }

        @Test func `D47: the wait for a connection is no silence of the server`() async throws {
            try await calm()
            let isHeld = Latch()
            server.route(.get, "/held") { _ in
                await isHeld.wait()
                return .text("held")
            }
            var configuration = CurlTransport.Configuration()
            configuration.maximumConnectionsPerHost = 1
            let transport = try CurlTransport(configuration: configuration)
            let held = HTTPRequest(url: try #require(RequestURL("\(server.baseURL)/held")))
            var waiting = HTTPRequest(url: try #require(RequestURL(server.baseURL)))
            waiting.timeouts.idle = .seconds(2)

            let first = Task { try await transport.send(held) }
            await server.wait { $0.requestsInProgress == 1 }
            let second = Task { try await transport.send(waiting) }
            try await Task.sleep(for: .milliseconds(2500))  // The passing of time is what is tested.
            isHeld.open()

            #expect(try await first.value.status == 200)
            #expect(try await second.value.status == 200)
        }

        @Test func `unused connections are closed after their time`() async throws {
            var configuration = CurlTransport.Configuration()
            configuration.idleConnectionTimeout = .milliseconds(100)
            let transport = try CurlTransport(configuration: configuration)
            let url = try #require(RequestURL("http://127.0.0.1:\(server.port)/"))

            _ = try await transport.send(HTTPRequest(url: url))
            #expect(await server.wait { $0.connectionsOpen == 0 })
            _ = try await transport.send(HTTPRequest(url: url))

            #expect(server.statistics.connectionsAccepted == 2)
        }

        @Test func `unused connections are kept for ever where their time has no end`() async throws {
            var configuration = CurlTransport.Configuration()
            configuration.idleConnectionTimeout = .seconds(Int64.max)
            let transport = try CurlTransport(configuration: configuration)
            let request = HTTPRequest(url: try #require(RequestURL(server.baseURL)))

            // Between two of them the transport has nothing to do, and works out how long it may wait.
            for index in 0..<200 {
                #expect(try await transport.send(request).metrics?.reusedConnection == (index > 0))
            }
        }

        @Test func `without decompression nothing is asked for`() async throws {
            _ = try await send("http://127.0.0.1:\(server.port)/") { $0.decompressesResponses = false }

            #expect(server.requests.first?.headers["Accept-Encoding"] == nil)
        }

        @Test func `what is understood is said once, on each request that does not say it itself`() async throws {
            let transport = try CurlTransport()
            let url = try #require(RequestURL("http://127.0.0.1:\(server.port)/"))
            for headers in [[:], ["Accept-Encoding": "br"], ["Range": "bytes=1-"], [:]] as [HTTPHeaders] {
                _ = try await transport.send(HTTPRequest(url: url, headers: headers))
            }

            let said = server.requests.map { request in
                request.headers.fields.filter { $0.name == "Accept-Encoding" }.map(\.value)
            }
            let own = try #require(said.first?.first)
            #expect(own.hasPrefix("gzip, deflate"))
            #expect(said == [[own], ["br"], [], [own]])
        }

        @Test func `a request with a range gets its bytes as they are`() async throws {
            _ = try await send("http://127.0.0.1:\(server.port)/", headers: ["Range": "bytes=1-"]) { _ in }

            #expect(server.requests.first?.headers["Accept-Encoding"] == nil)
        }

        @Test func `metrics say where the time went`() async throws {
            let transport = try CurlTransport()
            let url = try #require(RequestURL("http://127.0.0.1:\(server.port)/"))

            let first = try #require(try await transport.send(HTTPRequest(url: url)).metrics)
            let second = try #require(try await transport.send(HTTPRequest(url: url)).metrics)

            #expect(!first.reusedConnection && second.reusedConnection)
            #expect(first.networkProtocol == "http/1.1")
            #expect(first.bytesReceived > 0)
            #expect(first.connected.map { $0 <= first.total } == true)
        }

        @Test func `a trust file that is not there is refused at once`() {
            #expect {
                var configuration = CurlTransport.Configuration()
                configuration.tls.trustRoots = .file(URL(filePath: "/nothing/here.pem"))
                _ = try CurlTransport(configuration: configuration)
            } throws: {
                ($0 as? TransportError)?.kind == .closed
            }
        }

        @Test func `TLS versions that exclude each other are refused at once`() {
            #expect {
                var configuration = CurlTransport.Configuration()
                configuration.tls.minimumVersion = .tls13
                configuration.tls.maximumVersion = .tls12
                _ = try CurlTransport(configuration: configuration)
            } throws: {
                ($0 as? TransportError)?.kind == .unsupported
            }
        }

        @Test func `a pin is 32 bytes in base64`() {
            #expect(TLSPin("short") == nil)
            #expect(TLSPin("not base64 at all!") == nil)
            #expect(TLSPin("sha256/" + Data(count: 32).base64EncodedString()) != nil)
        }
    }
#endif
