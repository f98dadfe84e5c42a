import Foundation
import Switchyard
import SwitchyardTesting

/// The three servers of a scenario for one client.
struct HarmServers: Sendable {
    static let wellEndpoints = ["topics", "users", "news"]
    static let oddEndpoint = "orders"
    /// The response body of every healthy endpoint.
    static let body = Data(#"{"items":[1,2,3,4,5,6,7,8]}"#.utf8)
    private static let oddRoute = LoopbackRoute(nil, "/\(oddEndpoint)/*")

    private let world: HarmWorld
    private let servers: [LoopbackServer]

    /// Starts the servers, which are healthy until ``begin()``.
    init(_ world: HarmWorld) throws {
        self.world = world
        var limits = LoopbackLimits(recordedRequests: 0)
        if case .apart = world.rhythm { limits.idleTimeout = .seconds(5) }
        servers = (0..<3).map { _ in LoopbackServer(limits: limits) }
        for server in servers {
            for endpoint in Self.wellEndpoints + [Self.oddEndpoint] {
                server.route(nil, "/\(endpoint)/*", answering: .json(Self.body))
            }
            try server.start()
        }
    }

    func service(_ policy: SwitchPolicy) throws -> Service {
        try Service(
            name: "harm",
            servers: zip(["primary", "secondary", "tertiary"], servers).map { name, server in
                Server(name: name, baseURLs: [.test: try ServerURL(server.baseURL)])
            },
            defaultEnvironment: .test,
            switching: policy
        )
    }

    /// Starts the faults and delays of the scenario and resets the request count.
    ///
    /// - Returns: The task that makes servers fail and recover. The caller cancels it at the end.
    func begin() -> Task<Void, any Error> {
        for server in servers { server.clearRecords() }
        if let delay = world.conditions.delay {
            for server in servers.prefix(world.conditions.delayed) { Self.delay(delay, on: server) }
        }
        if let oddity = world.oddity {
            for server in servers.prefix(world.isFirstOnly ? 1 : 3) { oddity.begin(Self.oddRoute, on: server) }
        }
        return Task { [breaks = world.conditions.breaks, servers] in try await breaks?(servers) }
    }

    /// Delays the responses of all healthy endpoints on a server.
    private static func delay(_ delay: @escaping @Sendable (Int, Double) -> Double, on server: LoopbackServer) {
        let answers = Locked(0)
        let start = ContinuousClock.now
        for endpoint in wellEndpoints {
            server.route(nil, "/\(endpoint)/*") { _ in
                let answer = answers.withLock { count in
                    count += 1
                    return count
                }
                let seconds = delay(answer, (ContinuousClock.now - start) / .seconds(1))
                // The benchmark measures slow servers, so the delay uses real time.
                if seconds > 0 { try await Task.sleep(for: .seconds(seconds), tolerance: .zero) }
                return .json(body)
            }
        }
    }

    /// The number of requests that have reached a server since ``begin()``.
    var requests: Int { servers.reduce(0) { $0 + $1.statistics.requestsReceived } }

    func stop() {
        for server in servers { server.stop() }
    }
}
