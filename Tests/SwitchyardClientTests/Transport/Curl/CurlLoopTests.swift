#if os(Linux)
    import Foundation
    import Glibc
    import SwitchyardClient
    import SwitchyardTesting
    import Testing

    /// The thread of a transport: its clock, and the descriptors that it watches.
    @Suite(.timeLimit(.minutes(1))) struct CurlLoopTests {
        @Test func `the first request of a transport has its whole idle time, however old the transport is`()
            async throws
        {
            let listener = try TCPListener()
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
            async let asked = listener.serveOne { SOCKSRequest.serve($0, answering: answer, wantsCredentials: true) }
            var configuration = CurlTransport.Configuration()
            // A proxy that wants to know who asks: the connection takes several steps, as it does with TLS.
            var proxy = CurlTransport.Configuration.ProxyServer(
                kind: .socks5,
                host: "127.0.0.1",
                port: Int(listener.port)
            )
            proxy.credentials = .init(user: "user", password: "word")
            configuration.proxy = .server(proxy)
            let transport = try CurlTransport(configuration: configuration)
            try await Task.sleep(for: .milliseconds(2100))  // The passing of time is what is tested.

            let url = try #require(RequestURL("http://service.invalid/"))
            let response = try await transport.send(HTTPRequest(url: url, timeouts: .init(idle: .seconds(2))))

            #expect(response.status == 200)
            #expect(await asked.target == "service.invalid:80")
        }
    }
#endif
