#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardServices
    import Testing

    @testable import SwitchyardTransport

    /// Clients whose proxy fails, so that no server can be reached.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct ProxyFailoverTests {
        /// The response of the proxy to CONNECT before it closes the connection.
        enum Fault: String, Sendable, CaseIterable {
            case nothing = ""
            case denial = "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
            case unavailable = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
            case brokenTunnel = "HTTP/1.1 200 OK\r\n\r\n"

            fileprivate var kind: TransportError.Kind {
                switch self {
                case .nothing: .connectionReset
                case .denial: .proxyFailure
                case .unavailable: .connectionRefused
                case .brokenTunnel: .tlsFailure
                }
            }
        }

        /// A proxy that has a fault until it is repaired.
        private final class Proxy: Sendable {
            private let listener: TCPListener
            private let server: UInt16
            private let fault: Locked<Fault?>

            init(to server: UInt16, _ fault: Fault) throws {
                listener = try TCPListener()
                self.server = server
                self.fault = Locked(fault)
                serve()
            }

            var port: UInt16 { listener.port }

            func repair() { fault.withLock { $0 = nil } }

            private func serve() {
                listener.serveAtOnce { [weak self] connection in
                    guard connection >= 0, let self else { return }
                    serve()
                    let fault = fault.withLock { $0 }
                    let answer = fault ?? .brokenTunnel
                    _ = Tunnel.serve(connection, answering: answer.rawValue, leadingTo: fault == nil ? server : nil)
                }
            }
        }

        private func client(_ proxy: Proxy, _ urls: [String], trusting authority: URL) throws -> NetworkClient {
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .local(.http, proxy.port)
            configuration.tls = TLSConfiguration(trustRoots: .file(authority))
            // On a busy machine, a slow connection would cause a hedge.
            var policy = SwitchPolicy.recommended
            policy.hedging = nil
            let service = try Service(
                name: "proxied",
                servers: zip(["primary", "secondary"], urls).map { name, url in
                    try Server(name: name, baseURLs: [.test: ServerURL(url)])
                },
                defaultEnvironment: .test,
                switching: policy
            )
            return try NetworkClient(service: service, transport: try CurlTransport(configuration: configuration))
        }

        @Test(arguments: Fault.allCases)
        func `calls fail unsent while the proxy fails, and then reach the first server without a switch`(_ fault: Fault)
            async throws
        {
            let certificates = try Certificates.ready()
            let server = try TLSServer(certificates, .good)
            let port = try #require(URL(string: server.url)?.port.flatMap(UInt16.init))
            let proxy = try Proxy(to: port, fault)
            let urls = [server.url, server.url.replacing("127.0.0.1", with: "localhost")]
            let client = try client(proxy, urls, trusting: certificates.authority)
            defer { client.shutdown() }
            let events = client.events()

            for index in 0..<60 {
                let method: HTTPMethod = index % 2 == 0 ? .post : .get
                let call = APIConfiguration(path: "", method: method, timeout: .seconds(30))
                guard case .failure(let failure) = await client.result(of: call) else {
                    Issue.record("the call must fail")
                    return
                }
                #expect(!failure.mayHaveBeenExecuted)
                if index < 4, case .transport(let error) = failure.reason { #expect(error.kind == fault.kind) }
            }
            proxy.repair()
            let response = try await client.send(APIConfiguration(path: "", timeout: .seconds(30)))

            #expect(response.status == 200)
            #expect(response.context.server == "primary")
            client.shutdown()
            var switches = 0
            for await event in events {
                if case .switched = event.event.kind { switches += 1 }
            }
            #expect(switches == 0)
        }
    }
#endif
