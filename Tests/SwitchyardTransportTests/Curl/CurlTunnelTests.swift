#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import Testing

    @testable import SwitchyardTransport

    /// Servers that are reached over TLS through a proxy.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct CurlTunnelTests {
        private func send(
            _ url: String,
            _ delivery: HTTPRequest.Delivery = .whole,
            through listener: TCPListener,
            trusting authority: URL? = nil
        ) async throws -> HTTPResponse {
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .local(.http, listener.port)
            if let authority { configuration.tls = TLSConfiguration(trustRoots: .file(authority)) }
            let transport = try CurlTransport(configuration: configuration)
            return try await transport.send(HTTPRequest(url: try #require(RequestURL(url)), delivery: delivery))
        }

        @Test(arguments: [HTTPRequest.Delivery.whole, .stream])
        func `the proxy's response to CONNECT is not returned as the server's response`(
            _ delivery: HTTPRequest.Delivery
        ) async throws {
            let certificates = try Certificates.ready()
            let server = try TLSServer(certificates, .good)
            let port = try #require(URL(string: server.url)?.port.flatMap(UInt16.init))
            let listener = try TCPListener()
            let answer = "HTTP/1.1 200 Go ahead\r\nX-Tunnel: yes\r\nContent-Length: 7\r\n\r\n"
            async let head = listener.serveOne { Tunnel.serve($0, answering: answer, leadingTo: port) }

            let response = try await send(server.url, delivery, through: listener, trusting: certificates.authority)

            #expect(response.status == 200)
            #expect(response.headers["X-Tunnel"] == nil)
            #expect(try await !response.bytes().isEmpty)
            #expect(await head.hasPrefix("CONNECT 127.0.0.1:\(port) HTTP/1.1\r\n"))
            #expect(await head.contains("\r\nProxy-Authorization: Basic dXNlcjp3b3Jk\r\n"))
        }

        @Test func `no request is sent through a tunnel to a server with an untrusted certificate`() async throws {
            let certificates = try Certificates.ready()
            let server = try TLSServer(certificates, .selfSigned)
            let port = try #require(URL(string: server.url)?.port.flatMap(UInt16.init))
            let listener = try TCPListener()
            async let head = listener.serveOne {
                Tunnel.serve($0, answering: "HTTP/1.1 200 OK\r\n\r\n", leadingTo: port)
            }

            await #expect {
                _ = try await send(server.url, through: listener, trusting: certificates.authority)
            } throws: {
                guard let error = $0 as? TransportError else { return false }
                return error.kind == .certificateRejected && !error.mayHaveBeenSent
            }
            #expect(await head.hasPrefix("CONNECT"))
        }

        @Test(arguments: [
            ("401 Unauthorized", TransportError.Kind.proxyFailure), ("403 Forbidden", .proxyFailure),
            ("405 Method Not Allowed", .proxyFailure), ("407 Proxy Authentication Required", .proxyFailure),
            ("502 Bad Gateway", .connectionRefused), ("503 Service Unavailable", .connectionRefused),
            ("504 Gateway Timeout", .connectTimeout),
        ])
        func `a proxy's error status for CONNECT distinguishes server failures from proxy failures`(
            _ status: String,
            _ kind: TransportError.Kind
        ) async throws {
            let listener = try TCPListener()
            let answer = "HTTP/1.1 \(status)\r\nContent-Length: 2\r\n\r\nno"
            async let head = listener.serveOne { Tunnel.serve($0, answering: answer, leadingTo: nil) }

            await #expect {
                _ = try await send("https://service.invalid/", through: listener)
            } throws: {
                guard let error = $0 as? TransportError else { return false }
                return error.kind == kind && !error.mayHaveBeenSent
            }
            #expect(await head.hasPrefix("CONNECT service.invalid:443 HTTP/1.1\r\n"))
        }
    }
#endif
