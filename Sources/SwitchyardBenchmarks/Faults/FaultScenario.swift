import SwitchyardTesting

/// A fault of a server.
struct FaultScenario: Sendable {
    let name: String
    /// Starts the fault on a server.
    let begin: @Sendable (LoopbackServer) -> Void

    /// The route that the load uses.
    static let route = LoopbackRoute(nil, "/items/*")

    /// The twelve faults of the reference measurements, in their order.
    ///
    /// The server that stops listening and the server whose packets are lost also lose their connections, as in the
    /// reference measurements. Otherwise, each write on a connection that goes silent would wait for its deadline.
    static var all: [FaultScenario] {
        [
            whole("refuse", .refuse, closesConnections: true),
            whole("blackhole", .blackHole, closesConnections: true),
            whole("hang", .hang),
            whole("rst", .resetBeforeHead),
            whole("http500", .status(500)),
            whole("http503", .status(503)),
            FaultScenario(name: "gray500") { $0.setFault(.status(500), on: route) },
            whole("slow1.2s", .slow(by: .milliseconds(1200))),
            whole("truncate", .truncate()),
            whole("flap1s", .flap(.refuse, period: .seconds(1)), closesConnections: true),
            whole("drop30", .percentage(30, of: .hang, seed: .random(in: .min ... .max))),
            whole("err15", .percentage(15, of: .status(500), seed: .random(in: .min ... .max))),
        ]
    }

    /// The faults that are measured only if they are named.
    static var more: [FaultScenario] {
        [whole("silence", .blackHole)]
    }

    /// Returns the faults with these names in the order in which they are measured, or the faults of the reference
    /// measurements if there are no names.
    static func chosen(_ names: Set<String>) throws -> [FaultScenario] {
        if names.isEmpty { return all }
        let known = all + more
        let unknown = names.subtracting(known.map(\.name)).sorted()
        guard unknown.isEmpty else {
            throw BenchmarkError(
                "unknown fault \(unknown.joined(separator: ", ")): must be one of "
                    + known.map(\.name).joined(separator: ", ")
            )
        }
        return known.filter { names.contains($0.name) }
    }

    private static func whole(_ name: String, _ fault: Fault, closesConnections: Bool = false) -> FaultScenario {
        FaultScenario(name: name) { server in
            server.fault = fault
            if closesConnections { server.closeConnections() }
        }
    }
}
