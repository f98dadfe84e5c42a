import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import Testing

@testable import SwitchyardTransport

/// Pins of a key or of a whole certificate are compared with every certificate of the chain.
@Suite(.serialized, .timeLimit(.minutes(5)), .prompt) struct ChainPinTests {
    private let certificates: Certificates

    init() throws {
        certificates = try Certificates()
    }

    private func trusting(_ pins: TLSPin...) -> TLSConfiguration {
        TLSConfiguration(trustRoots: .file(certificates.authority), pins: Set(pins))
    }

    private func pin(_ certificate: URL, _ subject: TLSPin.Subject = .publicKey) throws -> TLSPin {
        try #require(TLSPin(certificate: try Data(contentsOf: certificate), subject: subject))
    }

    @Test(arguments: [TLSPin.Subject.publicKey, .certificate])
    func `a server is accepted if the authority of its certificate is pinned`(_ subject: TLSPin.Subject) async throws {
        let server = try TLSServer(certificates, .good)

        #expect(try await failure(server, trusting(pin(certificates.authority, subject))) == nil)
    }

    @Test(arguments: [TLSPin.Subject.publicKey, .certificate])
    func `a pinned certificate that is sent but not in the validated chain is not accepted`(
        _ subject: TLSPin.Subject
    ) async throws {
        let pinned = certificates.certificate(.client)
        let server = try TLSServer(certificates, .good, options: ["-cert_chain", pinned.path])

        let error = try await failure(server, trusting(pin(pinned, subject)))

        #expect(error?.kind == .certificateRejected)
        #expect(error?.mayHaveBeenSent == false)
    }

    @Test func `an invalid certificate is rejected even if a certificate authority is pinned`() async throws {
        for name in [Certificates.Name.selfSigned, .expired, .foreign] {
            let server = try TLSServer(certificates, name)

            #expect(
                try await failure(server, trusting(pin(certificates.authority)))?.kind == .certificateRejected,
                "\(name)"
            )
        }
    }

    @Test func `a renewed certificate matches the pin of its key but not the pin of the old certificate`() async throws
    {
        let server = try TLSServer(certificates, .good)
        let refreshed = try certificates.refreshed(.good)

        #expect(try await failure(server, trusting(pin(refreshed))) == nil)
        #expect(try await failure(server, trusting(pin(refreshed, .certificate)))?.kind == .certificateRejected)
        #expect(try await failure(server, trusting(pin(certificates.certificate(.good), .certificate))) == nil)
    }

    @Test func `a public key digest does not match as a certificate digest`() async throws {
        let server = try TLSServer(certificates, .good)
        let key = try pin(certificates.certificate(.good))
        let asCertificate = try #require(TLSPin(key.base64, of: .certificate))

        #expect(try await failure(server, trusting(asCertificate))?.kind == .certificateRejected)
    }

    #if os(Linux)
        @Test func `a pin mismatch has its own error message`() async throws {
            let server = try TLSServer(certificates, .good)

            let error = try await failure(server, trusting(pin(certificates.certificate(.client))))

            #expect(error?.message == "no certificate in the server's chain matches a pin")
        }

        @Test func `certificate pins are also checked for a connection through an HTTP proxy`() async throws {
            let server = try TLSServer(certificates, .good)
            let (url, port) = (try #require(RequestURL(server.url)), UInt16(server.port))
            for (pinned, isTrusted) in [(certificates.authority, true), (certificates.certificate(.client), false)] {
                let listener = try TCPListener()
                async let asked = listener.serveOne {
                    Tunnel.serve($0, answering: "HTTP/1.1 200 OK\r\n\r\n", leadingTo: port)
                }
                var configuration = CurlTransport.Configuration()
                configuration.proxy = .server(.init(kind: .http, host: "127.0.0.1", port: Int(listener.port)))
                configuration.tls = try trusting(pin(pinned))
                let transport = try CurlTransport(configuration: configuration)

                let answer = try? await transport.send(HTTPRequest(url: url))

                #expect((answer != nil) == isTrusted)
                transport.shutdown()
                #expect(await asked.hasPrefix("CONNECT"))
            }
        }

        @Test(arguments: [true, false])
        func `a transport with a certificate pin cannot be created if its proxy allows only pins of keys`(
            fromEnvironment: Bool
        ) throws {
            var configuration = CurlTransport.Configuration()
            configuration.proxy =
                fromEnvironment ? .environment : .server(.init(kind: .https, host: "127.0.0.1", port: 9))
            configuration.tls = try trusting(pin(certificates.certificate(.good)))
            _ = try CurlTransport(configuration: configuration)

            configuration.tls.pins.insert(try pin(certificates.certificate(.good), .certificate))
            let error = #expect(throws: TransportError.self) { _ = try CurlTransport(configuration: configuration) }

            #expect(error?.kind == .unsupported)
        }
    #endif
}
