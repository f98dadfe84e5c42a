#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardServices
    import SwitchyardTesting
    import SwitchyardTransport
    import Testing

    /// Settings of a configuration take effect, or the transport is not created.
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

        @Test func `a host override determines the address of a host`() async throws {
            let url = "http://api.example.com:\(server.port)/a"
            let response = try await send(url) { configuration in
                configuration.hostOverrides = [
                    .init(host: "api.example.com", port: Int(server.port), addresses: ["127.0.0.1"])
                ]
            }

            #expect(try await response.bytes() == Data("api.example.com:\(server.port) /a".utf8))
        }

        @Test(arguments: [(0, ["127.0.0.1"]), (65_536, ["::1"]), (443, []), (443, ["::1", "localhost"]), (443, [""])])
        func `an invalid host override is rejected when the transport is created`(
            port: Int,
            addresses: [String]
        ) throws {
            var configuration = CurlTransport.Configuration()
            configuration.hostOverrides = [.init(host: "api.example.com", port: port, addresses: addresses)]

            let error = #expect(throws: TransportError.self) { try CurlTransport(configuration: configuration) }

            #expect(error?.kind == .unsupported && error?.message.contains("host override") == true)
        }

        @Test(arguments: ["", "api.example.com:443", "-api.example.com"])
        func `a host override whose host could be misread as another host is rejected`(host: String) throws {
            var configuration = CurlTransport.Configuration()
            configuration.hostOverrides = [.init(host: host, port: 443, addresses: ["127.0.0.1"])]

            let error = #expect(throws: TransportError.self) { try CurlTransport(configuration: configuration) }

            #expect(error?.kind == .unsupported && error?.message.contains("host override") == true)
        }

        @Test func `a host override accepts an IPv6 address`() throws {
            var configuration = CurlTransport.Configuration()
            configuration.hostOverrides = [.init(host: "api.example.com", port: 443, addresses: ["2001:db8::1"])]

            #expect(throws: Never.self) { try CurlTransport(configuration: configuration).shutdown() }
        }

        @Test(arguments: [-1, 0, 65_536]) func `a proxy with an invalid port is rejected`(port: Int) throws {
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .server(.init(kind: .http, host: "127.0.0.1", port: port))

            let error = #expect(throws: TransportError.self) { try CurlTransport(configuration: configuration) }

            #expect(error?.kind == .unsupported && error?.message.contains("proxy") == true)
        }

        @Test(arguments: ["", "127.0.0.1:8080", "[::1]", "proxy/x", "user@proxy", "a proxy", "proxy#1"])
        func `a proxy whose host could be misread as another host is rejected`(host: String) throws {
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .server(.init(kind: .http, host: host, port: 8080))

            let error = #expect(throws: TransportError.self) { try CurlTransport(configuration: configuration) }

            #expect(error?.kind == .unsupported && error?.message.contains("proxy with an invalid host") == true)
        }

        @Test(arguments: ["proxy.example.com", "127.0.0.1", "::1", "fe80::1%eth0"])
        func `a proxy may be given by name or by IPv4 or IPv6 address`(host: String) throws {
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .server(.init(kind: .http, host: host, port: 8080))

            #expect(throws: Never.self) { try CurlTransport(configuration: configuration).shutdown() }
        }

        @Test func `a proxy receives the absolute URL`() async throws {
            let response = try await send("http://elsewhere.invalid/a") { configuration in
                configuration.proxy = .server(.init(kind: .http, host: "127.0.0.1", port: Int(server.port)))
            }

            #expect(response.status == 200)
            #expect(server.requests.first?.target == "http://elsewhere.invalid/a")
        }

        @Test func `a proxy receives its credentials`() async throws {
            _ = try await send("http://elsewhere.invalid/a") { configuration in
                configuration.proxy = .local(.http, server.port, user: "us:er", password: "pass word")
            }

            let sent = try #require(server.requests.first?.headers["Proxy-Authorization"])
            #expect(sent == "Basic " + Data("us:er:pass word".utf8).base64EncodedString())
        }

        @Test func `an unreachable proxy is a proxy failure`() async throws {
            await #expect {
                try await send("http://elsewhere.invalid/") { configuration in
                    configuration.proxy = .server(.init(kind: .socks5, host: "127.0.0.1", port: 1))
                }
            } throws: {
                ($0 as? TransportError)?.kind == .proxyFailure
            }
        }

        @Test(.startsProcess, arguments: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
        func `an unreachable proxy from an environment variable is a proxy failure`(_ variable: String) async {
            // In its own process, because the environment is shared by the whole process.
            await #expect(processExitsWith: .success) { [variable = variable as String] in
                setenv(variable, "http://127.0.0.1:1", 1)
                var configuration = CurlTransport.Configuration()
                configuration.proxy = .environment
                let transport = try CurlTransport(configuration: configuration)
                let url = try #require(RequestURL("https://service.invalid/"))

                #expect(await transport.failure(of: HTTPRequest(url: url))?.kind == .proxyFailure)
            }
        }

        @Test func `a host among the proxy's exceptions is reached directly`() async throws {
            let response = try await send("http://127.0.0.1:\(server.port)/a") { configuration in
                var proxy = CurlTransport.Configuration.ProxyServer(kind: .http, host: "127.0.0.1", port: 1)
                proxy.exceptions = ["127.0.0.1"]
                configuration.proxy = .server(proxy)
            }

            #expect(response.status == 200)
        }

        @Test func `with a proxy for other hosts, a refused direct connection is not a proxy failure`() async throws {
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

        @Test func `a download never exceeds the rate limit of the transport`() async throws {
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
                // On a busy machine more time passes and fewer bytes arrive, so the bound holds however slow it is.
                let seconds = (ContinuousClock.now - start) / .seconds(1)
                excess = max(excess, Double(count) - 1.1 * Double(rate) * seconds)
            }

            #expect(count == total)
            #expect(excess < 150_000)  // libcurl reads 1 KiB a hundred times before it checks the rate.
        }

        private struct Unstreamed: Error {}

        @Test func `the upload rate limit holds even for a body that fits in one write`() async throws {
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

        @Test func `waiting for the upload rate limit does not cause an idle timeout`() async throws {
            try await calm()
            server.route(.put, "/slowly") { .text("\(try await $0.body.collect(upTo: 1 << 20).count)") }
            var configuration = CurlTransport.Configuration()
            configuration.maximumUploadRate = 16_000
            let url = try #require(RequestURL("\(server.baseURL)/slowly"))
            var request = HTTPRequest(method: .put, url: url, body: .data(Data(count: 33_000)))
            request.timeouts.idle = .milliseconds(900)  // After a chunk of 16 KiB the limit allows no data for 1.02 s.

            // A small body is sent in chunks if its progress is observed.
            let response = try await CurlTransport(configuration: configuration).send(request) { _ in }

            #expect(try await response.bytes() == Data("33000".utf8))
        }

        @Test func `with unixSocketPath, all requests are sent to the Unix socket`() async throws {
            let unix = try UnixServer(answer: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nunix")

            let response = try await send("http://service.invalid/") { $0.unixSocketPath = unix.path }

            #expect(try await response.bytes() == Data("unix".utf8))
        }

        @Test(arguments: ["", String(repeating: "s", count: 108)])
        func `an invalid Unix socket path is rejected when the transport is created`(path: String) throws {
            var configuration = CurlTransport.Configuration()
            configuration.unixSocketPath = path

            let error = #expect(throws: TransportError.self) { try CurlTransport(configuration: configuration) }

            #expect(error?.kind == .unsupported && error?.message.contains("107") == true)
        }

        @Test func `a Unix socket works with TLS`() async throws {
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

        @Test(arguments: [true, false])
        func `requests beyond the transport's connection limit wait for a connection`(isPerHost: Bool) async throws {
            var configuration = CurlTransport.Configuration()
            if isPerHost { configuration.maximumConnectionsPerHost = 2 } else { configuration.maximumConnections = 2 }
            let transport = try CurlTransport(configuration: configuration)
            let url = try #require(RequestURL("http://127.0.0.1:\(server.port)/"))

            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<40 { group.addTask { _ = try await transport.send(HTTPRequest(url: url)) } }
                try await group.waitForAll()
            }

            #expect(server.requests.count == 40)
            #expect(server.statistics.connectionsAccepted <= 2)
        }

        @Test func `with an invalid rate limit, a request fails before it is sent`() async throws {
            let error = await #expect(throws: TransportError.self) {
                try await send("http://127.0.0.1:\(server.port)/") { $0.maximumUploadRate = -1 }
            }

            #expect(error?.kind == .unsupported && error?.mayHaveBeenSent == false)
            #expect(error?.message.hasPrefix("libcurl refused option ") == true)
            #expect(server.requests.isEmpty)
        }

        @Test func `the time that a request waits for a connection does not cause an idle timeout`() async throws {
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
            try await Task.sleep(for: .milliseconds(2500))  // The delay is part of the test.
            isHeld.open()

            #expect(try await first.value.status == 200)
            #expect(try await second.value.status == 200)
        }

        @Test func `idle connections are closed after their timeout`() async throws {
            var configuration = CurlTransport.Configuration()
            configuration.idleConnectionTimeout = .milliseconds(100)
            let transport = try CurlTransport(configuration: configuration)
            let url = try #require(RequestURL("http://127.0.0.1:\(server.port)/"))

            _ = try await transport.send(HTTPRequest(url: url))
            #expect(await server.wait { $0.connectionsOpen == 0 })
            _ = try await transport.send(HTTPRequest(url: url))

            #expect(server.statistics.connectionsAccepted == 2)
        }

        @Test func `idle connections are kept if their timeout is the maximum duration`() async throws {
            var configuration = CurlTransport.Configuration()
            configuration.idleConnectionTimeout = .seconds(Int64.max)
            let transport = try CurlTransport(configuration: configuration)
            let request = HTTPRequest(url: try #require(RequestURL(server.baseURL)))

            // Between two requests the transport is idle and computes how long it may wait.
            for index in 0..<200 {
                #expect(try await transport.send(request).metrics?.reusedConnection == (index > 0))
            }
        }

        @Test func `no Accept-Encoding is sent if decompression is disabled`() async throws {
            _ = try await send("http://127.0.0.1:\(server.port)/") { $0.decompressesResponses = false }

            #expect(server.requests.first?.headers["Accept-Encoding"] == nil)
        }

        @Test func `Accept-Encoding is sent once with each request that does not set it`() async throws {
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

        @Test func `a request with a Range field sends no Accept-Encoding`() async throws {
            _ = try await send("http://127.0.0.1:\(server.port)/", headers: ["Range": "bytes=1-"]) { _ in }

            #expect(server.requests.first?.headers["Accept-Encoding"] == nil)
        }

        @Test func `the transfer metrics report the phases of an exchange`() async throws {
            let transport = try CurlTransport()
            let url = try #require(RequestURL("http://127.0.0.1:\(server.port)/"))

            let first = try #require(try await transport.send(HTTPRequest(url: url)).metrics)
            let second = try #require(try await transport.send(HTTPRequest(url: url)).metrics)

            #expect(!first.reusedConnection && second.reusedConnection)
            #expect(first.networkProtocol == "http/1.1")
            #expect(first.bytesReceived > 0)
            #expect(first.connected.map { $0 <= first.total } == true)
        }

        @Test func `a missing trust file is rejected when the transport is created`() {
            #expect {
                var configuration = CurlTransport.Configuration()
                configuration.tls.trustRoots = .file(URL(filePath: "/nothing/here.pem"))
                _ = try CurlTransport(configuration: configuration)
            } throws: {
                ($0 as? TransportError)?.kind == .closed
            }
        }

        @Test func `contradictory TLS versions are rejected when the transport is created`() {
            #expect {
                var configuration = CurlTransport.Configuration()
                configuration.tls.minimumVersion = .tls13
                configuration.tls.maximumVersion = .tls12
                _ = try CurlTransport(configuration: configuration)
            } throws: {
                ($0 as? TransportError)?.kind == .unsupported
            }
        }

        @Test func `a TLS pin is 32 bytes in base64`() {
            #expect(TLSPin("short") == nil)
            #expect(TLSPin("not base64 at all!") == nil)
            #expect(TLSPin("sha256/" + Data(count: 32).base64EncodedString()) != nil)
        }
    }
#endif
