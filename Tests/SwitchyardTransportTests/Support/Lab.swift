import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import SwitchyardTransport
import Testing

/// A transport and its server.
struct Lab {
    let subject: Subject
    let transport: any Transport
    let server: LoopbackServer

    /// Runs a test with a new transport and a server with the common routes.
    static func run(
        _ subject: Subject,
        _ prepare: (LoopbackServer) throws -> Void = { _ in },
        _ body: (Lab) async throws -> Void
    ) async throws {
        let server = LoopbackServer()
        addCommonRoutes(to: server)
        try prepare(server)
        try server.start()
        defer { server.stop() }
        let transport = try subject.makeTransport()
        defer { transport.shutdown() }
        try await body(Lab(subject: subject, transport: transport, server: server))
    }

    // MARK: Requests

    func request(
        _ path: String,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = [:],
        body: HTTPBody = .none,
        timeouts: HTTPRequest.Timeouts = .init(total: .seconds(240)),
        delivery: HTTPRequest.Delivery = .whole,
        limit: Int? = nil
    ) throws -> HTTPRequest {
        HTTPRequest(
            method: method,
            url: try #require(RequestURL(server.baseURL + path)),
            headers: headers,
            body: body,
            timeouts: timeouts,
            delivery: delivery,
            responseBodyLimit: limit
        )
    }

    func get(_ path: String) async throws -> HTTPResponse {
        try await transport.send(try request(path))
    }

    func failure(of request: HTTPRequest) async -> TransportError? {
        await transport.failure(of: request)
    }

    // MARK: Routes that the server and the stub share

    static let chunks = (0..<8).map { Data("chunk \($0);".utf8) }
    static let large = Data.pattern(1_000_000)

    private static func addCommonRoutes(to server: LoopbackServer) {
        server.route(.get, "/text", answering: .text("hello"))
        server.route(.get, "/large", answering: .data(large))
        server.route(.get, "/never") { _ in
            try await Task.sleep(for: .seconds(3600))
            return .text("late")
        }
        server.route(.get, "/chunks") { _ in
            .stream { writer in
                for chunk in chunks { try await writer.write(chunk) }
            }
        }
        server.route(nil, "/echo") { request in .data(try await request.body.collect(upTo: 1 << 30)) }
    }

    static let stubbedResponse: @Sendable (HTTPRequest) -> StubResponse = { request in
        switch request.url.foundationURL?.path() {
        case "/text": .status(200, body: Data("hello".utf8))
        case "/large": .chunks([large])
        case "/chunks": .chunks(chunks)
        case "/never": .never
        default: .status(404)
        }
    }
}

extension HTTPResponse {
    /// The complete body.
    func bytes() async throws(TransportError) -> Data {
        switch body {
        case .whole(let data): return data
        case .stream(let stream):
            var bytes = Data()
            for try await piece in stream { bytes.append(piece) }
            return bytes
        }
    }
}

extension Transport {
    /// The failure of a request or its body, or `nil` if there is none.
    func failure(of request: HTTPRequest) async -> TransportError? {
        do throws(TransportError) {
            _ = try await send(request).bytes()
            return nil
        } catch {
            return error
        }
    }
}
