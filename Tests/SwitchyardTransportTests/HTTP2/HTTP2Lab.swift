#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardServices
    import SwitchyardTransport
    import Testing

    /// A transport that trusts the lab's servers.
    struct HTTP2Lab: Sendable {
        private let certificates: Certificates
        private let transport: CurlTransport

        init() throws {
            certificates = try Certificates.ready()
            var configuration = CurlTransport.Configuration()
            configuration.tls = TLSConfiguration(trustRoots: .file(certificates.authority))
            transport = try CurlTransport(configuration: configuration)
        }

        func serve(
            window: UInt32 = 1 << 20,
            streams: UInt32? = nil,
            sendsSettings: Bool = true,
            _ handler: @escaping HTTP2Server.Handler
        ) throws -> HTTP2Server {
            try HTTP2Server(certificates, window: window, streams: streams, sendsSettings: sendsSettings, handler)
        }

        func request(
            to server: HTTP2Server,
            method: HTTPMethod = .get,
            body: HTTPBody = .none,
            _ delivery: HTTPRequest.Delivery = .whole
        ) throws -> HTTPRequest {
            try request(at: server.url, method: method, body: body, delivery)
        }

        func request(
            at url: String,
            method: HTTPMethod = .get,
            body: HTTPBody = .none,
            _ delivery: HTTPRequest.Delivery = .whole
        ) throws -> HTTPRequest {
            let url = try #require(RequestURL(url))
            // Ends a failing test. A TLS handshake may take long on a busy machine.
            let timeouts = HTTPRequest.Timeouts(connect: .seconds(240), total: .seconds(240))
            return HTTPRequest(method: method, url: url, body: body, timeouts: timeouts, delivery: delivery)
        }

        /// An HTTP/1.1 server that responds with 200.
        func serveHTTP1(_ text: String) throws -> HTTP1Server { try HTTP1Server(certificates, answering: text) }

        /// An HTTP/1.1 server that reads a request, calls `read`, and closes the connection.
        func serveHTTP1(hangingUpAfter read: @escaping @Sendable () -> Void) throws -> HTTP1Server {
            try HTTP1Server(certificates, hangingUpAfter: read)
        }

        /// A client of a service, with the transport of the lab.
        func client(_ service: Service) throws -> NetworkClient {
            try NetworkClient(service: service, transport: transport)
        }

        func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
            try await transport.send(request)
        }

        func retireConnections() { transport.retireConnections() }

        func failure(of request: HTTPRequest) async -> TransportError? {
            await transport.failure(of: request)
        }
    }
#endif
