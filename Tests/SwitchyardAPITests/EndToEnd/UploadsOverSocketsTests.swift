import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import SwitchyardTransport
import Testing

/// Uploads of managers to a real server.
@Suite(.timeLimit(.minutes(5)), .prompt) struct UploadsOverSocketsTests {
    private let bytes = Data(repeating: 7, count: 100_000)

    @Test func `an upload returns the value of its response and reports progress`() async throws {
        let yard = try LoopbackYard()
        defer { yard.stop() }
        yard.server.route(.post, "/v1/topics") { request in
            .json(#"{"id":\#(try await request.body.collect().count),"title":"new"}"#)
        }
        let sent = Locked<[Int64]>([])
        let upload = UploadConfiguration(path: "topics", from: .data(bytes))

        let topic: Topic = try await TopicAPI(client: yard.client).upload(upload) { report in
            if report.direction == .upload { sent.withLock { $0.append(report.completed) } }
        }

        #expect(topic == Topic(id: 100_000, title: "new"))
        #expect(sent.withLock { $0.last } == 100_000)
    }

    @Test func `the envelope and the errors of a module apply to uploads`() async throws {
        let yard = try LoopbackYard()
        defer { yard.stop() }
        let module = APIModule(
            errors: ModuleErrors(UserError.self, codes: [301: .userNotFound]),
            envelope: Envelope(success: [200])
        )
        let topics = TopicAPI(client: yard.client, module: module)
        let upload = UploadConfiguration(path: "topics", from: .data(bytes))

        yard.server.route(.post, "/v1/topics", answering: .json(#"{"code":200,"data":{"id":7,"title":"new"}}"#))
        let response = try await topics.upload(upload, with: module.serializer(for: Topic.self))
        yard.server.route(.post, "/v1/topics", answering: .json(#"{"code":301,"message":"who?"}"#))
        let error = await #expect(throws: APIError.self) { let _: Topic = try await topics.upload(upload) }

        #expect(response.value.id == 7)
        #expect(response.status == 200)
        #expect(error?.module(UserError.self) == .userNotFound)
    }

    @Test func `a failed upload throws the same error as a failed call`() async throws {
        let yard = try LoopbackYard()
        defer { yard.stop() }
        let topics = TopicAPI(client: yard.client)
        let upload = UploadConfiguration(path: "topics", from: .data(bytes))

        yard.server.route(.post, "/v1/topics", answering: .text("too large", status: 413))
        let refused = await #expect(throws: APIError.self) { let _: Topic = try await topics.upload(upload) }
        yard.server.fault = .refuse
        let dead = await #expect(throws: APIError.self) { let _: Topic = try await topics.upload(upload) }

        #expect(refused?.reason == .status(413))
        #expect(refused?.context.status == 413)
        #expect(dead?.code == .notConnected)
    }

    @Test func `a resumed upload returns a value`() async throws {
        let yard = try LoopbackYard()
        defer { yard.stop() }
        let uploads = LoopbackUploads(.contentRange)
        uploads.open(on: yard.server, at: "/v1/topics")
        uploads.cut(after: 60_000)
        var upload = UploadConfiguration(path: "topics", from: .data(bytes))
        upload.resumption = .contentRange()

        struct Taken: Decodable { var bytes: Int }
        let taken: Taken = try await TopicAPI(client: yard.client).upload(upload)

        #expect(taken.bytes == 100_000)
        #expect(uploads.uploads.map(\.bytes) == [bytes])
    }

    @Test func `an upload with removesTags removes the cached responses with these tags`() async throws {
        let yard = try LoopbackYard()
        defer { yard.stop() }
        yard.server.route(.put, "/v1/topics/7", answering: .json(#"{"id":7,"title":"changed"}"#))
        let topics = TopicAPI(client: yard.client)
        var read = TopicAPI.topic(7, lifetime: .seconds(60))
        read.cache.tags = ["topic"]
        _ = try await topics.value(Topic.self, for: read)
        var upload = UploadConfiguration(path: "topics/7", method: .put, from: .data(bytes))
        upload.request.cache.removesTags = ["topic"]

        let _: Topic = try await topics.upload(upload)
        _ = try await topics.value(Topic.self, for: read)

        #expect(yard.server.requests.map(\.method) == [.get, .put, .get])
    }
}
