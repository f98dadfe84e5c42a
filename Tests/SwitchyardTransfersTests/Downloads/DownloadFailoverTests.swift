import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import SwitchyardTransport
import Testing

/// Servers that fail in the middle of a download.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct DownloadFailoverTests {
    private let bytes = DownloadLab.bytes(700_000)

    private var content: LoopbackContent { LoopbackContent(bytes, entityTag: "\"v1\"") }

    private func download(_ lab: DownloadLab) -> DownloadConfiguration {
        lab.download { $0.maximumContinuations = 3 }
    }

    @Test func `if a server truncates the body of a download, the next server sends the rest`() async throws {
        let lab = try DownloadLab(3)
        lab.serve(content)
        lab.servers[0].fault = .truncate(after: 300_000)
        let events = Recorder<DownloadEvent>()
        var download = download(lab)
        download.onEvent = { events.record($0) }

        let file = try await lab.client.download(download)

        #expect(try lab.content == bytes)
        #expect(lab.ranges == [nil, "bytes=300000-"])
        #expect(lab.servers[1].requests.first?.headers["If-Range"] == "\"v1\"")
        #expect(file.receivedBytes == 700_000)
        #expect(file.context.server == "secondary")
        #expect(file.context.attempts == 2)
        guard case .interrupted(at: 300_000, _) = events.values.dropFirst().first else {
            Issue.record("expected an event for the break: \(events.values)")
            return
        }
    }

    @Test func `a download keeps its bytes when the server dies in the middle of the body`() async throws {
        let lab = try DownloadLab(2)
        lab.serve(content)
        lab.servers[0].fault = .drip(bytes: 110_000, every: .milliseconds(500))
        let first = lab.servers[0]

        let file = try await lab.client.download(download(lab)) { report in
            if report.completed > 200_000 { first.fault = .refuse }
        }

        #expect(try lab.content == bytes)
        #expect(file.receivedBytes == 700_000)
        #expect(file.context.server == "secondary")
    }

    @Test func `a download moves to the next server after the idle timeout`() async throws {
        let lab = try DownloadLab()
        let bytes = bytes
        let silence = TransportError(.timeout, message: "nothing was received for longer than the idle timeout")
        let whole: HTTPHeaders = ["ETag": "\"v1\"", "Content-Length": "700000"]
        let rest: HTTPHeaders = ["ETag": "\"v1\"", "Content-Range": "bytes 300000-699999/700000"]
        // Other tests cover the idle timeout of the transport; this test covers the reaction of the download.
        let transport = StubTransport { request in
            guard request.headers["Range"] == "bytes=300000-" else {
                return .chunks([bytes.prefix(300_000)], headers: whole, failing: silence)
            }
            return .chunks([bytes.dropFirst(300_000)], status: 206, headers: rest)
        }
        let client = try NetworkClient(service: .topics(switching: .off), transport: transport)

        let file = try await client.download(download(lab))

        #expect(try lab.content == bytes)
        #expect(transport.requests.map(\.server) == ["primary", "secondary"])
        #expect(transport.requests.allSatisfy { $0.timeouts.idle == .seconds(60) })
        #expect(file.receivedBytes == 700_000)
    }

    @Test
    func `a download does not return to a server that truncated the body, even if the order of the servers changes`()
        async throws
    {
        let lab = try DownloadLab()
        let bytes = bytes
        let box = Locked<NetworkClient?>(nil)
        let whole: HTTPHeaders = ["ETag": "\"v1\"", "Content-Length": "700000"]
        let rest: HTTPHeaders = ["ETag": "\"v1\"", "Content-Range": "bytes 300000-699999/700000"]
        let transport = StubTransport { request in
            switch request.server {
            case "primary":
                let cut = TransportError(.truncated, message: "cut")
                return .chunks([bytes.prefix(300_000)], headers: whole, failing: cut)
            case "secondary":
                if let client = box.withLock({ $0 }) {
                    try? client.replaceServers(client.service.servers.reversed())
                }
                return .failure(.connectionReset)
            default: return .chunks([bytes.dropFirst(300_000)], status: 206, headers: rest)
            }
        }
        var policy = SwitchPolicy.recommended
        (policy.hedging, policy.warmUp) = (nil, nil)
        let client = try NetworkClient(service: .topics(switching: policy), transport: transport)
        box.withLock { $0 = client }

        let file = try await client.download(download(lab))

        #expect(transport.requests.map(\.server) == ["primary", "secondary", "tertiary"])
        #expect(try lab.content == bytes)
        #expect(file.receivedBytes == 700_000)
        box.withLock { $0 = nil }
    }

    @Test func `the content of the next server replaces the partial file if it differs`() async throws {
        let lab = try DownloadLab(2)
        let other = DownloadLab.bytes(650_000, seed: 3)
        lab.serve(content, on: lab.servers[0])
        lab.serve(LoopbackContent(other, entityTag: "\"v2\""), on: lab.servers[1])
        lab.servers[0].fault = .truncate(after: 300_000)
        let reports = Recorder<TransferProgress>()

        let file = try await lab.client.download(download(lab)) { reports.record($0) }

        #expect(try lab.content == other)
        #expect(file.receivedBytes == 950_000)
        let counts = reports.values.map(\.completed)
        #expect(counts == counts.sorted())
        #expect(counts.last == 650_000)
    }

    @Test func `the partial file of a download is kept if every server truncates the body`() async throws {
        let lab = try DownloadLab(2)
        lab.serve(content)
        for server in lab.servers { server.fault = .truncate(after: 100_000) }
        var download = download(lab)
        download.maximumContinuations = 1

        let failure = try await lab.failure(of: download)
        for server in lab.servers { server.fault = nil }
        let file = try await lab.client.download(download)

        #expect(failure.transportKind == .truncated)
        #expect(failure.keptBytes == 200_000)
        #expect(failure.context.attempts == 2)
        #expect(file.resumedBytes == 200_000)
        #expect(try lab.content == bytes)
    }

    @Test func `a server that truncated the body sends the rest of it if no other server can be reached`() async throws
    {
        let lab = try DownloadLab(2)
        lab.serve(content)
        let server = lab.servers[0]
        server.setFault(.truncate(after: 300_000), on: "/film")
        // Refuses connections but keeps its port, because another test could reuse a free port.
        lab.servers[1].fault = .refuse
        var download = download(lab)
        download.onEvent = { event in
            if case .interrupted = event { server.clearFaults() }
        }

        let file = try await lab.client.download(download)

        #expect(try lab.content == bytes)
        #expect(file.context.server == "primary")
        #expect(server.requests.compactMap { $0.headers["Range"] } == ["bytes=300000-"])
    }

    @Test func `a download with one server resumes there after a pause`() async throws {
        let lab = try DownloadLab()
        lab.serve(content)
        lab.server.setFault(.truncate(after: 300_000), on: "/film")
        let server = lab.server
        var download = download(lab)
        download.onEvent = { event in
            if case .interrupted = event { server.clearFaults() }
        }

        let file = try await lab.client.download(download)

        #expect(try lab.content == bytes)
        #expect(lab.ranges == [nil, "bytes=300000-"])
        #expect(file.receivedBytes == 700_000)
    }

    private func report(_ lab: DownloadLab) -> DownloadConfiguration {
        let request = APIConfiguration(path: "report", method: .post, body: .json(["year": 2026]))
        for server in lab.servers { server.route(.post, "/report", answering: .data(bytes)) }
        return DownloadConfiguration(request, to: .file(lab.target))
    }

    @Test func `a POST whose response breaks is not sent again`() async throws {
        let lab = try DownloadLab(2)
        let download = report(lab)
        for server in lab.servers { server.fault = .truncate(after: 300_000) }

        let failure = try await lab.failure(of: download)

        #expect(failure.transportKind == .truncated)
        let requests = lab.servers.flatMap(\.requests)
        #expect(requests.count { $0.method == .post } == 1)
        #expect(lab.client.servers[0].statistics.lastFailure == .truncated)
        #expect(try lab.files.isEmpty)
    }

    @Test func `a POST with an idempotency key is sent again with the same key and from the start`() async throws {
        let lab = try DownloadLab(2)
        var download = report(lab)
        download.request.idempotencyKey = .automatic
        lab.servers[0].fault = .truncate(after: 300_000)

        let file = try await lab.client.download(download)

        let keys = lab.servers.flatMap { $0.requests.map { $0.headers["Idempotency-Key"] } }
        #expect(try lab.content == bytes)
        #expect(file.context.server == "secondary")
        #expect(keys.count == 2)
        #expect(Set(keys).count == 1)
    }

    @Test func `a truncated body counts as a failure of only the server that truncated it`() async throws {
        let lab = try DownloadLab(2)
        lab.serve(content)
        lab.servers[0].fault = .truncate(after: 300_000)

        _ = try await lab.client.download(download(lab))

        let health = lab.client.servers.map(\.statistics)
        #expect(health[0].failures == 1)
        #expect(health[0].lastFailure == .truncated)
        #expect(health[1].failures == 0)
    }

    @Test func `a server that repeatedly truncates bodies is replaced as the current server`() async throws {
        let lab = try DownloadLab(2)
        lab.serve(content)
        lab.servers[0].fault = .truncate(after: 300_000)
        var download = download(lab)
        download.existingFile = .replace

        for _ in 0..<20 where lab.client.currentServer == "primary" { _ = try await lab.client.download(download) }

        #expect(lab.client.currentServer == "secondary")
        #expect(try lab.content == bytes)
    }

    @Test func `a cancelled download does not count as a failure of any server`() async throws {
        let lab = try DownloadLab(2)
        lab.serve(content)
        lab.servers[0].fault = .drip(bytes: 10_000, every: .milliseconds(5))
        let id = RequestID()

        async let failure = lab.failure(of: download(lab)) { _ in lab.client.cancelAll() }
        let isCancelled = try await failure.isCancellation
        _ = id

        #expect(isCancelled)
        #expect(lab.client.servers.allSatisfy { $0.statistics.failures == 0 })
    }
}
