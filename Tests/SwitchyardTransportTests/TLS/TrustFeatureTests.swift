import Foundation
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTransport
import Testing

@testable import SwitchyardClient
@testable import SwitchyardHTTP

/// Trust and pins over real connections, in addition to ``TrustTests``.
@Suite(.serialized, .timeLimit(.minutes(5)), .prompt) struct TrustFeatureTests {
    private let certificates: Certificates

    init() throws {
        certificates = try Certificates()
    }

    private var trusting: TLSConfiguration { TLSConfiguration(trustRoots: .file(certificates.authority)) }

    @Test func `trust cannot be disabled, so a private server needs an authority of its own`() async throws {
        let server = try TLSServer(certificates, .good)

        #expect(try await failure(server, TLSConfiguration())?.kind == .certificateRejected)
        #expect(try await failure(server, trusting) == nil)
    }

    @Test func `a rejected certificate is reported as certificateRejected, not as a cancel`() async throws {
        let server = try TLSServer(certificates, .good)
        let client = try NetworkClient(service: server.service())

        let reason = await client.failure(of: APIConfiguration(path: "/"))

        guard case .transport(let error) = reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
        #expect(error.kind == .certificateRejected)
        client.shutdown()
    }

    @Test func `the pin of a certificate is the digest of its key, whether the certificate is PEM or DER`() throws {
        let expected = TLSPin(try certificates.pin(.good))
        let pem = try Data(contentsOf: certificates.certificate(.good))

        #expect(TLSPin(certificate: pem) == expected)
        #expect(TLSPin(certificate: try #require(PEM.certificates(in: pem).first)) == expected)
        #expect(TLSPin(certificate: Data("no certificate".utf8)) == nil)
    }

    @Test func `pins can be read from a folder of certificates`() throws {
        let folder = try TemporaryFolder.made()
        for name in [Certificates.Name.good, .client] {
            _ = try folder.file("\(name.rawValue).cer", try Data(contentsOf: certificates.certificate(name)))
        }
        _ = try folder.file("readme.txt", Data("not looked at".utf8))

        let pins = try TLSPin.certificates(in: folder.url)

        #expect(pins.map(\.base64).sorted() == [try certificates.pin(.good), try certificates.pin(.client)].sorted())
    }

    @Test func `the error for a folder of pins names the file that is not a certificate`() throws {
        let folder = try TemporaryFolder.made()
        _ = try folder.file("good.cer", try Data(contentsOf: certificates.certificate(.good)))
        let file = try folder.file("broken.cer", Data("no certificate".utf8))

        let error = #expect(throws: PinRule.Problem.self) { _ = try TLSPin.certificates(in: folder.url) }

        #expect(error == .noCertificate(path: file.path))
        #expect(error?.description.hasPrefix("\(file.path) contains no certificate: must be ") == true)
    }

    @Test func `the error for a folder of pins without a certificate names the folder`() throws {
        let folder = try TemporaryFolder.made()

        #expect(throws: PinRule.Problem.noCertificate(path: folder.url.path)) {
            _ = try TLSPin.certificates(in: folder.url)
        }
    }

    @Test func `pin rules for hosts apply to real connections`() async throws {
        let server = try TLSServer(certificates, .good)
        let url = try #require(RequestURL(server.url))
        let (good, client) = (try pin(.good), try pin(.client))
        let mismatches = Locked(0)
        let send = { (rule: PinRule) async -> TransportError.Kind? in
            do {
                let transport = try PinnedTransport(rules: [rule], report: { _ in mismatches.withLock { $0 += 1 } }) {
                    pins throws(TransportError) in
                    var tls = trusting
                    tls.pins = pins
                    return try Transports.systemDefault(tls: tls)
                }
                defer { transport.shutdown() }
                _ = try await transport.send(HTTPRequest(url: url, timeouts: .init(total: .seconds(240))))
                return nil
            } catch {
                return (error as? TransportError)?.kind ?? .other
            }
        }
        let host = url.origin.host

        #expect(await send(try PinRule(hosts: host, pins: [good, client])) == nil)
        #expect(await send(try PinRule(hosts: host, pins: [client, try pin(.foreign)])) == .certificateRejected)
        #expect(await send(try PinRule(hosts: host, pins: [client], mode: .reportOnly)) == nil)
        #expect(mismatches.withLock { $0 } == 1)
    }

    private func pin(_ name: Certificates.Name) throws -> TLSPin {
        try #require(TLSPin(try certificates.pin(name)))
    }

    @Test func `a request to a plain http URL is rejected if certificate pins are set`() async throws {
        let transport = try Transports.systemDefault(tls: TLSConfiguration(pins: [try pin(.good)]))
        let url = try #require(RequestURL("http://127.0.0.1:9/"))

        await #expect {
            _ = try await transport.send(HTTPRequest(url: url))
        } throws: {
            ($0 as? TransportError)?.kind == .unsupported
        }
    }

    #if os(Linux)
        @Test func `a server without a stapled revocation response is rejected`() async throws {
            let server = try TLSServer(certificates, .good)
            var tls = trusting
            tls.revocation = .stapled

            #expect(try await failure(server, tls)?.kind == .certificateRejected)
        }

        @Test func `a certificate that is on a revocation list is rejected`() async throws {
            let server = try TLSServer(certificates, .good)
            var tls = trusting
            tls.revocation = .list(try certificates.revocationList(naming: .good))
            #expect(try await failure(server, tls)?.kind == .certificateRejected)

            tls.revocation = .list(try certificates.revocationList(naming: .client))
            #expect(try await failure(server, tls) == nil)
        }
    #endif
}
