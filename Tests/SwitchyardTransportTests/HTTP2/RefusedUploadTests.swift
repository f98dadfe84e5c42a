#if os(Linux)
    import Foundation
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardServices
    import Testing

    /// Calls whose body a server has read before it refuses the request (RFC 9113 section 8.7).
    @Suite(.timeLimit(.minutes(5)), .prompt) struct RefusedUploadTests {
        /// The signal by which a server refuses a request.
        enum Refusal: Sendable, CaseIterable {
            case refusedStream, goAway
        }

        /// The way in which the call provides its body.
        enum Source: Sendable, CaseIterable {
            case bytes, stream, file

            fileprivate func body(_ folder: TemporaryFolder) throws -> RequestBody {
                switch self {
                case .bytes: return .data(RefusedUploadTests.content)
                case .stream: return .stream(.of([Data("first ".utf8), Data("second".utf8)], length: nil))
                case .file: return .file(try folder.file("body", RefusedUploadTests.content))
                }
            }
        }

        private static let content = Data("first second".utf8)

        private let lab: HTTP2Lab
        private let folder: TemporaryFolder

        init() throws {
            lab = try HTTP2Lab()
            folder = try TemporaryFolder.made()
        }

        /// A server that reads the body of a request and then refuses the request.
        private func refuse(_ refusal: Refusal) throws -> HTTP2Server {
            try lab.serve { event in
                guard case .data(_, let stream, true) = event else { return [] }
                switch refusal {
                case .refusedStream: return [.reset(stream, .refusedStream)]
                case .goAway: return [.goAway(last: stream - 1)]
                }
            }
        }

        /// A server that responds with the body of the request.
        private func echo() throws -> HTTP2Server {
            let received = Locked(Data())
            return try lab.serve { event in
                guard case .data(let bytes, let stream, let ends) = event else { return [] }
                let body = received.withLock { received in
                    received.append(bytes)
                    return received
                }
                return ends ? HTTP2Frame.answer(String(decoding: body, as: UTF8.self), to: stream) : []
            }
        }

        private func service(_ urls: [String]) throws -> Service {
            // On a busy machine, a slow handshake would move the request to the next server.
            var policy = SwitchPolicy.recommended
            policy.hedging = nil
            return try Service(
                name: "uploads",
                servers: zip(["primary", "secondary"], urls).map { name, url in
                    try Server(name: name, baseURLs: [.test: ServerURL(url)])
                },
                defaultEnvironment: .test,
                switching: policy
            )
        }

        private func upload(_ source: Source) throws -> APIConfiguration {
            APIConfiguration(path: "a", method: .post, body: try source.body(folder), timeout: .seconds(100))
        }

        @Test(arguments: Refusal.allCases, Source.allCases)
        func `a POST that a server refused after its body is sent again on a new connection to the same server`(
            _ refusal: Refusal,
            _ source: Source
        ) async throws {
            // For a stream, libcurl opens a second connection, on which nothing is sent.
            let servers = [try refuse(refusal), try echo(), try echo()]
            let relay = try TCPRelay(to: servers.map(\.url))
            let client = try lab.client(try service([relay.url]))
            defer { client.shutdown() }

            let response = try await client.send(try upload(source))

            #expect(response.text == "first second")
        }

        @Test(arguments: Refusal.allCases, Source.allCases)
        func `a POST that a server refuses repeatedly after its body goes to the next server`(
            _ refusal: Refusal,
            _ source: Source
        ) async throws {
            let servers = [try refuse(refusal), try refuse(refusal), try refuse(refusal)]
            let relay = try TCPRelay(to: servers.map(\.url))
            let next = try echo()
            let client = try lab.client(try service([relay.url, next.url]))
            defer { client.shutdown() }

            let response = try await client.send(try upload(source))

            #expect(response.text == "first second")
            #expect(response.context.server == "secondary")
        }

        @Test(arguments: Refusal.allCases)
        func `a POST whose refused body cannot be created again fails, and has not been executed`(
            _ refusal: Refusal
        ) async throws {
            struct Spent: Error {}
            let servers = [try refuse(refusal), try refuse(refusal), try refuse(refusal)]
            let relay = try TCPRelay(to: servers.map(\.url))
            let next = try echo()
            let client = try lab.client(try service([relay.url, next.url]))
            defer { client.shutdown() }
            let isSpent = Locked(false)
            let source = HTTPBody.Stream(length: nil) {
                let wasSpent = isSpent.withLock { spent in
                    defer { spent = true }
                    return spent
                }
                if wasSpent { throw Spent() }
                return try HTTPBody.Stream.of([Self.content], length: nil).makeReader()
            }
            let call = APIConfiguration(path: "a", method: .post, body: .stream(source), timeout: .seconds(100))

            guard case .failure(let failure) = await client.result(of: call) else {
                Issue.record("the POST must fail")
                return
            }

            guard case .transport(let error) = failure.reason else {
                Issue.record("the transport must fail")
                return
            }
            #expect(error.kind == .requestBodyFailed)
            #expect(!failure.mayHaveBeenExecuted)
        }
    }
#endif
