import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting

extension LoopbackServer {
    /// A running server with the routes that most tests need.
    static func running(port: UInt16 = 0, limits: LoopbackLimits = LoopbackLimits()) throws -> LoopbackServer {
        let server = LoopbackServer(port: port, limits: limits)
        server.route(.get, "/topics") { request in .json(#"{"page": \#(request.queryValue("page") ?? "1")}"#) }
        server.route(.post, "/echo") { request in .data(try await request.body.collect()) }
        server.route(.get, "/fixed", answering: .text("fixed"))
        server.route(.get, "/chunks") { _ in
            .stream { writer in
                for piece in ["one ", "two ", "three"] { try await writer.write(piece) }
            }
        }
        server.route(.get, "/empty", answering: LoopbackResponse(status: 204))
        try server.start()
        return server
    }

    /// A running server whose port is not assigned to another test while it is free.
    static func runningApart() throws -> LoopbackServer {
        try UnchosenPort.first { port in
            do { return try running(port: port) } catch LoopbackError.portInUse { return nil }
        }
    }

    /// A new connection to the server.
    func connect(timeout: Duration = .seconds(50)) throws -> RawSocket {
        try RawSocket(port: port, timeout: timeout)
    }
}
