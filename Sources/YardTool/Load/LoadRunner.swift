import Foundation
import Switchyard

/// Sends the requests of a plan: an open loop that keeps its rate whatever the answers do, and workers in a closed loop.
struct LoadRunner: Sendable {
    let plan: LoadPlan
    let client: NetworkClient
    let output: LineOutput
    /// When the first request is due, in seconds since 1970.
    let start: Double
    /// The same moment on the clock of the client.
    let origin: MonotonicTime

    init(plan: LoadPlan, client: NetworkClient, output: LineOutput) {
        self.plan = plan
        self.client = client
        self.output = output
        // The time that it takes to read the plan and to make a client is no server's.
        let (now, time) = (Date().timeIntervalSince1970, SystemTime.shared.now)
        start = plan.start ?? now
        origin = time.advanced(by: .seconds(start - now))
    }

    /// Returns when the last request has ended; a run that is cancelled ends those under way.
    func run() async -> [LoadRecord] {
        await pause(until: start)
        return await withTaskGroup(of: [LoadRecord].self) { group in
            group.addTask { await openLoop() }
            for worker in 0..<plan.concurrency {
                group.addTask { await closedLoop(worker) }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// How many requests become due in the open loop: those whose time comes before the duration is over.
    private var openCount: Int {
        guard plan.rate > 0 else { return 0 }
        // The product is not exact, and may be one off on either side.
        var count = Int((plan.rate * plan.duration).rounded(.up))
        if count > 0, Double(count - 1) / plan.rate >= plan.duration { count -= 1 }
        if Double(count) / plan.rate < plan.duration { count += 1 }
        return count
    }

    private func openLoop() async -> [LoadRecord] {
        await withTaskGroup(of: LoadRecord.self) { group in
            for index in 0..<openCount {
                let due = start + Double(index) / plan.rate
                await pause(until: due)
                guard !Task.isCancelled else { break }
                group.addTask { await send(index + 1, load: "open", due: due) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    private func closedLoop(_ worker: Int) async -> [LoadRecord] {
        var records: [LoadRecord] = []
        var number = openCount + worker + 1
        let end = start + plan.duration
        while !Task.isCancelled, Date().timeIntervalSince1970 < end {
            records.append(await send(number, load: "closed", due: Date().timeIntervalSince1970))
            number += plan.concurrency
            let next = Date().timeIntervalSince1970 + plan.think
            guard next < end else { break }
            await pause(until: next)
        }
        return records
    }

    private func send(_ number: Int, load: String, due: Double) async -> LoadRecord {
        let result: Result<ServiceResponse, RequestFailure>
        do throws(RequestFailure) {
            result = .success(try await client.send(plan.configuration(number)))
        } catch {
            result = .failure(error)
        }
        let record = LoadRecord(load: load, due: due, done: Date().timeIntervalSince1970, result: result)
        output.write(record)
        return record
    }

    private func pause(until moment: Double) async {
        let wait = moment - Date().timeIntervalSince1970
        guard wait > 0 else { return }
        // A load generator's business is to wait for time; only a cancelled run ends a pause early.
        try? await Task.sleep(for: .seconds(wait), tolerance: .zero)
    }
}

/// The figures of a run.
struct LoadSummary {
    let text: String

    init(_ records: [LoadRecord], switches: Int) {
        let waits = records.map(\.waited).sorted()
        // By the nearest rank: the least of them that at least this share of all does not exceed.
        func percentile(_ share: Double) -> Double {
            waits.isEmpty ? 0 : waits[max(1, Int((share * Double(waits.count)).rounded(.up))) - 1] * 1000
        }
        let figures = String(
            format: "%d switches, p50 %.1f ms, p99 %.1f ms, maximum %.1f ms",
            switches,
            percentile(0.5),
            percentile(0.99),
            (waits.last ?? 0) * 1000
        )
        let failures = records.filter { !$0.ok }
        // The server works, but a module would not take its answers: hardly what was to be measured.
        let refusals = records.filter { $0.ok && !(200...299).contains($0.status ?? 0) }
        let parts = [
            "\(records.count) requests",
            "\(failures.count) failures\(Self.kinds(of: failures))",
            refusals.isEmpty ? nil : "\(refusals.count) refusals\(Self.kinds(of: refusals))",
            figures,
        ]
        text = parts.compactMap(\.self).joined(separator: ", ")
    }

    /// What they were, the most frequent first.
    private static func kinds(of records: [LoadRecord]) -> String {
        guard !records.isEmpty else { return "" }
        let kinds = Dictionary(grouping: records) { $0.error ?? "http\($0.status ?? 0)" }.mapValues(\.count)
            .sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\($0.value) \($0.key)" }
        return " (\(kinds.joined(separator: ", ")))"
    }
}
