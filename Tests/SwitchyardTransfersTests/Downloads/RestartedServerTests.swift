import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// The only server breaks a body and is temporarily unavailable.
@Suite(.timeLimit(.minutes(5)), .prompt) struct RestartedServerTests {
    private static let bytes = DownloadLab.bytes(1_000)
    private static let cut = TransportError(.truncated, message: "cut")

    private let lab: DownloadLab
    private let clock = ManualClock()

    init() throws {
        lab = try DownloadLab()
    }

    /// Downloads from one server that breaks the body after 600 bytes; the clock advances in every pause.
    private func download(
        continuing count: Int,
        _ answers: [StubResponse]
    ) async throws -> (result: Result<DownloadedFile, DownloadFailure>, transport: StubTransport, pauses: Int) {
        let whole: HTTPHeaders = ["ETag": "\"v1\"", "Content-Length": "1000"]
        let first = StubResponse.chunks([Self.bytes.prefix(600)], headers: whole, failing: Self.cut)
        let transport = StubTransport(answers: [first] + answers)
        let client = try NetworkClient(
            service: .topics(switching: .off, servers: 1),
            transport: transport,
            time: clock
        )
        let (pauses, isOver) = (Locked(0), Locked(false))
        let configuration = lab.download {
            $0.maximumContinuations = count
            $0.onEvent = { if case .interrupted = $0 { pauses.withLock { $0 += 1 } } }
        }
        let task = Task { () async -> Result<DownloadedFile, DownloadFailure> in
            defer { isOver.withLock { $0 = true } }
            do throws(DownloadFailure) { return .success(try await client.download(configuration)) } catch {
                return .failure(error)
            }
        }
        await passPauses { isOver.withLock { $0 } }
        return (await task.value, transport, pauses.withLock { $0 })
    }

    /// Advances the clock over pauses until the condition holds (pauses are shorter than any request timeout).
    private func passPauses(until condition: () -> Bool) async {
        while !condition() {
            await until { condition() || nextPause != nil }
            if let nextPause { clock.advance(to: nextPause) }
        }
    }

    /// The end of the current pause; `nil` if there is none.
    private var nextPause: MonotonicTime? {
        clock.nextDeadline.flatMap { $0 <= clock.now.advanced(by: .seconds(31)) ? $0 : nil }
    }

    private var rest: StubResponse {
        let headers: HTTPHeaders = ["ETag": "\"v1\"", "Content-Range": "bytes 600-999/1000"]
        return .chunks([Self.bytes.dropFirst(600)], status: 206, headers: headers)
    }

    @Test func `a download resumes after its server has refused connections for a while`() async throws {
        let refused = TransportError(.connectionRefused, message: "refused", mayHaveBeenSent: false)

        let done = try await download(continuing: 3, [.failure(refused), .failure(refused), rest])

        #expect(try done.result.get().receivedBytes == 1_000)
        #expect(try lab.content == Self.bytes)
        #expect(done.transport.requests.map { $0.headers["Range"] } == [nil] + Array(repeating: "bytes=600-", count: 3))
    }

    @Test(arguments: [502, 503, 504]) func `a download resumes after a gateway has sent a transient error`(status: Int)
        async throws
    {
        let busy = StubResponse.status(status, headers: ["Retry-After": "30"])

        let done = try await download(continuing: 2, [busy, rest])

        #expect(try done.result.get().receivedBytes == 1_000)
        #expect(done.pauses == 2)
    }

    @Test func `a download resumes after a request without a response`() async throws {
        let whole: HTTPHeaders = ["ETag": "\"v1\"", "Content-Length": "1000"]
        let first = StubResponse.chunks([Self.bytes.prefix(600)], headers: whole, failing: Self.cut)
        let transport = StubTransport(answers: [first, .never, rest])
        let client = try NetworkClient(
            service: .topics(switching: .off, servers: 1),
            transport: transport,
            time: clock
        )
        let isOver = Locked(false)
        let configuration = lab.download { $0.maximumContinuations = 2 }
        let task = Task {
            defer { isOver.withLock { $0 = true } }
            return try await client.download(configuration)
        }

        await passPauses { transport.requestCount == 2 }
        await until { clock.nextDeadline == clock.now.advanced(by: .seconds(60)) }
        clock.advance(by: .seconds(60))
        await passPauses { isOver.withLock { $0 } }

        #expect(try await task.value.receivedBytes == 1_000)
        #expect(transport.requests.map { $0.headers["Range"] } == [nil, "bytes=600-", "bytes=600-"])
    }

    @Test func `each failed attempt to continue counts against maximumContinuations, and the partial file is kept`()
        async throws
    {
        let refused = TransportError(.connectionRefused, message: "refused", mayHaveBeenSent: false)

        let done = try await download(continuing: 2, [.failure(refused), .failure(refused), rest])

        guard case .failure(let failure) = done.result else {
            Issue.record("no failure: \(done.result)")
            return
        }
        #expect(failure.transportKind == .connectionRefused)
        #expect(failure.keptBytes == 600)
        #expect(done.transport.requestCount == 3)
    }

    @Test func `a permanent error response ends the download immediately`() async throws {
        let done = try await download(continuing: 3, [.status(404)])

        guard case .failure(let failure) = done.result else {
            Issue.record("no failure: \(done.result)")
            return
        }
        #expect(failure.reason == .status(404))
        #expect(done.pauses == 1)
    }

    @Test(arguments: [202, 204, 205])
    func `a success response without the content leaves the partial file`(status: Int) async throws {
        let done = try await download(continuing: 3, [.status(status)])

        guard case .failure(let failure) = done.result else {
            Issue.record("no failure: \(done.result)")
            return
        }
        #expect(failure.reason == .status(status))
        #expect(failure.keptBytes == 600)
    }

    // Over several connections.
    @Test(arguments: [.failure(.connectionRefused), .status(502), .status(503)] as [StubResponse])
    func `a part of a parallel download resumes after its server was temporarily unavailable`(meanwhile: StubResponse)
        async throws
    {
        let bytes = DownloadLab.bytes(3 << 20)
        let transport = Self.parts(of: bytes, cutting: 1 << 20, meanwhile: meanwhile)
        let client = try NetworkClient(service: .topics(switching: .off, servers: 1), transport: transport)

        let file = try await client.download(
            lab.download {
                $0.connections = 3
                $0.maximumContinuations = 2
            }
        )

        #expect(try lab.content == bytes)
        #expect(file.receivedBytes == 3 << 20)
        #expect(transport.requests.count { $0.headers["Range"] == nil } == 1)
    }

    /// A server that breaks one part after 1,000 bytes and is unavailable for the first attempt to resume it.
    private static func parts(of bytes: Data, cutting start: Int, meanwhile: StubResponse) -> StubTransport {
        let isBack = Locked(false)
        return StubTransport { request in
            var headers: HTTPHeaders = ["ETag": "\"v1\"", "Accept-Ranges": "bytes"]
            guard let field = request.headers["Range"] else {
                headers.set("Content-Length", "\(bytes.count)")
                return .chunks([bytes], headers: headers)
            }
            let range = field.dropFirst(6).split(separator: "-").compactMap { Int($0) }
            let isAway =
                range[0] == start + 1_000
                && isBack.withLock { isBack in
                    defer { isBack = true }
                    return !isBack
                }
            if isAway { return meanwhile }
            headers.set("Content-Range", "bytes \(range[0])-\(range[1])/\(bytes.count)")
            let part = Data(bytes[range[0]...range[1]])
            guard range[0] == start else { return .chunks([part], status: 206, headers: headers) }
            return .chunks([part.prefix(1_000)], status: 206, headers: headers, failing: cut)
        }
    }
}
