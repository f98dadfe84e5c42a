import Foundation
import Switchyard
import SwitchyardTesting

/// The routes of the endpoint `/admin/fault`, which sets faults.
struct AdminRoutes: Sendable {
    let faults: FaultSchedule

    /// Returns the usage text of the endpoint, with the first server as the example.
    func help(baseURL: String) -> String {
        let server = faults.names.first ?? "topics/primary"
        let name = server.split(separator: "/").last ?? "primary"
        return """
            Set a fault of a server:
              curl -X PUT '\(baseURL)/admin/fault?server=\(server)&fault=hang&for=5'
              curl -X PUT \(baseURL)/admin/fault -d '{"server": "\(name)", "fault": "status", "status": 503, "percent": 30}'
            Show the active faults, and remove a fault:
              curl \(baseURL)/admin/fault
              curl -X DELETE '\(baseURL)/admin/fault?server=\(server)'

            server   \(server), or \(name) for the servers with this name in all services (default: all servers)
            fault    \(FaultOrder.names.joined(separator: ", "))
            for      the time in seconds after which the fault ends (default: never)
            percent  the percentage of requests that the fault affects (default: 100)
            flap     the period in seconds with which the fault is switched on and off
            status   the status of the fault "status" (default: 503)
            by       the delay of the fault "slow", or the interval of the fault "drip", in seconds
            bytes    the number of bytes of the faults "drip", "reset-in-body", "truncate" and "wrong-length"
            """
    }

    /// Adds the routes to a server.
    ///
    /// Every route refuses a request whose `Host` field does not name this machine. A web page whose host name resolves
    /// to 127.0.0.1 could send such a request.
    func install(on server: LoopbackServer) {
        route(.get, "/admin", on: server) { [weak server] _ in .text(help(baseURL: server?.baseURL ?? "") + "\n") }
        route(.get, "/admin/fault", on: server) { _ in try answer(faults.orders) }
        route(.put, "/admin/fault", on: server) { request in
            let json = try await request.body.collect(upTo: 65_536)
            let order: FaultOrder
            do throws(FaultOrder.Problem) {
                order = try FaultOrder(query: request.queryItems, json: json)
            } catch {
                return try answer(["error": error.description], status: 400)
            }
            return try reply(faults.carryOut(order), to: order.server)
        }
        route(.delete, "/admin/fault", on: server) { request in
            if let unknown = request.queryItems.first(where: { $0.name != "server" }) {
                return try answer(
                    ["error": "unknown parameter \"\(unknown.name)\": only \"server\" is allowed"],
                    status: 400
                )
            }
            let name = request.queryValue("server")
            return try reply(faults.clear(name), to: name)
        }
    }

    private func route(
        _ method: HTTPMethod,
        _ path: String,
        on server: LoopbackServer,
        _ handler: @escaping @Sendable (LoopbackRequest) async throws -> LoopbackResponse
    ) {
        server.route(method, path) { request in
            let host = request.headers["Host"]?.prefix { $0 != ":" } ?? ""
            guard host == "127.0.0.1" || host == "localhost" else {
                return try answer(["error": "invalid Host field: must be 127.0.0.1 or localhost"], status: 403)
            }
            return try await handler(request)
        }
    }

    private func reply(_ concerned: [String], to name: String?) throws -> LoopbackResponse {
        guard concerned.isEmpty, let name else { return try answer(["servers": concerned]) }
        let known = faults.names.joined(separator: ", ")
        return try answer(["error": "unknown server \"\(name)\": must be one of \(known)"], status: 404)
    }

    private func answer(_ value: some Encodable, status: Int = 200) throws -> LoopbackResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return .json(try encoder.encode(value) + Data("\n".utf8), status: status)
    }
}
