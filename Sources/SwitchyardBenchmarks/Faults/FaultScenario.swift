import SwitchyardTesting

/// A named fault of a server.
struct FaultScenario: Sendable {
    let name: String
    /// Starts the fault on a server.
    let begin: @Sendable (LoopbackServer) -> Void

    /// The route on the servers to which the load sends its requests.
    static let route = LoopbackRoute(nil, "/items/*")

    /// The twelve faults of the measurements of the reference implementation, in the same order.
    ///
    /// As in those measurements, the connections of a server are closed when the server stops listening or loses all
    /// packets. Otherwise, each write request on a silent connection would wait for its deadline.
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

    /// The faults that are measured only if they are named on the command line.
    static var more: [FaultScenario] {
        [whole("silence", .blackHole)]
    }

    /// Returns the faults with these names, in the order in which they are measured.
    ///
    /// Without names, returns ``all``.
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
