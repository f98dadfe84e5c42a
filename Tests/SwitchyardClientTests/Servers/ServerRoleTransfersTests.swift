import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardOutbox
import SwitchyardServices
import SwitchyardStreams
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// Streams, transfers, WebSockets and the outbox send no request to a server that does not serve it.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ServerRoleTransfersTests {
    /// The ways in which a request can be sent; each has one request that the mirror does not serve.
    enum Way: CaseIterable {
        case call, retriedCall, stream, eventSource, download, parallelDownload, upload, tusUpload, contentRangeUpload
        case webSocket, reconnectingWebSocket, outbox
    }

    private static func started(isDown: Bool = false) throws -> LoopbackServer {
        let server = LoopbackServer()
        server.setDefaultRoute { _ in .text("ok") }
        try server.start()
        if isDown { server.fault = .refuse }
        return server
    }

    /// A server for everything, and a mirror for reads of the catalog.
    private static func servers(_ primary: LoopbackServer, _ mirror: LoopbackServer) throws -> [Server] {
        try [
            Server(name: "primary", baseURLs: [.test: ServerURL(primary.baseURL)]),
            Server(name: "mirror", baseURLs: [.test: ServerURL(mirror.baseURL)], serves: ["GET /catalog/**"]),
        ]
    }

    private static func client(_ servers: [Server]) throws -> NetworkClient {
        var options = NetworkClient.Options(seed: 1)
        options.retry = RetryPolicy(maximumRetries: 3, backoff: .constant(.milliseconds(1)))
        let service = try Service(name: "shop", servers: servers, defaultEnvironment: .test)
        return try NetworkClient(service: service, options: options)
    }

    private func send(_ way: Way, through client: NetworkClient, in folder: URL) async throws {
        let source = folder.appendingPathComponent("source")
        try Data(repeating: 1, count: 1000).write(to: source)
        let (orders, target) = (APIConfiguration(path: "orders"), folder.appendingPathComponent("target"))
        var download = DownloadConfiguration(path: "orders", to: .file(target))
        var upload = UploadConfiguration(path: "orders", from: .file(source))
        switch way {
        case .call: _ = try await client.send(APIConfiguration(path: "orders", method: .post))
        case .retriedCall: _ = try await client.send(orders)
        case .stream: _ = try await client.stream(orders)
        case .eventSource: for try await _ in client.eventSource(orders) {}
        case .download: _ = try await client.download(download)
        case .parallelDownload:
            download.connections = 4
            _ = try await client.download(download)
        case .upload: _ = try await client.upload(upload)
        case .tusUpload, .contentRangeUpload:
            upload.resumption = way == .tusUpload ? .tus() : .contentRange()
            _ = try await client.upload(upload)
        case .webSocket: _ = try await client.webSocket(orders)
        case .reconnectingWebSocket: _ = try await client.reconnectingWebSocket(orders).receive()
        case .outbox:
            let outbox = try Outbox(file: folder.appendingPathComponent("outbox"), client: client)
            try outbox.store(APIConfiguration(path: "orders", method: .post))
            try await outbox.flush()
        }
    }

    @Test(arguments: Way.allCases, [true, false])
    func `no request reaches a mirror that does not serve it`(way: Way, isMirrorFirst: Bool) async throws {
        let primary = try Self.started(isDown: !isMirrorFirst)
        let mirror = try Self.started()
        let servers = try Self.servers(primary, mirror)
        let client = try Self.client(isMirrorFirst ? servers.reversed() : servers)

        let folder = try TemporaryFolder.made()
        let sending = Task { try? await send(way, through: client, in: folder.url) }
        if isMirrorFirst {
            await primary.waitForRequests(1)
        } else {
            for _ in 0..<20 { _ = try await client.send(APIConfiguration(path: "catalog/1")) }
        }
        client.cancelAll()
        sending.cancel()
        _ = await sending.value

        #expect(mirror.requests.allSatisfy { $0.path == "/catalog/1" })
    }

    @Test func `a request that is only built and not sent has the URL of a server that serves it`() throws {
        let servers = try Self.servers(Self.started(), Self.started())
        let client = try Self.client(servers.reversed())
        let mirror = try #require(servers[1].baseURLs[.test]).text
        var named = APIConfiguration(path: "orders")
        named.server = .named("mirror")

        #expect(try client.request(for: APIConfiguration(path: "orders")).url.text.hasPrefix(mirror) == false)
        #expect(try client.request(for: APIConfiguration(path: "catalog/1")).url.text == "\(mirror)/catalog/1")
        #expect(throws: RequestError.url(text: "\(mirror)/orders", reason: .unserved(server: "mirror"))) {
            try client.request(for: named)
        }
    }

    // MARK: - Resumption

    /// An interrupted transfer of a file, which can be resumed.
    enum Interrupted: CaseIterable {
        case download, tusUpload, contentRangeUpload
    }

    /// The primary server, and a mirror that would serve the same transfers if it were asked.
    private struct Lab {
        let servers = [LoopbackServer(), LoopbackServer()]
        let uploads: LoopbackUploads
        let folder: TemporaryFolder
        let bytes = DownloadLab.bytes(700_000)
        private let transfer: Interrupted

        init(_ transfer: Interrupted) throws {
            self.transfer = transfer
            uploads = LoopbackUploads(transfer == .tusUpload ? .tus : .contentRange)
            folder = try TemporaryFolder.made()
            let content = LoopbackContent(bytes, entityTag: "\"v1\"")
            for server in servers {
                server.route(.get, "/film") { content.response(to: $0) }
                uploads.open(on: server)
                try server.start()
            }
            if transfer != .download { try bytes.write(to: file) }
        }

        /// The file that is sent or received.
        var file: URL { folder.url.appendingPathComponent("film") }

        /// The bytes that have arrived at the end of the transfer.
        var arrived: Data? { transfer == .download ? try? Data(contentsOf: file) : uploads.uploads.last?.bytes }

        /// Runs the transfer until it ends or is interrupted.
        func run(through client: NetworkClient) async throws {
            guard transfer != .download else {
                var download = DownloadConfiguration(path: "film", to: .file(file))
                download.maximumContinuations = 0
                _ = try await client.download(download)
                return
            }
            var upload = UploadConfiguration(path: "files", from: .file(file))
            upload.resumption = transfer == .tusUpload ? .tus() : .contentRange()
            upload.resumption?.directory = folder.url.appendingPathComponent("kept")
            upload.resumption?.maximumContinuations = 0
            _ = try await client.upload(upload)
        }

        /// Interrupts the transfer after 300,000 bytes.
        func interrupt(through client: NetworkClient) async throws {
            uploads.cut(after: 300_000)
            if transfer == .download { servers[0].fault = .truncate(after: 300_000) }
            await #expect(throws: (any Error).self) { try await run(through: client) }
        }
    }

    @Test(arguments: Interrupted.allCases)
    func `an interrupted transfer resumes only at a server that serves it`(transfer: Interrupted) async throws {
        let lab = try Lab(transfer)
        let client = try Self.client(Self.servers(lab.servers[0], lab.servers[1]))
        try await lab.interrupt(through: client)

        lab.servers[0].fault = .refuse
        await #expect(throws: (any Error).self) { try await lab.run(through: client) }
        lab.servers[0].fault = nil
        try await lab.run(through: client)

        #expect(lab.arrived == lab.bytes)
        #expect(lab.uploads.uploads.count <= 1)
        #expect(lab.servers[1].requests.isEmpty)
    }

    /// Gives each of two servers the role of the other.
    private static func swapRoles(of servers: [Server], in client: NetworkClient) throws {
        let swapped = zip(servers, servers.map(\.serves).reversed()).map { server, role in
            var server = server
            server.serves = role
            return server
        }
        try client.replaceServers(swapped)
    }

    @Test(arguments: [Interrupted.tusUpload, .contentRangeUpload])
    func `an upload in progress stays with its server even after that server's role excludes uploads`(
        transfer: Interrupted
    ) async throws {
        let lab = try Lab(transfer)
        let servers = try Self.servers(lab.servers[0], lab.servers[1])
        let client = try Self.client(servers)
        var upload = UploadConfiguration(path: "files", from: .file(lab.file))
        upload.resumption = transfer == .tusUpload ? .tus() : .contentRange()
        upload.resumption?.pieceLength = 300_000
        upload.resumption?.onEvent = { event in
            if case .began = event { try? Self.swapRoles(of: servers, in: client) }
        }

        _ = try await client.upload(upload)

        #expect(lab.uploads.uploads.map(\.bytes) == [lab.bytes])
        #expect(lab.servers[1].requests.isEmpty)
    }

    @Test(arguments: [Interrupted.tusUpload, .contentRangeUpload])
    func `an interrupted upload resumes at its server even after that server's role excludes uploads`(
        transfer: Interrupted
    ) async throws {
        let lab = try Lab(transfer)
        let servers = try Self.servers(lab.servers[0], lab.servers[1])
        let client = try Self.client(servers)
        try await lab.interrupt(through: client)

        try Self.swapRoles(of: servers, in: client)
        try await lab.run(through: client)

        #expect(lab.uploads.uploads.map(\.bytes) == [lab.bytes])
        #expect(lab.servers[1].requests.isEmpty)
    }

    @Test
    func `a plain upload in progress ends at its server even after that server's role excludes uploads`()
        async throws
    {
        let lab = try Lab(.tusUpload)
        let servers = try Self.servers(lab.servers[0], lab.servers[1])
        let client = try Self.client(servers)
        let door = Latch()
        lab.servers[0].route(.post, "/orders") { _ in
            await door.wait()
            return .text("done", status: 201)
        }
        let upload = Task { try await client.upload(UploadConfiguration(path: "orders", from: .file(lab.file))) }
        await lab.servers[0].wait { $0.requestsInProgress == 1 }

        try Self.swapRoles(of: servers, in: client)
        door.open()

        #expect(try await upload.value.status == 201)
        #expect(lab.servers[1].requests.isEmpty)
    }

    @Test func `an interrupted download continues at another server if the first server no longer serves the download`()
        async throws
    {
        let lab = try Lab(.download)
        let servers = try Self.servers(lab.servers[0], lab.servers[1])
        let client = try Self.client(servers)
        try await lab.interrupt(through: client)
        lab.servers[0].fault = nil
        let count = lab.servers[0].requests.count

        try Self.swapRoles(of: servers, in: client)
        try await lab.run(through: client)

        #expect(lab.arrived == lab.bytes)
        #expect(lab.servers[0].requests.count == count)
    }
}
