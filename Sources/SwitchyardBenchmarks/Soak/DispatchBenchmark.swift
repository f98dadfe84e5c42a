import Foundation
import Switchyard
import SwitchyardTesting

/// Requests dispatched and cancelled at random times over 8 tasks: each ends exactly once, the table is empty, and the
/// memory is what it was.
struct DispatchBenchmark {
    let count: Int
    let isJSON: Bool

    func run() async throws {
        // Grows what the process keeps for good: stacks, queues, pools of the allocator.
        _ = try await round(count / 2)
        let before = ProcessMemory.resident
        let (ended, doubled, left, seconds) = try await round(count)
        let after = ProcessMemory.resident
        let growth = before > 0 ? Double(after - before) / Double(before) : 0
        let report = DispatchReport(
            requests: count,
            ended: ended,
            doubled: doubled,
            left: left,
            seconds: seconds,
            residentBefore: before,
            residentAfter: after,
            growth: growth
        )
        print(isJSON ? String(decoding: try JSONEncoder().encode(report), as: UTF8.self) : report.text)
        guard report.isSound else { throw BenchmarkError("a request was lost, doubled or left behind") }
    }

    private func round(_ count: Int) async throws -> (ended: Int, doubled: Int, left: Int, seconds: Double) {
        let transport = StubTransport(completion: .inline, recordLimit: 0) { _ in
            switch Int.random(in: 0..<4) {
            case 0: .never
            case 1: .delayed(by: .microseconds(Int64.random(in: 0...2_000)), on: SystemTime.shared, .json("[1]"))
            default: .json("[1]")
            }
        }
        let server = Server(name: "one", baseURLs: ["release": try ServerURL("http://one.example")])
        let service = try Service(name: "one", servers: [server], defaultEnvironment: "release")
        let client = try NetworkClient(service: service, transport: transport)
        let tally = SoakTally(count)
        let start = Date()
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var running: [RequestID] = []
                    for number in stride(from: worker, to: count, by: 8) {
                        let configuration = APIConfiguration(path: "list", timeout: .milliseconds(50))
                        running.append(client.send(configuration, on: .global()) { _ in tally.end(number) })
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
        let left = client.activeRequests.count + transport.openExchanges
        return (tally.ended, tally.doubled, left, Date().timeIntervalSince(start))
    }
}

extension [RequestID] {
    fileprivate mutating func swapRemove(at index: Int) -> RequestID {
        swapAt(index, count - 1)
        return removeLast()
    }
}

/// What came of it.
struct DispatchReport: Codable {
    var requests: Int
    var ended: Int
    var doubled: Int
    var left: Int
    var seconds: Double
    var residentBefore: Int
    var residentAfter: Int
    var growth: Double

    var isSound: Bool { ended == requests && doubled == 0 && left == 0 && growth <= 0.05 }

    var text: String {
        """
        \(requests) requests, \(ended) ended, \(doubled) twice, \(left) left in a table, \(Int(Double(requests) / seconds))/s
        resident: \(residentBefore >> 10) KiB before, \(residentAfter >> 10) KiB after (\(String(format: "%+.1f", growth * 100)) %)
        """
    }
}
