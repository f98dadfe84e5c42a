import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTransport
import Testing

/// A request is sent only to a trusted server.
@Suite(.serialized, .timeLimit(.minutes(5)), .prompt) struct TrustTests {
    private let certificates: Certificates

    init() throws {
        certificates = try Certificates()
    }

    private var trusting: TLSConfiguration { TLSConfiguration(trustRoots: .file(certificates.authority)) }

    @Test func `a server of a trusted authority is accepted`() async throws {
        let server = try TLSServer(certificates, .good)

        #expect(try await failure(server, trusting) == nil)
    }

    @Test func `a trusted authority can be given as data`() async throws {
        let server = try TLSServer(certificates, .good)
        let tls = TLSConfiguration(trustRoots: .pem(try Data(contentsOf: certificates.authority)))

        #expect(try await failure(server, tls) == nil)
    }

    @Test(arguments: [Certificates.Name.expired, .foreign, .selfSigned])
    func `a certificate that is expired, for another host or self-signed is rejected`(
        _ name: Certificates.Name
    ) async throws {
        let server = try TLSServer(certificates, name)

        let error = try await failure(server, trusting)

        #expect(error?.kind == .certificateRejected)
        #expect(error?.mayHaveBeenSent == false)
    }

    @Test(arguments: Subject.networked)
    func `a server of an unknown authority is rejected`(_ subject: Subject) async throws {
        let server = try TLSServer(certificates, .good)
        let transport = try subject.makeTransport()
        let url = try #require(RequestURL(server.url))

        await #expect {
            try await transport.send(HTTPRequest(url: url))
        } throws: {
            ($0 as? TransportError)?.kind == .certificateRejected && ($0 as? TransportError)?.mayHaveBeenSent == false
        }
    }

    @Test func `a server with a pinned key is accepted`() async throws {
        let server = try TLSServer(certificates, .good)
        var tls = trusting
        tls.pins = [
            try #require(TLSPin(try certificates.pin(.good))),
            try #require(TLSPin(try certificates.pin(.client))),
        ]

        #expect(try await failure(server, tls) == nil)
    }

    @Test func `a server without the pinned key is rejected even if its authority is trusted`() async throws {
        let server = try TLSServer(certificates, .good)
        var tls = trusting
        tls.pins = [try #require(TLSPin(try certificates.pin(.client)))]

        let error = try await failure(server, tls)

        #expect(error?.kind == .certificateRejected)
        #expect(error?.mayHaveBeenSent == false)
    }

    @Test func `a pin does not make an unknown authority trusted`() async throws {
        let server = try TLSServer(certificates, .selfSigned)
        var tls = trusting
        tls.pins = [try #require(TLSPin(try certificates.pin(.selfSigned)))]

        #expect(try await failure(server, tls)?.kind == .certificateRejected)
    }

    @Test func `a server with an older TLS version than the minimum is rejected`() async throws {
        let server = try TLSServer(certificates, .good, options: ["-tls1_2"])
        var tls = trusting
        #expect(try await failure(server, tls) == nil)

        tls.minimumVersion = .tls13

        #expect(try await failure(server, tls)?.kind == .tlsFailure)
    }

    #if os(Linux)
        @Test(arguments: [true, false])
        func `a client authenticates with its certificate`(_ fromMemory: Bool) async throws {
            let options = ["-Verify", "1", "-verify_return_error", "-CAfile", certificates.authority.path]
            let server = try TLSServer(certificates, .good, options: options)
            let (certificate, key) = (certificates.certificate(.client), certificates.key(.client))
            var tls = trusting
            tls.clientIdentity =
                fromMemory
                ? .init(
                    certificate: .pem(try Data(contentsOf: certificate)),
                    privateKey: .pem(try Data(contentsOf: key))
                )
                : .init(certificate: .file(certificate), privateKey: .file(key))

            #expect(try await failure(server, tls) == nil)
            #expect(try await failure(server, trusting) != nil)
        }

        @Test func `a client authenticates with PKCS 12 data`() async throws {
            let options = ["-Verify", "1", "-verify_return_error", "-CAfile", certificates.authority.path]
            let server = try TLSServer(certificates, .good, options: options)
            var tls = trusting
            let data = try certificates.pkcs12(.client, password: "secret")

            tls.clientIdentity = .init(pkcs12: data, password: "secret")
            #expect(try await failure(server, tls) == nil)

            tls.clientIdentity = .init(pkcs12: data, password: "wrong")
            let error = try await failure(server, tls)
            #expect(error?.kind == .tlsFailure && error?.mayHaveBeenSent == false)
        }

        @Test func `an identity of the keychain is rejected on Linux`() throws {
            var configuration = CurlTransport.Configuration()
            configuration.tls.clientIdentity = .init(keychainLabel: "client")

            let error = #expect(throws: TransportError.self) { try CurlTransport(configuration: configuration) }

            #expect(error?.kind == .unsupported)
        }

        @Test func `URLSession on Linux rejects an unsupported TLS configuration`() {
            #expect {
                var configuration = URLSessionTransport.Configuration()
                configuration.tls = trusting
                _ = try URLSessionTransport(configuration: configuration)
            } throws: {
                ($0 as? TransportError)?.kind == .unsupported
            }
        }
    #endif
}
