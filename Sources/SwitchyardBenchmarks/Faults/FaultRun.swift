import Foundation
import Switchyard
import SwitchyardStreams
import SwitchyardTesting

/// One measurement of one fault: three servers in this process, the load from another process, and the evaluation of
/// the results.
struct FaultRun {
    private let scenario: FaultScenario
    private let method: String
    private let policy: String
    private let workers: Int
    private let servers: [LoopbackServer]

    private static let badFrom = 5.0
    private static let badUntil = 15.0
    private static let duration = 27.0

    init(_ scenario: FaultScenario, method: String, policy: String, workers: Int) throws {
        self.scenario = scenario
        self.workers = workers
        self.method = method
        self.policy = policy
        servers = (0..<3).map { _ in LoopbackServer(limits: LoopbackLimits(recordedRequests: 100_000)) }
        for server in servers {
            server.route(nil, "/items/*") { request in
                _ = try await request.body.collect()
                return .json(#"{"path":"\#(request.path)","items":[1,2,3,4,5,6,7,8]}"#)
            }
            server.setDefaultRoute { _ in .json("{}") }
            try server.start()
        }
    }

    func run() async throws -> FaultResult {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("faults-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let start = Date().timeIntervalSince1970 + 3
        let load = try LoadProcess(service: try writeService(to: folder), arguments: arguments(start: start))
        async let output = load.lines()
        let hits = try await breakFirstServer(from: start)
        let lines = try await output
        for server in servers { server.stop() }
        return result(lines, start: start, hits: hits)
    }

    private func arguments(start: Double) -> [String] {
        [
            "--path", "/items/{n}", "--method", method, "--rate", "60", "--concurrency", "\(workers)", "--think",
            "0.05",
            "--start", "\(start)", "--duration", "\(Self.duration)", "--timeout", "2", "--policy", policy,
        ]
    }

    /// Makes the first server faulty for a while, and returns the number of requests that reached this server while it
    /// was faulty.
    private func breakFirstServer(from start: Double) async throws -> Int {
        try await sleep(until: start + Self.badFrom)
        let before = servers[0].statistics.requestsReceived
        scenario.begin(servers[0])
        try await sleep(until: start + Self.badUntil)
        let hits = servers[0].statistics.requestsReceived - before
        servers[0].clearFaults()
        return hits
    }

    /// Sleeps until a time of the wall clock.
    ///
    /// The load in the other process uses the wall clock too.
    private func sleep(until moment: Double) async throws {
        try await Task.sleep(for: .seconds(max(0, moment - Date().timeIntervalSince1970)), tolerance: .zero)
    }

    private func writeService(to folder: URL) throws -> URL {
        let entries = zip(["primary", "secondary", "tertiary"], servers).map { name, server in
            ["name": name, "baseURLs": ["test": server.baseURL]] as [String: Any]
        }
        let service: [String: Any] = ["service": "faults", "defaultEnvironment": "test", "servers": entries]
        let file = folder.appendingPathComponent("faults.json")
        try JSONSerialization.data(withJSONObject: service).write(to: file)
        return file
    }

    private func result(_ lines: [LoadLine], start: Double, hits: Int) -> FaultResult {
        let records = lines.filter { $0.event == nil }
        let fault = (start + Self.badFrom)..<(start + Self.badUntil)
        let waits = records.filter { $0.load == "open" && fault.contains($0.due ?? 0) }
            .map { (($0.done ?? 0) - ($0.due ?? 0)) * 1000 }
            .sorted()
        let back = records.filter { $0.server == "primary" && $0.ok == true && ($0.done ?? 0) > start + Self.badUntil }
            .compactMap(\.done).min()
        return FaultResult(
            fault: scenario.name,
            requests: records.count,
            failures: records.count { $0.ok != true },
            errors: Dictionary(records.compactMap(\.error).map { ($0, 1) }, uniquingKeysWith: +),
            p99: waits.isEmpty ? 0 : waits[Int(0.99 * Double(waits.count - 1))],
            maximum: waits.last ?? 0,
            hits: hits,
            duplicates: duplicates(),
            back: back.map { $0 - start - Self.badUntil },
            failuresAfter: back.map { back in records.count { $0.ok != true && ($0.due ?? 0) > back } } ?? 0,
            switches: lines.count { $0.event == "switch" }
        )
    }

    private func duplicates() -> Int {
        var seen: [String: Int] = [:]
        for server in servers {
            for request in server.requests where request.method.name == method && request.path.hasPrefix("/items/") {
                seen[request.path, default: 0] += 1
            }
        }
        return seen.values.count { $0 > 1 }
    }
}

/// A line of the output of `yard load`.
struct LoadLine: Decodable, Sendable {
    var event: String?
    var load: String?
    var due: Double?
    var done: Double?
    var ok: Bool?
    var server: String?
    var error: String?
}
