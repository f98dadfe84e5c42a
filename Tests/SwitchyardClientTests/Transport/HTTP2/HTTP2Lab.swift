#if os(Linux)
    import Foundation
    import SwitchyardClient
    import Testing

    /// A transport that trusts the servers it makes.
    struct HTTP2Lab: Sendable {
        private let certificates: Certificates
        private let transport: CurlTransport

        init() throws {
            certificates = try Certificates.ready()
            transport = try CurlTransport(configuration: Self.configuration(certificates))
        }

        private static func configuration(_ certificates: Certificates) -> CurlTransport.Configuration {
            var configuration = CurlTransport.Configuration()
            configuration.tls = TLSConfiguration(trustRoots: .file(certificates.authority))
            return configuration
        }

        func serve(window: UInt32 = 1 << 20, _ handler: @escaping HTTP2Server.Handler) throws -> HTTP2Server {
            try HTTP2Server(certificates, window: window, handler)
        }

        func request(
            to server: HTTP2Server,
            method: HTTPMethod = .get,
            body: HTTPBody = .none,
            _ delivery: HTTPRequest.Delivery = .whole
        ) throws -> HTTPRequest {
            let url = try #require(RequestURL(server.url))
            // Ends a test that fails.
            let timeouts = HTTPRequest.Timeouts(total: .seconds(50))
            return HTTPRequest(method: method, url: url, body: body, timeouts: timeouts, delivery: delivery)
        }

        func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
            try await transport.send(request)
        }

        /// What a request fails with, body included; `nil` when it does not fail.
        func failure(of request: HTTPRequest) async -> TransportError? {
            do throws(TransportError) {
                _ = try await transport.send(request).bytes()
                return nil
            } catch {
                return error
            }
        }

        /// What a client that speaks HTTP/1 only makes of a server that speaks HTTP/2 only.
        func failureOfHTTP1() async throws -> TransportError? {
            let server = try TLSServer(certificates, .good, options: ["-alpn", "h2"])
            var configuration = Self.configuration(certificates)
            configuration.httpVersion = .http1Only
            let transport = try CurlTransport(configuration: configuration)
            defer { transport.shutdown() }
            let url = try #require(RequestURL(server.url))
            return await #expect(throws: TransportError.self) { _ = try await transport.send(HTTPRequest(url: url)) }
        }
    }
#endif
