import Foundation
import Switchyard
import SwitchyardDiagnostics
import SwitchyardTesting
import Testing

// The samples of the article on testing, word for word.

enum TestingSamples {
    static func stub(_ service: Service) throws -> (NetworkClient, ManualClock) {
        // sample
        let clock = ManualClock()
        let transport = StubTransport { request in
            request.method == .get
                ? .delayed(by: .seconds(2), on: clock, .json("[]"))
                : .failure(.connectionRefused)
        }
        let client = try NetworkClient(service: service, transport: transport, time: clock)
        // end
        return (client, clock)
    }

    static func expect(_ exercise: (any Transport) async throws -> Void) async throws {
        // sample
        let expected = ExpectedRequests([
            RequestExpectation(.get, "/v1/topics", query: ["page": "1"], answer: .json("[]")),
            RequestExpectation(.post, "/v1/topics", count: 0...1, answer: .status(201)),
        ])
        let transport = StubTransport(expecting: expected)
        try await exercise(transport)
        #expect(expected.problems == [])
        // end
    }

    static func serve() -> LoopbackServer {
        // sample
        let server = LoopbackServer()
        server.route(.post, "/topics") { request in
            guard request.headers["Authorization"] != nil else { return .text("who are you?", status: 401) }
            let draft = try JSONDecoder().decode(Topic.self, from: try await request.body.collect())
            return .json(try JSONEncoder().encode(draft), status: request.queryValue("draft") == "1" ? 202 : 201)
        }
        // end
        return server
    }

    static func use(_ server: LoopbackServer) throws -> TopicAPI {
        // sample
        try server.start()
        let primary = try Server(name: "primary", baseURLs: [.test: ServerURL(server.baseURL)])
        let service = try Service(name: "topics", servers: [primary], defaultEnvironment: .test)
        let topics = TopicAPI(client: try NetworkClient(service: service))
        server.fault = .status(503)
        // end
        return topics
    }

    static func executeLate(on server: LoopbackServer) async {
        // sample
        server.fault = .pause
        // The call times out: error.mayHaveBeenExecuted is true.
        server.fault = nil
        await server.waitUntilIdle()  // The write has been executed.
        // end
    }

    static func transfers(_ bytes: Data, on server: LoopbackServer) -> LoopbackUploads {
        // sample
        let film = LoopbackContent(bytes, entityTag: "\"v1\"")
        server.route(.get, "/films/7.mov") { request in film.response(to: request) }
        let uploads = LoopbackUploads(.tus)
        uploads.open(on: server, at: "/files")
        uploads.cut(after: 300_000)
        // end
        return uploads
    }

    static func astonish(_ server: LoopbackServer, on clock: ManualClock) {
        // sample
        let stray = Data("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n".utf8)
        server.route(.get, "/kept") { request in
            request.numberOnConnection == 1 ? .json("[]").followed(by: stray) : .json("[\(request.connection)]")
        }
        server.route(.get, "/late", answering: .json("[]").followed(by: stray, after: .seconds(2), on: clock))
        // end
    }

    private struct MissingRetry: Error {}

    static func tryRules(_ signing: RequestInterceptor, _ retrying: RequestInterceptor) async throws {
        // sample
        var call = APIConfiguration(path: "topics")
        let context = DispatchContext(service: "topics", environment: .test)
        try await signing.adapt?(&call, context)
        #expect(call.headers["X-Signature"] != nil)

        let refused = RequestFailure(
            .transport(TransportError(.connectionRefused, message: "nobody listens")),
            id: context.id,
            context: RequestContext(service: "topics", environment: .test, method: .get)
        )
        let round = RoundResult(configuration: call, context: context, result: .failure(refused))
        guard case .retry? = try await retrying.retry?(round) else { throw MissingRetry() }
        // end
    }

    static func replay(_ file: URL, _ exercise: (any Transport) async throws -> Void) async throws -> StubTransport {
        // sample
        let recording = RecordingTransport(try Transports.systemDefault())
        try await exercise(recording)
        try recording.archive.data().write(to: file)

        let replay = StubTransport(replaying: try HARArchive(data: Data(contentsOf: file)))
        // end
        return replay
    }
}
