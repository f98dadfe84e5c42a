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
        case stream, download, upload, webSocket, outbox
    }

    private func started(isDown: Bool) throws -> LoopbackServer {
        let server = LoopbackServer()
        server.setDefaultRoute { _ in .text("ok") }
        try server.start()
        if isDown { server.fault = .refuse }
        return server
    }

    private func send(_ way: Way, through client: NetworkClient, in folder: URL) async throws {
        let source = folder.appendingPathComponent("source")
        try Data(repeating: 1, count: 1000).write(to: source)
        switch way {
        case .stream: _ = try await client.stream(APIConfiguration(path: "orders"))
        case .download:
            let target = folder.appendingPathComponent("target")
            _ = try await client.download(DownloadConfiguration(path: "orders", to: .file(target)))
        case .upload: _ = try await client.upload(UploadConfiguration(path: "orders", from: .file(source)))
        case .webSocket: _ = try await client.webSocket(APIConfiguration(path: "orders"))
        case .outbox:
            let outbox = try Outbox(file: folder.appendingPathComponent("outbox"), client: client)
            try outbox.store(APIConfiguration(path: "orders", method: .post))
            try await outbox.flush()
        }
    }

    @Test(arguments: Way.allCases, [true, false])
    func `no request reaches a mirror that does not serve it`(way: Way, isMirrorFirst: Bool) async throws {
        let primary = try started(isDown: !isMirrorFirst)
        let mirror = try started(isDown: false)
        var servers = try [
            Server(name: "primary", baseURLs: [.test: ServerURL(primary.baseURL)]),
            Server(name: "mirror", baseURLs: [.test: ServerURL(mirror.baseURL)], serves: ["GET /catalog/**"]),
        ]
        if isMirrorFirst { servers.reverse() }
        let service = try Service(name: "shop", servers: servers, defaultEnvironment: .test)
        let client = try NetworkClient(service: service)

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
}
