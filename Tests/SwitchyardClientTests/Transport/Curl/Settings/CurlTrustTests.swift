#if os(Linux)
    import CLibcurl
    import Foundation
    import Testing

    @testable import SwitchyardClient

    /// Whom libcurl is told to trust.
    @Suite struct CurlTrustTests {
        private let certificates: Certificates

        init() throws {
            certificates = try Certificates.ready()
        }

        private func clearsFolder(_ roots: TLSConfiguration.TrustRoots) throws -> Bool {
            var configuration = CurlTransport.Configuration()
            configuration.tls = TLSConfiguration(trustRoots: roots)
            let settings = try CurlSettings(configuration, library: try CurlLibrary.open())
            return settings.options.contains { if case .noText(YCURL_CA_FOLDER) = $0 { true } else { false } }
        }

        @Test func `own authorities stand in place of the system's, those of its folder too`() throws {
            #expect(try clearsFolder(.file(certificates.authority)))
            #expect(try clearsFolder(.pem(Data(contentsOf: certificates.authority))))
        }

        @Test func `the system's authorities are left as libcurl finds them`() throws {
            #expect(try !clearsFolder(.system))
        }
    }
#endif
