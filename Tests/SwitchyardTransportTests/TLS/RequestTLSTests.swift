import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTransport
import Testing

@testable import SwitchyardClient

/// The TLS configuration of single requests over real connections.
@Suite(.serialized, .timeLimit(.minutes(5)), .prompt) struct RequestTLSTests {
    private let certificates: Certificates

    init() throws {
        certificates = try .ready()
    }

    private var trusting: TLSConfiguration { TLSConfiguration(trustRoots: .file(certificates.authority)) }

    /// The failure of a request, or `nil` if it succeeds.
    private func failure(
        _ transport: any Transport,
        _ server: TLSServer,
        _ tls: TLSConfiguration?
    ) async throws -> TransportError.Kind? {
        var request = HTTPRequest(url: try RequestURL(validating: server.url), timeouts: .init(total: .seconds(240)))
        request.tls = tls
        do throws(TransportError) {
            _ = try await transport.send(request)
            return nil
        } catch {
            return error.kind
        }
    }

    @Test func `the trust roots of a request apply to that request only`() async throws {
        let server = try TLSServer(certificates, .good)
        let transport = try Transports.systemDefault()

        #expect(try await failure(transport, server, nil) == .certificateRejected)
        #expect(try await failure(transport, server, trusting) == nil)
        #expect(try await failure(transport, server, nil) == .certificateRejected)
    }

    @Test func `the pins of a request are checked even if a connection is open`() async throws {
        let server = try TLSServer(certificates, .good)
        let transport = try Transports.systemDefault(tls: trusting)
        var pinned = trusting
        pinned.pins = [try #require(TLSPin(try certificates.pin(.client)))]

        #expect(try await failure(transport, server, nil) == nil)
        #expect(try await failure(transport, server, pinned) == .certificateRejected)
        #expect(try await failure(transport, server, trusting) == nil)
    }

    @Test func `a request may require a newer TLS version than others`() async throws {
        let server = try TLSServer(certificates, .good, options: ["-tls1_2"])
        let transport = try Transports.systemDefault(tls: trusting)
        var newer = trusting
        newer.minimumVersion = .tls13

        #expect(try await failure(transport, server, newer) == .tlsFailure)
        #expect(try await failure(transport, server, nil) == nil)
    }

    @Test func `a call's TLS configuration is passed through the client`() async throws {
        let server = try TLSServer(certificates, .good)
        let client = try NetworkClient(service: server.service())
        defer { client.shutdown() }
        var call = APIConfiguration(path: "/", timeout: .seconds(240))
        call.tls = trusting

        #expect(try await client.send(call).status == 200)
    }

    @Test func `an unusable TLS configuration fails only its own request`() async throws {
        let server = try TLSServer(certificates, .good)
        let transport = try Transports.systemDefault(tls: trusting)
        let missing = TLSConfiguration(trustRoots: .file(URL(fileURLWithPath: "/nowhere/ca.pem")))

        #expect(try await failure(transport, server, missing) == .closed)
        #expect(try await failure(transport, server, nil) == nil)
    }

    @Test func `no request with any TLS configuration starts after a shutdown`() async throws {
        let server = try TLSServer(certificates, .good)
        let transport = try Transports.systemDefault()
        #expect(try await failure(transport, server, trusting) == nil)

        transport.shutdown()

        #expect(try await failure(transport, server, trusting) == .closed)
        #expect(try await failure(transport, server, TLSConfiguration(minimumVersion: .tls13)) == .closed)
    }

    #if os(Linux)
        @Test func `the client identity of a request is used for that request only`() async throws {
            let options = ["-Verify", "1", "-verify_return_error", "-CAfile", certificates.authority.path]
            let server = try TLSServer(certificates, .good, options: options)
            let transport = try Transports.systemDefault(tls: trusting)
            var known = trusting
            known.clientIdentity = .init(
                certificate: .file(certificates.certificate(.client)),
                privateKey: .file(certificates.key(.client))
            )

            #expect(try await failure(transport, server, known) == nil)
            #expect(try await failure(transport, server, nil) != nil)
        }

        @Test func `URLSession on Linux rejects a request with an unsupported TLS configuration`() async throws {
            let server = try TLSServer(certificates, .good)
            let transport = try URLSessionTransport()

            #expect(try await failure(transport, server, trusting) == .unsupported)
        }
    #endif
}
