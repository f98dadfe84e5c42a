import Dispatch
import Foundation
import Switchyard
import SwitchyardDiagnostics
import SwitchyardFixtures
import SwitchyardOutbox
import SwitchyardRequests
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// Runs the samples of the articles on groups, dispatch, diagnostics, switching and testing.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ArticleRunTests {
    private func service(_ base: String = "http://one.example/v1") throws -> Service {
        let one = try Server(name: "one", baseURLs: [.test: ServerURL(base), .develop: ServerURL(base)])
        let two = try Server(name: "secondary", baseURLs: [.test: ServerURL(base), .develop: ServerURL(base)])
        return try Service(name: "forum", servers: [one, two], defaultEnvironment: .test, switching: .off)
    }

    private func client(_ options: NetworkClient.Options = NetworkClient.Options()) throws -> NetworkClient {
        let transport = StubTransport([
            "/v1/topics": .json(#"[{"id":1,"title":"one"}]"#), "/v1/users/7": .json(#"{"id":7,"name":"seven"}"#),
            "/v1/login": .json(#"{"user":7}"#),
        ])
        return try NetworkClient(service: service(), transport: transport, options: options)
    }

    @Test func `the samples in the Groups article run`() async throws {
        let api = GroupsSamples.ForumAPI(client: try client())

        #expect(try await GroupsSamples.hold(api) { _ in }.value() == [Topic(id: 1, title: "one")])
        #expect(try await GroupsSamples.together(api, [7, 7]) == ["seven", "seven", "seven", "one"])
        #expect(await GroupsSamples.chain(api).members == [.succeeded, .succeeded])
        #expect(try await GroupsSamples.graph(api).members == [.succeeded, .succeeded])
    }

    @Test func `the policy in the Switching article is valid`() async throws {
        let service = try SwitchingSamples.choose()

        #expect(service.switching.selection == .lowestLatency)
        #expect(service.servers.map(\.name) == ["primary", "secondary"])
        let client = try NetworkClient(service: service, transport: StubTransport { _ in .status(200) })
        client.shutdown()
        await SwitchingSamples.watch(client)
    }

    @Test func `the samples in the Dispatch article run`() async throws {
        var options = NetworkClient.Options()
        var search = APIConfiguration(path: "topics")
        DispatchSamples.limit(&options, &search)
        DispatchSamples.share(&search)
        DispatchSamples.name(DispatchSamples.Account(number: "7"), &options)
        let client = try client(options)
        #expect(try await client.send(search).status == 200)

        let file = FileManager.default.temporaryDirectory.appendingPathComponent("samples-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, run) = try DispatchSamples.keep(client, in: file, title: "two")
        // The write is sent either by the run, which needs a network, or by this call.
        let events = outbox.events()
        try await outbox.flush()
        if !outbox.entries.isEmpty {
            for await case .sent in events { break }
        }
        #expect(outbox.entries.isEmpty)
        run.stop()
        #expect(try outbox.store(APIConfiguration(path: "topics", method: .post)).user == "7")
        try DispatchSamples.drop("7", outbox)
        #expect(outbox.entries.isEmpty)
        var rules = Outbox.Options()
        DispatchSamples.accept(&rules)
        try DispatchSamples.replace("text", outbox)
        try await DispatchSamples.takeOut(outbox)
        #expect(outbox.entries.isEmpty)
        await DispatchSamples.cancel(client, RequestID())
    }

    @Test func `the samples in the Diagnostics article run`() async throws {
        var options = NetworkClient.Options()
        let (recorder, meter) = DiagnosticsSamples.watch(&options, DiagnosticsSamples.Spinner())
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        // Observers are called in order, so this one receives the end after the others.
        options.interceptors.append(
            .observing { event in if case .ended = event.kind { ended.finish() } }
        )
        let client = try client(options)

        _ = try await client.send(APIConfiguration(path: "topics"))
        for await _ in ends {}

        #expect(recorder.archive.entries.count == 1)
        #expect(meter.snapshot.apis["GET topics"]?.latency.quantile(0.99) != nil)
    }

    @Test func `the redaction sample in the Diagnostics article hides the names that the app adds`() {
        var options = NetworkClient.Options()

        let redaction = DiagnosticsSamples.hide(&options)

        #expect(redaction.url("/x?voucher=a&ourLicenseKey=b&page=1") == "/x?voucher=***&ourLicenseKey=***&page=1")
        #expect(redaction.value("a", ofHeader: "X-Club") == "***")
        #expect(options.interceptors.count == 2)
    }

    @Test func `the stubbed client in the Testing article waits for its clock`() async throws {
        let (client, clock) = try TestingSamples.stub(service())

        async let answer = client.send(APIConfiguration(path: "topics"))
        await clock.waitForTimers(1, in: .seconds(2))
        clock.advance(by: .seconds(2))

        #expect(try await answer.status == 200)
        await #expect(throws: RequestFailure.self) {
            try await client.send(APIConfiguration(path: "topics", method: .post))
        }
    }

    @Test func `the sample server in the Testing article reads its requests`() async throws {
        let server = TestingSamples.serve()
        try server.start()
        defer { server.stop() }
        let client = try NetworkClient(service: service(server.baseURL))
        var create = APIConfiguration(path: "topics", method: .post, query: ["draft": 1])
        create.body = .json(Topic(id: 1, title: "one"))

        #expect(try await client.send(create).status == 401)
        create.headers["Authorization"] = "Bearer token"
        let answer = try await client.send(create)
        #expect(answer.status == 202)
        guard case .whole(let data) = answer.response.body else { throw CancellationError() }
        #expect(try JSONDecoder().decode(Topic.self, from: data) == Topic(id: 1, title: "one"))
    }

    @Test func `the sample server in the Testing article sends unsolicited bytes`() async throws {
        let (server, clock) = (LoopbackServer(), ManualClock())
        TestingSamples.astonish(server, on: clock)
        try server.start()
        defer { server.stop() }
        let client = try NetworkClient(service: service(server.baseURL))

        let answer = try await client.send(APIConfiguration(path: "late"))
        await clock.waitForTimers(1)

        #expect(answer.status == 200)
        #expect(server.requests.map(\.numberOnConnection) == [1])
    }

    @Test func `the sample server in the Testing article interrupts an upload, which then resumes`() async throws {
        let server = LoopbackServer()
        let bytes = Data(repeating: 7, count: 400_000)
        let uploads = TestingSamples.transfers(bytes, on: server)
        try server.start()
        defer { server.stop() }
        let client = try NetworkClient(service: service(server.baseURL))
        var upload = UploadConfiguration(path: "files", from: .data(bytes))
        upload.resumption = .tus()

        _ = try await client.upload(upload)
        let file = try await client.download(DownloadConfiguration(path: "films/7.mov"))
        defer { try? FileManager.default.removeItem(at: file.url) }

        #expect(uploads.uploads.map(\.bytes) == [bytes])
        #expect(try Data(contentsOf: file.url) == bytes)
    }

    @Test func `the samples in the Testing article call an app's own rules directly`() async throws {
        try await TestingSamples.tryRules(
            .adapting { configuration, context in
                configuration.headers["X-Signature"] = "\(context.service) \(context.round) \(context.remaining)"
            },
            .retrying { round in
                round.isSafeToRepeat && round.context.retries == 0 ? .retry(after: .seconds(1)) : .accept
            }
        )
    }

    @Test func `the samples in the Testing article can check requests and replay them`() async throws {
        try await TestingSamples.expect { transport in
            let client = try NetworkClient(service: service(), transport: transport)
            _ = try await client.send(APIConfiguration(path: "topics", query: ["page": 1]))
        }

        let server = LoopbackServer()
        server.route(.get, "/topics", answering: .json("[1]"))
        try server.start()
        defer { server.stop() }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).har")
        defer { try? FileManager.default.removeItem(at: file) }
        let replay = try await TestingSamples.replay(file) { transport in
            let client = try NetworkClient(service: service(server.baseURL), transport: transport)
            _ = try await client.send(APIConfiguration(path: "topics"))
        }
        let request = HTTPRequest(url: try RequestURL(validating: server.baseURL + "/topics"))
        #expect(try await replay.send(request).status == 200)
    }
}
