#if os(Linux)
    import Foundation
    import Glibc
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import Testing

    @testable import SwitchyardTransport

    /// SOCKS proxies, and the protocols offered in the handshake.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct CurlProxyTests {
        private func send(
            _ url: String,
            _ change: (inout CurlTransport.Configuration) -> Void
        ) async throws -> HTTPResponse {
            var configuration = CurlTransport.Configuration()
            change(&configuration)
            let transport = try CurlTransport(configuration: configuration)
            return try await transport.send(HTTPRequest(url: try #require(RequestURL(url))))
        }

        @Test(arguments: [false, true])
        func `a SOCKS 5 proxy receives the host name, and credentials if it requires them`(
            wantsCredentials: Bool
        ) async throws {
            let listener = try TCPListener()
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nsocks"
            async let asked = listener.serveOne {
                SOCKSRequest.serve($0, answering: answer, wantsCredentials: wantsCredentials)
            }

            let response = try await send("http://service.invalid:8080/a") { configuration in
                let port = Int(listener.port)
                var proxy = CurlTransport.Configuration.ProxyServer(kind: .socks5, host: "127.0.0.1", port: port)
                if wantsCredentials { proxy.credentials = .init(user: "user", password: "pass:word") }
                configuration.proxy = .server(proxy)
            }

            #expect(try await response.bytes() == Data("socks".utf8))
            #expect(await asked.target == "service.invalid:8080")
            #expect(await asked.credentials == (wantsCredentials ? "user pass:word" : nil))
        }

        @Test func `a SOCKS 4a proxy receives the host name`() async throws {
            let listener = try TCPListener()
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nsocks"
            async let target = listener.serveOne { SOCKSRequest.serveVersion4($0, answering: answer) }

            let response = try await send("http://service.invalid:8080/a") { configuration in
                let port = Int(listener.port)
                configuration.proxy = .server(.init(kind: .socks4a, host: "127.0.0.1", port: port))
            }

            #expect(try await response.bytes() == Data("socks".utf8))
            #expect(await target == "service.invalid:8080")
        }

        @Test(
            arguments: [
                (2, TransportError.Kind.proxyFailure), (3, .connectionRefused), (4, .connectionRefused),
                (5, .connectionRefused), (6, .connectTimeout), (7, .proxyFailure),
            ] as [(UInt8, TransportError.Kind)]
        )
        func `the reply code of a SOCKS proxy distinguishes server failures from proxy failures`(
            _ reply: UInt8,
            _ kind: TransportError.Kind
        ) async throws {
            let listener = try TCPListener()
            async let request = listener.serveOne {
                SOCKSRequest.serve($0, answering: "", wantsCredentials: false, reply: reply)
            }

            let error = await #expect(throws: TransportError.self) {
                _ = try await send("http://service.invalid:8080/a") { configuration in
                    configuration.proxy = .server(.init(kind: .socks5, host: "127.0.0.1", port: Int(listener.port)))
                }
            }

            #expect(error?.kind == kind)
            #expect(error?.mayHaveBeenSent == false)
            _ = await request
        }

        @Test func `a rejected SOCKS 4a request is reported as a refused connection`() async throws {
            let listener = try TCPListener()
            async let target = listener.serveOne { SOCKSRequest.serveVersion4($0, answering: "", reply: 91) }

            let error = await #expect(throws: TransportError.self) {
                _ = try await send("http://service.invalid:8080/a") { configuration in
                    configuration.proxy = .server(.init(kind: .socks4a, host: "127.0.0.1", port: Int(listener.port)))
                }
            }

            #expect(error?.kind == .connectionRefused)
            _ = await target
        }

        @Test(arguments: ["127.0.0.0/8", "10.0.0.0/8 127.0.0.1", "10.0.0.0/8,\t127.0.0.1", "*"])
        func `a host among the proxy's exceptions is reached directly, and the failure names the host`(
            _ exceptions: String
        )
            async throws
        {
            let error = await #expect(throws: TransportError.self) {
                _ = try await send("http://127.0.0.1:1/") { configuration in
                    var proxy = CurlTransport.Configuration.ProxyServer(kind: .http, host: "127.0.0.1", port: 2)
                    proxy.exceptions = [exceptions]
                    configuration.proxy = .server(proxy)
                }
            }

            #expect(error?.kind == .connectionRefused)
        }

        private func send(overTLSTo name: Certificates.Name) async throws -> HTTPResponse {
            let certificates = try Certificates.ready()
            let proxy = try TLSServer(certificates, name)
            return try await send("http://service.invalid/") { configuration in
                configuration.proxy = .server(.init(kind: .https, host: "127.0.0.1", port: proxy.port))
                configuration.tls = TLSConfiguration(trustRoots: .file(certificates.authority))
            }
        }

        @Test func `a proxy over TLS is trusted through the same authorities as servers`() async throws {
            #expect(try await send(overTLSTo: .good).status == 200)
        }

        @Test func `no request is sent to a proxy with an untrusted certificate`() async throws {
            let error = await #expect(throws: TransportError.self) { _ = try await send(overTLSTo: .selfSigned) }

            #expect(error?.kind == .certificateRejected)
            #expect(error?.mayHaveBeenSent == false)
        }

        @Test(arguments: [CurlTransport.Configuration.HTTPVersion.automatic, .http1Only])
        func `HTTP/2 is offered in the handshake unless only HTTP/1 is allowed`(
            version: CurlTransport.Configuration.HTTPVersion
        ) async throws {
            let listener = try TCPListener()
            // The first message of a handshake lists the protocols (RFC 7301 section 3.1), each prefixed with its
            // length.
            async let hello = listener.serveOne { connection in
                var bytes = Data(count: 8_192)
                let count = bytes.withUnsafeMutableBytes { recv(connection, $0.baseAddress, $0.count, 0) }
                return bytes.prefix(max(0, count))
            }

            await #expect(throws: TransportError.self) {
                try await send("https://127.0.0.1:\(listener.port)/") { $0.httpVersion = version }
            }

            #expect(await hello.firstRange(of: Data("\u{8}http/1.1".utf8)) != nil)
            #expect((await hello.firstRange(of: Data("\u{2}h2".utf8)) != nil) == (version == .automatic))
        }

        @Test func `descriptions of a proxy do not contain its password`() {
            let proxy = CurlTransport.Configuration.ProxyServer(
                kind: .http,
                host: "proxy.test",
                port: 8080,
                credentials: .init(user: "joe", password: "S3CR3T")
            )
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .server(proxy)

            #expect(!"\(configuration) \(String(reflecting: proxy))".contains("S3CR3T"))
            #expect("\(configuration)".contains("joe"))
        }
    }
#endif
