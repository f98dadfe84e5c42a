#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardTransport
    import Testing

    /// The chains that the transport accepts or rejects: name constraints (RFC 5280 section 4.2.1.10) and path building
    /// (section 6), as in Netflix's BetterTLS.
    @Suite(.serialized, .timeLimit(.minutes(5)), .prompt) struct ChainBuildingTests {
        /// A chain of a root, an intermediate certificate and a server certificate.
        struct Chain: Sendable, CustomTestStringConvertible {
            let name: String
            var intermediate = authority
            var leaf = "subjectAltName=DNS:localhost\nextendedKeyUsage=serverAuth\n"
            var host = "localhost"
            /// The number of days for which the intermediate certificate is valid.
            var days = 30
            let isAccepted: Bool

            var testDescription: String { name }

            static let authority = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n"

            /// A chain whose intermediate certificate has a name constraint.
            static func constrained(_ constraint: String, address: Bool = false, isAccepted: Bool) -> Chain {
                Chain(
                    name: "\(constraint) for \(address ? "an address" : "a name")",
                    intermediate: authority + "nameConstraints=critical,\(constraint)\n",
                    leaf: "subjectAltName=\(address ? "IP:127.0.0.1" : "DNS:localhost")\nextendedKeyUsage=serverAuth\n",
                    host: address ? "127.0.0.1" : "localhost",
                    isAccepted: isAccepted
                )
            }
        }

        private static let chains: [Chain] = [
            Chain(name: "no constraint", isAccepted: true),
            .constrained("permitted;DNS:localhost", isAccepted: true),
            .constrained("permitted;DNS:example.com", isAccepted: false),
            .constrained("excluded;DNS:localhost", isAccepted: false),
            .constrained("excluded;DNS:example.com", isAccepted: true),
            .constrained("permitted;IP:10.0.0.0/255.0.0.0", isAccepted: true),
            .constrained("permitted;IP:127.0.0.0/255.0.0.0", address: true, isAccepted: true),
            .constrained("permitted;IP:10.0.0.0/255.0.0.0", address: true, isAccepted: false),
            .constrained("excluded;IP:127.0.0.0/255.0.0.0", address: true, isAccepted: false),
            .constrained("permitted;DNS:example.com", address: true, isAccepted: true),
            Chain(
                name: "an intermediate certificate that is no authority",
                intermediate: "basicConstraints=CA:FALSE\n",
                isAccepted: false
            ),
            Chain(
                name: "an intermediate certificate that may not sign certificates",
                intermediate: "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,digitalSignature\n",
                isAccepted: false
            ),
            Chain(
                name: "an intermediate certificate for clients only",
                intermediate: Chain.authority + "extendedKeyUsage=clientAuth\n",
                isAccepted: false
            ),
            Chain(name: "an expired intermediate certificate", days: -1, isAccepted: false),
            Chain(
                name: "a certificate for clients only",
                leaf: "subjectAltName=DNS:localhost\nextendedKeyUsage=clientAuth\n",
                isAccepted: false
            ),
            Chain(
                name: "a critical extension that is unknown",
                leaf: "subjectAltName=DNS:localhost\nextendedKeyUsage=serverAuth\n1.2.3.4=critical,ASN1:NULL\n",
                isAccepted: false
            ),
        ]

        private let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder.made()
            let new = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
            try openssl("req -x509 \(new) -days 30 -subj /CN=Root -keyout root.key -out root.pem")
            try openssl("req \(new) -subj /CN=Intermediate -keyout intermediate.key -out intermediate.csr")
            try openssl("req \(new) -subj /CN=Server -keyout leaf.key -out leaf.csr")
        }

        private func openssl(_ arguments: String) throws {
            let words = arguments.split(separator: " ").map(String.init)
            let shell = ["/bin/sh", "-c", "cd '\(folder.url.path)' && exec openssl \"$@\"", "openssl"]
            try ChildCommand.run(shell + words)
        }

        /// Signs the request `subject` and writes the certificate to `file`.
        private func sign(
            _ subject: String,
            by issuer: String,
            extensions: String,
            days: Int,
            into file: String
        ) throws {
            _ = try folder.file("\(file).ext", Data(extensions.utf8))
            let (issuerFiles, validity) = ("-CA \(issuer).pem -CAkey \(issuer).key -CAcreateserial", "-days \(days)")
            try openssl("x509 -req -in \(subject).csr \(issuerFiles) \(validity) -extfile \(file).ext -out \(file).pem")
        }

        private func make(_ chain: Chain) throws {
            try sign("intermediate", by: "root", extensions: chain.intermediate, days: chain.days, into: "intermediate")
            try sign("leaf", by: "intermediate", extensions: chain.leaf, days: 30, into: "leaf")
        }

        /// The failure of a request to a server that sends its certificate and those in `files`.
        private func failure(_ host: String, sending files: [String]) async throws -> TransportError? {
            let sent = try files.map { try Data(contentsOf: folder.url.appending(path: "\($0).pem")) }
            let chain = try folder.file("chain.pem", sent.reduce(Data(), +))
            let (certificate, key) = (folder.url.appending(path: "leaf.pem"), folder.url.appending(path: "leaf.key"))
            let launch = try TLSLaunch()
            let server = try ChildCommand(
                launch.command + [
                    "-www", "-cert", certificate.path, "-key", key.path, "-cert_chain", chain.path,
                ]
            )
            defer { withExtendedLifetime(server) {} }
            let port = try launch.port(in: server.output)
            var configuration = CurlTransport.Configuration()
            configuration.tls = TLSConfiguration(trustRoots: .file(folder.url.appending(path: "root.pem")))
            let transport = try CurlTransport(configuration: configuration)
            defer { transport.shutdown() }
            let url = try #require(RequestURL("https://\(host):\(port)/"))
            return await transport.failure(of: HTTPRequest(url: url, timeouts: .init(total: .seconds(60))))
        }

        @Test(arguments: chains)
        func `a certificate chain is accepted only if every certificate permits it`(_ chain: Chain) async throws {
            try make(chain)

            let error = try await failure(chain.host, sending: ["intermediate"])

            #expect(error?.kind == (chain.isAccepted ? nil : .certificateRejected))
        }

        @Test(arguments: [["expired", "intermediate"], ["intermediate", "expired"], ["unrelated", "intermediate"]])
        func `a valid certificate chain is found among certificates that do not belong to it`(_ files: [String])
            async throws
        {
            try make(Chain(name: "", isAccepted: true))
            let authority = Chain.authority
            try sign("intermediate", by: "root", extensions: authority, days: -1, into: "expired")
            try sign("leaf", by: "root", extensions: authority, days: 30, into: "unrelated")

            #expect(try await failure("localhost", sending: files) == nil)
        }

        @Test func `a server that sends no intermediate certificate is rejected if the chain needs one`() async throws {
            try make(Chain(name: "", isAccepted: true))

            #expect(try await failure("localhost", sending: ["leaf"])?.kind == .certificateRejected)
        }
    }
#endif
