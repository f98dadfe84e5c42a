import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardOutbox
import SwitchyardRequests
import SwitchyardResources
import SwitchyardServices
import SwitchyardStreams
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// Each way of sending a request applies the client's rules once.
@Suite(.timeLimit(.minutes(5)), .prompt) struct RuleApplicationTests {
    /// The ways in which a request can be sent.
    enum Way: CaseIterable {
        case send, callback, value, request, resource, stream, webSocket, download, outbox
        case upload, uploadCallback, managerUpload, resumableUpload
    }

    private static func send(_ way: Way, through client: NetworkClient, in folder: URL) async throws {
        let (call, topics) = (APIConfiguration(path: "a"), TopicAPI(client: client))
        switch way {
        case .send: _ = try await client.send(call)
        case .callback:
            _ = try await withCheckedContinuation { result in
                client.send(call, on: .global()) { result.resume(returning: $0) }
            }.get()
        case .value: _ = try await topics.value(Topic.self, for: call)
        case .request: _ = try await topics.request(Topic.self, for: call, on: .global()).value()
        case .resource: _ = try await topics.resource(Topic.self, for: call).load()
        case .stream: _ = try await client.stream(call)
        case .webSocket: _ = try? await client.webSocket(call)
        case .download:
            let target = folder.appendingPathComponent("target")
            _ = try await client.download(DownloadConfiguration(path: "a", to: .file(target)))
        case .outbox:
            let outbox = try Outbox(file: folder.appendingPathComponent("outbox"), client: client)
            try outbox.store(APIConfiguration(path: "a", method: .post))
            try await outbox.flush()
        case .upload, .uploadCallback, .managerUpload, .resumableUpload:
            try await upload(way, through: client, in: folder)
        }
    }

    private static func upload(_ way: Way, through client: NetworkClient, in folder: URL) async throws {
        var upload = UploadConfiguration(path: "a", method: .put, from: .data(Data([1])))
        switch way {
        case .uploadCallback:
            _ = try await withCheckedContinuation { result in
                client.upload(upload, on: .global()) { result.resume(returning: $0) }
            }.get()
        case .managerUpload: _ = try await TopicAPI(client: client).upload(upload, as: Topic.self)
        case .resumableUpload:
            upload.resumption = .tus()
            upload.resumption?.directory = folder
            _ = try? await client.upload(upload)
        default: _ = try await client.upload(upload)
        }
    }

    @Test(arguments: Way.allCases)
    func `a configuration rule adds its header field once to each request, however the request is made`(way: Way)
        async throws
    {
        let server = LoopbackServer()
        server.setDefaultRoute { _ in .json(#"{"id":1,"title":"one"}"#) }
        try server.start()
        let client = try NetworkClient(service: .loopback([server]))
        client.rules.add("/**") { $0.headers.add("X-A", "1") }

        let folder = try TemporaryFolder.made()
        defer { withExtendedLifetime(folder) {} }
        try await Self.send(way, through: client, in: folder.url)

        let fields = server.requests.map { $0.headers.values(of: "X-A") }
        #expect(!fields.isEmpty && fields.allSatisfy { $0 == ["1"] })
    }
}
