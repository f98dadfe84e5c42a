import Foundation
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient
@testable import SwitchyardTransport

struct TransportsByTLSTests {
    /// Configurations that differ in one property each.
    private static let configurations: [TLSConfiguration] = {
        let (file, data) = (URL(fileURLWithPath: "/one.pem"), Data("one".utf8))
        let digest = Data(repeating: 1, count: 32).base64EncodedString()
        let pins = [TLSPin(digest), TLSPin(digest, of: .certificate)].compactMap(\.self)
        var all = [
            TLSConfiguration(), TLSConfiguration(trustRoots: .file(file)), TLSConfiguration(trustRoots: .pem(data)),
            TLSConfiguration(minimumVersion: .tls13), TLSConfiguration(maximumVersion: .tls12),
            TLSConfiguration(pins: Set(pins.prefix(1))), TLSConfiguration(pins: Set(pins.suffix(1))),
            TLSConfiguration(pins: Set(pins)),
        ]
        for (certificate, key) in [(data, data), (data, Data()), (Data(), data)] {
            for password in [nil, "", "one"] {
                all.append(
                    TLSConfiguration(
                        clientIdentity: .init(certificate: .pem(certificate), privateKey: .pem(key), password: password)
                    )
                )
            }
        }
        for revocation in [TLSConfiguration.Revocation.stapled, .list(file)] {
            var configuration = TLSConfiguration()
            configuration.revocation = revocation
            all.append(configuration)
        }
        return all
    }()

    @Test func `every TLS configuration has its own fingerprint`() {
        let fingerprints = Self.configurations.map(\.fingerprint)

        #expect(Set(fingerprints).count == Self.configurations.count)
        #expect(fingerprints == Self.configurations.map(\.fingerprint))
    }

    @Test func `the description of a client identity contains no key and no password`() {
        let secret = "s3cr3t"
        let source = TLSConfiguration.ClientIdentity.Source.pem(Data(secret.utf8))
        let tls = TLSConfiguration(clientIdentity: .init(certificate: source, privateKey: source, password: secret))

        #expect("\(tls)".contains("identity from 6 bytes of PEM data"))
        #expect(!"\(tls)".contains(secret))
        #expect(!String(reflecting: tls).contains(secret))
    }

    @Test func `a TLS configuration keeps its transport while it is among the most recently used configurations`()
        throws
    {
        let made = Locked<[TLSConfiguration]>([])
        let transports = TransportsByTLS { tls in
            made.withLock { $0.append(tls) }
            return StubTransport { _ in .status(200) }
        }
        let configurations = Array(Self.configurations.prefix(TransportsByTLS.limit))
        try #require(configurations.count == TransportsByTLS.limit)
        let newest = Self.configurations[TransportsByTLS.limit]

        for tls in configurations { _ = try transports.transport(for: tls) }
        _ = try transports.transport(for: configurations[0])
        #expect(made.withLock { $0 } == configurations)
        _ = try transports.transport(for: newest)
        _ = try transports.transport(for: configurations[0])
        _ = try transports.transport(for: configurations[1])

        #expect(made.withLock { $0 } == configurations + [newest, configurations[1]])
    }

    @Test func `a transport that is removed from the cache finishes its exchanges`() async throws {
        let clock = ManualClock()
        let transports = TransportsByTLS { _ in
            StubTransport { _ in .delayed(by: .seconds(1), on: clock, .status(204)) }
        }
        let request = HTTPRequest(url: try RequestURL(validating: "https://a.test/"))
        let (answers, answered) = AsyncStream.makeStream(of: Int?.self)

        for tls in Self.configurations.prefix(TransportsByTLS.limit + 1) {
            _ = transports.start(request, tls, progress: nil) { answered.yield(try? $0.get().status) }
        }
        await clock.waitForTimers(TransportsByTLS.limit + 1, in: .seconds(1))
        clock.advance(by: .seconds(1))

        let statuses = await answers.prefix(TransportsByTLS.limit + 1).reduce(into: []) { $0.append($1) }
        #expect(statuses == Array(repeating: 204, count: TransportsByTLS.limit + 1))
    }

    @Test func `concurrent lookups of a TLS configuration get the same transport`() async throws {
        let transports = TransportsByTLS { _ in StubTransport { _ in .status(200) } }

        let seen = try await withThrowingTaskGroup(of: ObjectIdentifier.self) { group in
            for _ in 0..<50 { group.addTask { ObjectIdentifier(try transports.transport(for: .init()) as AnyObject) } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }

        #expect(seen.count == 1)
    }
}
