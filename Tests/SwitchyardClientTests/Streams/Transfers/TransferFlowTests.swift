import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// Transfers use the same limits, interceptors, credentials, signatures and retries as all other requests.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct TransferFlowTests {
    private static func lab(
        _ count: Int = 1,
        _ configure: (inout NetworkClient.Options) -> Void
    ) throws -> DownloadLab {
        var options = NetworkClient.Options(seed: 1)
        configure(&options)
        return try DownloadLab(count, options: options)
    }

    /// Accepts requests with the current token.
    private static func gatekeeper(_ gate: TokenGate) -> @Sendable (LoopbackRequest) -> LoopbackResponse? {
        { request in
            guard !gate.admits(request.headers["Authorization"]) else { return nil }
            return LoopbackResponse(
                status: 401,
                headers: ["WWW-Authenticate": "Bearer realm=\"api\""],
                body: .data(Data("no".utf8))
            )
        }
    }

    @Test(arguments: TransferKind.allCases)
    func `a 401 refreshes the credential once and repeats the transfer`(kind: TransferKind) async throws {
        let gate = TokenGate(good: "a1")
        let credentials = Credentials { _ in gate.refresh() }
        credentials.set(.bearer("a0"), in: .test)
        let lab = try Self.lab { $0.credentials = credentials }
        TransferKind.serve(on: lab, refusing: Self.gatekeeper(gate))

        let arrived = try await kind.run(on: lab)

        #expect(arrived == kind.expected)
        #expect(gate.refreshes == 1)
        #expect(gate.refusals == 1)
        #expect(gate.shown.dropFirst().allSatisfy { $0 == "a1" })
    }

    @Test func `transfers that get a 401 at the same time share one refresh`() async throws {
        let gate = TokenGate(good: "a1")
        let credentials = Credentials { _ in gate.refresh() }
        credentials.set(.bearer("a0"), in: .test)
        let lab = try Self.lab { $0.credentials = credentials }
        TransferKind.serve(on: lab, refusing: Self.gatekeeper(gate))

        let arrived = try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<30 {
                let kind = [TransferKind.stream, .upload, .streamedUpload][index % 3]
                group.addTask { try await kind.run(on: lab) == kind.expected }
            }
            return try await group.reduce(0) { $1 ? $0 + 1 : $0 }
        }

        #expect(arrived == 30)
        #expect(gate.refreshes == 1)
    }

    @Test func `a download whose credential expires before the end of the body resumes after a refresh`() async throws {
        let gate = TokenGate(good: "a0")
        let credentials = Credentials { _ in gate.refresh() }
        credentials.set(.bearer("a0"), in: .test)
        let lab = try Self.lab { $0.credentials = credentials }
        TransferKind.serve(on: lab, refusing: Self.gatekeeper(gate))
        lab.server.fault = .truncate(after: 50_000)
        let server = lab.server

        let file = try await lab.client.download(
            lab.download { download in
                download.maximumContinuations = 1
                download.onEvent = { event in
                    guard case .interrupted = event else { return }
                    server.clearFaults()
                    gate.change(to: "a1")
                }
            }
        )

        #expect(try lab.content == TransferKind.content)
        #expect(file.receivedBytes == 200_000)
        #expect(lab.ranges == [nil, "bytes=50000-", "bytes=50000-"])
        #expect(gate.shown == ["a0", "a0", "a1"])
    }

    @Test(arguments: TransferKind.allCases)
    func `a transfer fails with the error of a failed refresh`(kind: TransferKind) async throws {
        let credentials = Credentials { _ in throw CredentialError.loginRequired }
        credentials.set(.bearer("a0"), in: .test)
        let lab = try Self.lab { $0.credentials = credentials }
        TransferKind.serve(on: lab, refusing: Self.gatekeeper(TokenGate(good: "a1")))

        let reason = await kind.failure(on: lab)

        #expect(reason == .credentials(.loginRequired))
        #expect(try lab.files.isEmpty)
        #expect(lab.client.activeRequests.isEmpty)
    }

    @Test(arguments: TransferKind.allCases)
    func `the client's interceptors adapt a transfer before the interceptors of the call`(kind: TransferKind)
        async throws
    {
        let lab = try Self.lab { $0.interceptors = [Self.appending("a")] }
        TransferKind.serve(on: lab)

        _ = try await kind.run(on: lab) { $0.interceptors = [Self.appending("b")] }

        #expect(!lab.server.requests.isEmpty)
        #expect(lab.server.requests.allSatisfy { $0.headers["X-Order"] == "ab" })
    }

    private static func appending(_ letter: String) -> RequestInterceptor {
        .adapting(letter) { configuration, _ in
            configuration.headers["X-Order"] = (configuration.headers["X-Order"] ?? "") + letter
        }
    }

    @Test(arguments: TransferKind.allCases)
    func `a transfer fails with an interceptor's error before it is sent`(kind: TransferKind) async throws {
        let lab = try Self.lab { $0.interceptors = [.adapting("gate") { _, _ in throw SampleError() }] }
        TransferKind.serve(on: lab)

        let reason = await kind.failure(on: lab)

        #expect(reason == .vetoed(InterceptorError(name: "gate", underlying: SampleError())))
        #expect(lab.server.requests.isEmpty)
        #expect(try lab.files.isEmpty)
    }

    @Test(arguments: [TransferKind.download, .stream, .upload, .streamedUpload])
    func `observers of a transfer receive the same events as for any request`(kind: TransferKind) async throws {
        let log = EventLog()
        let lab = try Self.lab { $0.interceptors = [log.interceptor] }
        TransferKind.serve(on: lab)

        _ = try await kind.run(on: lab)

        let tree = ["dispatched", "roundBegan", "attemptSent", "attemptEnded", "roundEnded", "ended"]
        #expect(await log.events(until: "ended") == tree)
    }

    @Test(arguments: [TransferKind.download, .stream, .upload])
    func `the request of a transfer is signed`(kind: TransferKind) async throws {
        let signer = RequestSigner(.hmacSHA256(key: Data("k".utf8)), in: .header("X-S"))
        let lab = try Self.lab { $0.generator.modifiers = [signer.sign] }
        TransferKind.serve(on: lab)

        _ = try await kind.run(on: lab)

        let method = kind == .upload ? "POST" : "GET"
        let body = MessageDigest.sha256(kind == .upload ? TransferKind.content : Data()).hexText
        let expected = MessageDigest.hmacSHA256(Data("\(method)\n/\(kind.path)\n\n\n\(body)".utf8), key: Data("k".utf8))
        #expect(lab.server.requests.map { $0.headers["X-S"] } == [expected.hexText])
    }

    @Test(arguments: [TransferKind.download, .stream, .events])
    func `a retry policy repeats a transfer and discards the body of the 503`(kind: TransferKind) async throws {
        let lab = try Self.lab { $0.retry = RetryPolicy(backoff: .constant(.zero)) }
        let count = Locked(0)
        TransferKind.serve(on: lab) { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            // Far more than any buffer holds. If the client left the body unread and open, the server would keep
            // writing.
            return number == 1 ? .data(Data(count: 32 << 20), status: 503) : nil
        }

        let arrived = try await kind.run(on: lab)

        #expect(arrived == kind.expected)
        await lab.server.waitUntilIdle()
    }

    @Test func `a download with an interceptor fails over when its server truncates the body`() async throws {
        let lab = try Self.lab(2) { $0.interceptors = [Self.appending("a")] }
        TransferKind.serve(on: lab)
        lab.servers[0].fault = .truncate(after: 50_000)

        let file = try await lab.client.download(lab.download { $0.maximumContinuations = 1 })

        #expect(try lab.content == TransferKind.content)
        #expect(file.context.server == "secondary")
        #expect(lab.servers.map { $0.requests.map { $0.headers["Range"] } } == [[nil], ["bytes=50000-"]])
    }
}
