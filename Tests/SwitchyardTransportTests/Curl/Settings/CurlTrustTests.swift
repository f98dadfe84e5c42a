#if os(Linux)
    import CLibcurl
    import Foundation
    import SwitchyardFixtures
    import SwitchyardHTTP
    import Testing

    @testable import SwitchyardClient
    @testable import SwitchyardTransport

    /// Custom authorities replace the system's authorities, including those in libcurl's default folder.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct CurlTrustTests {
        private let certificates: Certificates
        private let server: TLSServer

        init() throws {
            certificates = try Certificates()
            server = try TLSServer(certificates, .good)
        }

        /// The failure of a request to a server whose authority is in the system's folder.
        private func failure(_ roots: TLSConfiguration.TrustRoots) async throws -> TransportError.Kind? {
            var configuration = CurlTransport.Configuration()
            configuration.tls = TLSConfiguration(trustRoots: roots)
            var settings = try CurlSettings(configuration, library: try CurlLibrary.open())
            settings.options.insert(.text(YCURL_CA_FOLDER, try certificates.authorityFolder().path), at: 0)
            let loop = try CurlLoop(settings: settings, servers: try CurlServers())
            defer { loop.close(.whenIdle) }
            let request = HTTPRequest(url: try #require(RequestURL(server.url)))
            let result: Result<HTTPResponse, TransportError> = await withCheckedContinuation { continuation in
                let exchange = CurlExchange(of: request, on: loop, progress: nil) { continuation.resume(returning: $0) }
                do throws(TransportError) {
                    try loop.prepare(exchange, for: request)
                    loop.submit(.start(exchange))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
            if case .failure(let error) = result { return error.kind }
            return nil
        }

        @Test func `the system's certificate authorities include the authorities in its folder`() async throws {
            #expect(try await failure(.system) == nil)
        }

        @Test func `certificate authorities in a file replace the authorities in the system's folder`()
            async throws
        {
            #expect(try await failure(.file(certificates.certificate(.selfSigned))) == .certificateRejected)
        }

        @Test func `certificate authorities as data replace the authorities in the system's folder`()
            async throws
        {
            let data = try Data(contentsOf: certificates.certificate(.selfSigned))

            #expect(try await failure(.pem(data)) == .certificateRejected)
        }
    }
#endif
