import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// A gateway that gives up on its server, which executes the write later.
@Suite(.timeLimit(.minutes(5)), .prompt) struct GatewayWriteTests {
    /// Varnish, Fastly and Heroku's router respond with 503 when their server sends no first byte in time.
    @Test(arguments: [502, 503, 504], [HTTPMethod.put, .delete, .post])
    func `a gateway's 502, 503 or 504 for a write reports that the write may have been executed`(
        status: Int,
        method: HTTPMethod
    ) async throws {
        let value = Locked("first")
        let origin = LoopbackServer()
        let store: LoopbackHandler = { request in
            let body = String(decoding: try await request.body.collect(), as: UTF8.self)
            value.withLock { $0 = request.method == .delete ? "deleted" : body }
            return .text("done")
        }
        for name in [HTTPMethod.put, .delete, .post] { origin.route(name, "/items/a", store) }
        try origin.start()
        origin.fault = .pause
        let inner = try NetworkClient(service: .loopback([origin], switching: .off))
        let gateway = LoopbackServer()
        gateway.route(nil, "/items/a") { request in
            guard !request.method.isSafe else { return .text("here") }
            let body = try await request.body.collect()
            _ = await inner.result(
                of: APIConfiguration(
                    path: "items/a",
                    method: request.method,
                    body: .data(body),
                    timeout: .milliseconds(300)
                )
            )
            return .text("", status: status)
        }
        let other = LoopbackServer()
        other.route(nil, "/items/a") { request in
            if !request.method.isSafe { return try await store(request) }
            return .text("here")
        }
        for server in [gateway, other] { try server.start() }
        let client = try NetworkClient(service: .loopback([gateway, other]))
        func write(_ method: HTTPMethod, _ text: String) -> APIConfiguration {
            APIConfiguration(path: "items/a", method: method, body: .text(text), timeout: .seconds(10))
        }

        let old = await client.result(of: write(method, "old"))
        var isDone = false
        if case .success(let response) = old { isDone = response.status < 300 }
        let told = old.context.mayHaveBeenExecuted
        value.withLock { $0 = "new" }
        origin.fault = nil
        _ = await origin.waitUntilIdle()
        client.shutdown()
        inner.shutdown()
        for server in [origin, gateway, other] { server.stop() }

        // Either the caller knows that the old write may be executed, or the newer value stays.
        #expect(!isDone)
        #expect(told)
    }
}
