#if os(Linux)
    import Foundation
    import Glibc
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import Testing

    @testable import SwitchyardTransport

    /// The cause that a failure reports.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct FailureReasonTests {
        @Test(.startsProcess, arguments: ["http://127.0.0.1:1/", "https://127.0.0.1:1/", "http://localhost:1/"])
        func `a process without free descriptors gets resourcesExhausted`(_ url: String) async {
            // In its own process, because descriptors are shared by the whole process.
            await #expect(processExitsWith: .success) { [url = url as String] in
                let transport = try CurlTransport()
                let request = HTTPRequest(url: try #require(RequestURL(url)))
                _ = await transport.failure(of: request)  // The loop and the resolver now have their descriptors.
                while open("/dev/null", O_RDONLY) >= 0 {}

                let error = await transport.failure(of: request)

                #expect(error?.kind == .resourcesExhausted)
                #expect(error?.mayHaveBeenSent == false)
                #expect(error?.message.contains("descriptor") == true)
            }
        }

        @Test func `a failed handshake has the message of the TLS library`() async throws {
            let listener = try TCPListener()
            listener.serveAtOnce { RawHTTP.say("HTTP/1.1 400 Bad Request\r\n\r\n", on: $0) }
            let transport = try CurlTransport()
            let url = try #require(RequestURL("https://127.0.0.1:\(listener.port)/"))

            let error = await transport.failure(of: HTTPRequest(url: url))

            #expect(error?.kind == .tlsFailure)
            #expect(error?.message.contains("wrong version number") == true)
        }

        @Test func `a server that accepts the connection but never starts TLS causes a connect timeout`() async throws {
            let listener = try TCPListener()
            listener.serveAtOnce { RawHTTP.read(1 << 20, on: $0) }
            var configuration = CurlTransport.Configuration()
            configuration.connectTimeout = .milliseconds(200)
            let transport = try CurlTransport(configuration: configuration)
            let url = try #require(RequestURL("https://127.0.0.1:\(listener.port)/"))

            let error = await transport.failure(of: HTTPRequest(url: url, timeouts: .init(total: .seconds(60))))

            #expect(error?.kind == .connectTimeout)
            #expect(error?.mayHaveBeenSent == false)
        }

        @Test func `the default connect timeout is 20 seconds`() {
            #expect(CurlTransport.Configuration().connectTimeout == .seconds(20))
        }
    }
#endif
