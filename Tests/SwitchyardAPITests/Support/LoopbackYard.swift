import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardServices
import SwitchyardTesting

/// A loopback server with a client whose clock is manual.
struct LoopbackYard: Sendable {
    let server = LoopbackServer()
    let clock = ManualClock()
    let client: NetworkClient

    /// Starts the server, which returns `answer` for every path until routes are set.
    init(service name: String = "topics", answer: LoopbackResponse = .json(#"{"id":7,"title":"seven"}"#)) throws {
        server.route(nil, "/v1/*", answering: answer)
        try server.start()
        client = try Self.client(of: name, port: server.port, time: clock)
    }

    /// Creates another client of the same server.
    func client(of name: String) throws -> NetworkClient {
        try Self.client(of: name, port: server.port, time: clock)
    }

    private static func client(of name: String, port: UInt16, time: any TimeSource) throws -> NetworkClient {
        let service = try Service(
            name: name,
            servers: [Server(name: "primary", baseURLs: ["test": try ServerURL("http://127.0.0.1:\(port)/v1")])],
            defaultEnvironment: "test",
            switching: .off
        )
        return try NetworkClient(service: service, time: time)
    }

    /// The targets of the received requests in order.
    var targets: [String] { server.requests.map(\.target) }

    /// Returns the number of the request as the title.
    func count() {
        server.route(nil, "/v1/*") { request in .json(#"{"id":1,"title":"\#(request.number)"}"#) }
    }

    func stop() {
        client.shutdown()
        server.stop()
    }
}
