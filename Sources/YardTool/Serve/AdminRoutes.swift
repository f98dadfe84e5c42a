import Foundation
import Switchyard
import SwitchyardTesting

/// The routes of the endpoint `/admin/fault`, which sets faults.
struct AdminRoutes: Sendable {
    let faults: FaultSchedule

    /// Returns the usage text.
    static func help(baseURL: String) -> String {
        """
        Let a server misbehave:
          curl -X PUT '\(baseURL)/admin/fault?server=topics/primary&fault=hang&for=5'
          curl -X PUT \(baseURL)/admin/fault -d '{"server": "primary", "fault": "status", "status": 503, "percent": 30}'
        See what is in force, and take it away:
          curl \(baseURL)/admin/fault
          curl -X DELETE '\(baseURL)/admin/fault?server=topics/primary'

        server   topics/primary; primary for those of both services; all when it is left out
        fault    \(FaultOrder.names.joined(separator: ", "))
        for      seconds after which the fault goes by itself
        percent  the share of requests that suffer it
        flap     the period in seconds in which it comes and goes
        status   the status of the fault status
        by       the seconds of slow and drip
        bytes    the bytes of drip, reset-in-body, truncate and wrong-length
        """
    }

    /// Adds the routes to a server.
    func install(on server: LoopbackServer) {
        server.route(.get, "/admin") { [weak server] _ in .text(Self.help(baseURL: server?.baseURL ?? "") + "\n") }
        server.route(.get, "/admin/fault") { _ in try answer(faults.orders) }
        server.route(.put, "/admin/fault") { request in
            let json = try await request.body.collect(upTo: 65_536)
            let order: FaultOrder
            do throws(FaultOrder.Problem) {
                order = try FaultOrder(query: request.queryItems, json: json)
            } catch {
                return try answer(["error": error.description], status: 400)
            }
            return try reply(faults.carryOut(order), to: order.server)
        }
        server.route(.delete, "/admin/fault") { request in
            if let unknown = request.queryItems.first(where: { $0.name != "server" }) {
                return try answer(["error": "unknown parameter \"\(unknown.name)\"; known: server"], status: 400)
            }
            let name = request.queryValue("server")
            return try reply(faults.clear(name), to: name)
        }
    }

    private func reply(_ concerned: [String], to name: String?) throws -> LoopbackResponse {
        guard concerned.isEmpty, let name else { return try answer(["servers": concerned]) }
        let known = faults.names.joined(separator: ", ")
        return try answer(["error": "unknown server \"\(name)\"; known: \(known)"], status: 404)
    }

    private func answer(_ value: some Encodable, status: Int = 200) throws -> LoopbackResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return .json(try encoder.encode(value) + Data("\n".utf8), status: status)
    }
}
