import Foundation
import Switchyard
import SwitchyardInspector

/// Sends the requests of a load plan: an open loop whose requests start at a constant rate, and a closed loop of
/// workers that each wait for the response before the next request.
struct LoadRunner: Sendable {
    let plan: LoadPlan
    let client: NetworkClient
    let output: any LoadOutput
    /// The time of the first request in seconds since 1970.
    let start: Double
    /// The time of the first request on the client's clock.
    let origin: MonotonicTime

    init(plan: LoadPlan, client: NetworkClient, output: any LoadOutput) {
        self.plan = plan
        self.client = client
        self.output = output
        // The start is set here, so that the time for reading the plan and creating a client is not counted.
        let (now, time) = (Date().timeIntervalSince1970, SystemTime.shared.now)
        start = plan.start ?? now
        origin = time.advanced(by: .seconds(start - now))
    }

    /// Runs the plan, and returns after the last request has ended.
    ///
    /// If the task is cancelled, requests in progress are cancelled too.
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

    /// The number of requests of the open loop that are due within the duration.
    private var openCount: Int {
        guard plan.rate > 0 else { return 0 }
        // The floating-point product can be too large or too small by one.
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
        output.begin()
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
        // The load generator uses real time. A sleep ends early only if the run is cancelled.
        try? await Task.sleep(for: .seconds(wait), tolerance: .zero)
    }
}

/// The statistics of a run.
struct LoadSummary {
    /// The numbers of changes of the preferred server.
    struct Switches: Sendable {
        /// The number of changes to another server, except returns.
        var away = 0
        /// The number of returns to a preferred server that had recovered.
        var returns = 0
    }

    let text: String

    /// Creates the statistics from the results of the calls.
    ///
    /// A call that was cancelled because the run was interrupted is left out.
    init(_ records: [LoadRecord], switches: Switches = Switches()) {
        let records = records.filter { $0.error != "cancelled" }
        let waits = records.map(\.waited).sorted()
        // The nearest rank: the smallest waiting time that at least this share of the calls does not exceed.
        func percentile(_ share: Double) -> Double {
            waits.isEmpty ? 0 : waits[max(1, Int((share * Double(waits.count)).rounded(.up))) - 1] * 1000
        }
        let figures = String(
            format: "waits of the callers: p50 %.1f ms, p99 %.1f ms, maximum %.1f ms",
            percentile(0.5),
            percentile(0.99),
            (waits.last ?? 0) * 1000
        )
        let failures = records.filter { !$0.ok }
        let parts = [
            records.count.figure("call", "calls"), "\(failures.count.figure) failed\(Self.kinds(of: failures))",
            switches.away.figure("switch", "switches"), switches.returns.figure("return", "returns"), figures,
        ]
        text = parts.joined(separator: ", ")
    }

    /// Returns the kinds of failures with their counts.
    ///
    /// The most frequent kind is the first.
    private static func kinds(of records: [LoadRecord]) -> String {
        guard !records.isEmpty else { return "" }
        let kinds = Dictionary(grouping: records) { $0.error ?? "http\($0.status ?? 0)" }.mapValues(\.count)
            .sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\($0.value.figure) × \(VerdictText.failure($0.key))" }
        return " (\(kinds.joined(separator: ", ")))"
    }
}
