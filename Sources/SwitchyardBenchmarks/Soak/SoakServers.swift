import Foundation
import Switchyard
import SwitchyardTesting

/// Real servers that have a different fault on each of several paths, and a default transport that sends requests to
/// them.
struct SoakServers {
    let transport: any Transport
    private let servers: [LoopbackServer]

    /// The faults by path number; paths with higher numbers have no fault.
    private static let faults: [Fault] = [
        .resetBeforeHead, .resetInBody(), .truncate(), .garbage, .hang, .wrongContentLength(),
        .slow(by: .milliseconds(3)),
        .drip(bytes: 2, every: .milliseconds(1)), .status(429, retryAfter: 0), .status(500), .status(502), .status(503),
        .status(404), .status(401), .percentage(50, of: .truncate()), .flap(.hang, period: .milliseconds(20)),
        .status(302, headers: ["Location": "/list/40"]),
    ]

    init() throws {
        servers = (0..<3).map { _ in LoopbackServer(limits: Self.limits) }
        transport = try Transports.systemDefault()
        for server in servers {
            server.route(.get, "/list/*", answering: .json("[1, 2, 3, 4, 5, 6, 7, 8, 9]"))
            server.route(.post, "/list/*", answering: .json("[1]"))
            for (number, fault) in Self.faults.enumerated() {
                server.setFault(fault, on: LoopbackRoute(nil, "/list/\(number)"))
            }
            try server.start()
        }
    }

    /// The limits of the servers.
    ///
    /// The servers record no requests, because the records are not read.
    private static var limits: LoopbackLimits {
        var limits = LoopbackLimits()
        limits.recordedRequests = 0
        return limits
    }

    func service(_ policy: SwitchPolicy) throws -> Service {
        let names = ["primary", "secondary", "tertiary"]
        return try Service(
            name: "soak",
            servers: zip(names, servers).map { name, server in
                try Server(name: name, baseURLs: ["release": ServerURL(server.baseURL)])
            },
            defaultEnvironment: "release",
            switching: policy
        )
    }

    /// Makes one server after another refuse connections, lose packets or hang for 30 ms.
    ///
    /// After each fault, all servers are healthy for 60 ms. Ends when the task is cancelled.
    func misbehave() async {
        var number = 0
        while !Task.isCancelled {
            let server = servers[number % servers.count]
            server.fault = [.refuse, .blackHole, .hang, nil][number % 4]
            // The benchmark uses real time. If the sleep ends early, the task was cancelled.
            try? await Task.sleep(for: .milliseconds(30))
            server.fault = nil
            try? await Task.sleep(for: .milliseconds(60))
            number += 1
        }
    }

    /// Shuts down the transport and the servers.
    ///
    /// Returns the number of connections that were still open after the shutdown of the transport.
    func stop() async -> Int {
        transport.shutdown()
        var open = 0
        for server in servers {
            // A server notices a closed connection only a short time later and cannot notify this loop, so the count is
            // polled. Five seconds are more than enough.
            for _ in 0..<50 where server.statistics.connectionsOpen > 0 {
                try? await Task.sleep(for: .milliseconds(100))
            }
            open += server.statistics.connectionsOpen
            server.stop()
        }
        return open
    }
}
