import Foundation
import Switchyard
import SwitchyardTesting

/// A benchmark in which 8 tasks dispatch and cancel requests at random times.
///
/// It checks that each request ends exactly once, that no request is left in the tables of the client and the
/// transport, and that memory does not grow.
struct DispatchBenchmark {
    let count: Int
    let isJSON: Bool

    func run() async throws {
        // The first requests allocate memory that is kept: stacks, queues and allocator pools. These requests are
        // therefore sent before the measurement starts.
        _ = try await round(count / 2)
        let before = ProcessFootprint.now
        var report = try await round(count)
        (report.before, report.after) = (before, .now)
        print(isJSON ? String(decoding: try JSONEncoder().encode(report), as: UTF8.self) : report.text)
        guard report.isSound else {
            throw BenchmarkError(
                "a request was lost, completed twice or left in a table, or memory grew by more than 5 %"
            )
        }
    }

    private static func service() throws -> Service {
        let server = Server(name: "one", baseURLs: ["release": try ServerURL("http://one.example")])
        return try Service(name: "one", servers: [server], defaultEnvironment: "release")
    }

    private func round(_ count: Int) async throws -> DispatchReport {
        let transport = StubTransport(completion: .inline, recordLimit: 0) { _ in
            switch Int.random(in: 0..<4) {
            case 0: .never
            case 1: .delayed(by: .microseconds(Int64.random(in: 0...2_000)), on: SystemTime.shared, .json("[1]"))
            default: .json("[1]")
            }
        }
        let client = try NetworkClient(service: Self.service(), transport: transport)
        let tally = SoakTally(count)
        let start = Date()
        let watchdog = Watchdog(seconds: 60 + count / 1_000) { "\(tally.ended) of \(count) completed" }
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var running: [RequestID] = []
                    for number in stride(from: worker, to: count, by: 8) {
                        let configuration = APIConfiguration(path: "list", timeout: .milliseconds(50))
                        running.append(client.send(configuration, on: .global()) { tally.end(number, $0) })
                        while running.count > 32 || Bool.random(), !running.isEmpty {
                            client.cancel(running.swapRemove(at: .random(in: running.indices)))
                        }
                        if number.isMultiple(of: 4_096) { client.cancelAll() }
                    }
                }
            }
        }
        client.cancelAll()
        await tally.waitForAll()
        watchdog.stop()
        return DispatchReport(
            requests: count,
            ended: tally.ended,
            doubled: tally.doubled,
            cancelled: tally.kinds.cancelled,
            left: client.activeRequests.count + transport.openExchanges,
            seconds: Date().timeIntervalSince(start)
        )
    }
}

extension [RequestID] {
    fileprivate mutating func swapRemove(at index: Int) -> RequestID {
        swapAt(index, count - 1)
        return removeLast()
    }
}

/// The results of the benchmark.
struct DispatchReport: Codable {
    var requests: Int
    var ended: Int
    var doubled: Int
    var cancelled: Int
    /// The number of entries left in the tables of the client and the transport.
    var left: Int
    var seconds: Double
    var before: ProcessFootprint?
    var after: ProcessFootprint?

    var growth: Double { before.flatMap { after?.growth(since: $0) } ?? 0 }

    var isSound: Bool { ended == requests && doubled == 0 && left == 0 && growth <= 0.05 }

    var text: String {
        """
        \(requests) requests, \(ended) completed, \(cancelled) of them cancelled, \(doubled) twice, \(left) left in tables, \
        \(Int(Double(requests) / seconds))/s
        before: \(before?.text ?? "-")
        after:  \(after?.text ?? "-") (\(String(format: "%+.1f", growth * 100)) %)
        """
    }
}
