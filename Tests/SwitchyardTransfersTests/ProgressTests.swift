import Dispatch
import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import SwitchyardTransport
import Testing

@testable import SwitchyardClient

/// Progress of transfers as Foundation's `Progress` and as a smoothed fraction.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct ProgressTests {
    private let bytes = DownloadLab.bytes(700_000)

    @Test func `a transfer updates its Progress`() async throws {
        let lab = try DownloadLab()
        lab.serve(LoopbackContent(bytes))
        lab.server.route(.post, "/up") { request in .text("\(try await request.body.collect().count)") }
        let (down, up) = (TransferMonitor(), TransferMonitor())
        var upload = UploadConfiguration(path: "up", from: .data(bytes))
        upload.monitor = up

        _ = try await lab.client.download(lab.download { $0.monitor = down })
        _ = try await lab.client.upload(upload)

        for progress in [down.progress, up.progress] {
            #expect(progress.completedUnitCount == 700_000)
            #expect(progress.totalUnitCount == 700_000)
            #expect(progress.fractionCompleted == 1)
            #expect(progress.isFinished)
        }
    }

    @Test func `an empty transfer finishes its Progress and the parent Progress`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.get, "/film", answering: .data(Data()))
        lab.server.route(.post, "/up") { request in .text("\(try await request.body.collect().count)") }
        let (down, up) = (TransferMonitor(), TransferMonitor())
        let batch = Progress(totalUnitCount: 2)
        batch.addChild(down.progress, withPendingUnitCount: 1)
        batch.addChild(up.progress, withPendingUnitCount: 1)

        _ = try await lab.client.download(lab.download { $0.monitor = down })
        _ = try await lab.client.upload(Self.upload(0, up))

        #expect(down.progress.isFinished)
        #expect(up.progress.isFinished)
        #expect(batch.fractionCompleted == 1)
    }

    @Test func `a Progress stays at 0 while the total is unknown, and ends at 1`() async throws {
        let lab = try DownloadLab()
        let bytes = bytes
        lab.server.route(.get, "/film") { _ in
            .stream { writer in
                try await writer.write(bytes.prefix(100_000))
                try await writer.write(bytes.dropFirst(100_000))
            }
        }
        let monitor = TransferMonitor()
        let fractions = Recorder<Double>()

        _ = try await lab.client.download(lab.download { $0.monitor = monitor }) { report in
            if report.total == nil { fractions.record(monitor.progress.fractionCompleted) }
        }

        #expect(fractions.values.allSatisfy { $0 == 0 })
        #expect(!fractions.values.isEmpty)
        #expect(monitor.progress.fractionCompleted == 1)
        #expect(monitor.progress.isFinished)
    }

    private static func upload(_ length: Int, _ monitor: TransferMonitor) -> UploadConfiguration {
        var upload = UploadConfiguration(path: "up", from: .data(Data(count: length)))
        upload.monitor = monitor
        return upload
    }

    /// The last report after all pending reports have arrived.
    private static func lastReport(of reports: Recorder<Int64>, asking client: NetworkClient) async throws -> Int64? {
        var count = -1
        while count != reports.values.count {
            count = reports.values.count
            for _ in 0..<100 { _ = try await client.send(APIConfiguration(path: "other")) }
        }
        return reports.values.last
    }

    @Test func `a Progress pauses, resumes and cancels an upload`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.post, "/up") { request in
            var count = 0
            for try await piece in request.body { count += piece.count }
            return .text("\(count)")
        }
        lab.server.route(.get, "/other", answering: .text("x"))
        let length = 8 << 20
        let (whole, broken) = (TransferMonitor(), TransferMonitor())
        let paused = AsyncStream.makeStream(of: Void.self)
        let reports = Recorder<Int64>()

        let upload = Task {
            try await lab.client.upload(Self.upload(length, whole)) { report in
                guard report.direction == .upload else { return }
                reports.record(report.completed)
                if reports.values.count == 2 {
                    whole.progress.pause()
                    paused.continuation.yield()
                }
            }
        }
        for await _ in paused.stream { break }
        let atRest = try #require(try await Self.lastReport(of: reports, asking: lab.client))
        whole.progress.resume()
        let second = Self.upload(length, broken)
        let error = await #expect(throws: RequestFailure.self) {
            try await lab.client.upload(second) { _ in
                // A paused upload cannot finish before it is cancelled.
                broken.progress.pause()
                broken.progress.cancel()
            }
        }

        #expect(atRest < length)
        #expect(try await upload.value.text == "\(length)")
        #expect(error?.isCancellation == true)
    }

    @Test func `a Progress cancels its transfer before the start and during the transfer`() async throws {
        let lab = try DownloadLab()
        lab.serve(LoopbackContent(bytes))
        lab.server.fault = .drip(bytes: 5_000, every: .milliseconds(5))

        let running = TransferMonitor()
        let failure = try await lab.failure(of: lab.download { $0.monitor = running }) { report in
            if report.completed > 20_000 { running.progress.cancel() }
        }
        let cancelled = TransferMonitor()
        cancelled.progress.cancel()
        let early = try await lab.failure(of: lab.download { $0.monitor = cancelled })

        #expect(failure.isCancellation)
        #expect(early.isCancellation)
    }

    @Test(arguments: [1, 3])
    func `a Progress pauses and resumes a download`(connections: Int) async throws {
        let lab = try DownloadLab()
        let content = DownloadLab.bytes(4_000_000)
        lab.serve(LoopbackContent(content, entityTag: "\"v1\""))
        let monitor = TransferMonitor()
        let reports = Recorder<Int64>()
        let paused = AsyncStream.makeStream(of: Void.self)

        let download = Task {
            let configuration = lab.download {
                $0.monitor = monitor
                $0.connections = connections
            }
            return try await lab.client.download(configuration) { report in
                reports.record(report.completed)
                if reports.values.count == 2 {
                    monitor.progress.pause()
                    paused.continuation.yield()
                }
            }
        }
        for await _ in paused.stream { break }
        // The pause handler runs on a Foundation queue. The requests give the handler and pending reports time to run.
        lab.server.route(.get, "/other", answering: .text("x"))
        var count = -1
        while count != reports.values.count {
            count = reports.values.count
            for _ in 0..<100 { _ = try await lab.client.send(APIConfiguration(path: "other")) }
        }
        let atRest = try #require(reports.values.last)
        monitor.progress.resume()
        _ = try await download.value

        #expect(atRest < 4_000_000)
        #expect(try lab.content == content)
    }

    // A transfer that fails immediately may end before its cancel handler is attached to the monitor.
    @Test func `a transfer monitor releases the objects of a transfer that has ended`() {
        final class Witness: Sendable {}
        let monitor = TransferMonitor()
        weak var kept: Witness?

        monitor.detach()
        do {
            let witness = Witness()
            kept = witness
            monitor.attach { withExtendedLifetime(witness) {} }
        }

        #expect(kept == nil)
    }

    @Test func `a smoothed progress rises evenly from 0 to 1`() async throws {
        let clock = ManualClock()
        let shares = Recorder<Double>()
        let smoothed = SmoothedProgress(time: clock) { shares.record($0) }

        for sent in stride(from: Int64(0), through: 1_000, by: 100) {
            smoothed.report(TransferProgress(direction: .upload, completed: sent, total: 1_000))
            clock.advance(by: .milliseconds(50))
        }
        clock.advance(by: .seconds(2))
        for received in [Int64(10), 500, 200, 1_000] {
            smoothed.report(TransferProgress(direction: .download, completed: received, total: 1_000))
            clock.advance(by: .milliseconds(100))
        }
        smoothed.finish()
        smoothed.finish()
        clock.advance(by: .seconds(1))

        let values = shares.values
        #expect(values.count == 60)
        #expect(values == values.sorted())
        #expect(values.dropLast().allSatisfy { $0 < 1 })
        #expect(values.last == 1)
        // Each step covers at most a third of the remaining distance, and the last step reaches the end.
        let steps = zip(values.dropLast(), values.dropFirst().dropLast()).map { before, after in after - before }
        #expect(steps.allSatisfy { $0 < 0.34 })
        #expect(clock.pendingTimers == 0)
    }

    @Test func `the end of a smoothed progress is reported last, even during another report`() async throws {
        let clock = ManualClock()
        let shares = Recorder<Double>()
        let ended = DispatchSemaphore(value: 0)
        let held = Locked<SmoothedProgress?>(nil)
        let smoothed = SmoothedProgress(time: clock) { share in
            if share < 1 {
                DispatchQueue.global().async {
                    held.withLock { $0 }?.finish()
                    ended.signal()
                }
                ended.wait()
            }
            shares.record(share)
        }
        held.withLock { $0 = smoothed }
        defer { held.withLock { $0 = nil } }

        clock.advance(by: .seconds(1))

        #expect(shares.values.count == 2)
        #expect(shares.values.last == 1)
        #expect(clock.pendingTimers == 0)
    }

    @Test func `the estimated progress of waiting grows more and more slowly`() {
        var estimate = ProgressEstimate()
        let early = estimate.estimate(at: .milliseconds(500))
        let late = estimate.estimate(at: .seconds(60))
        estimate.take(TransferProgress(direction: .download, completed: 50, total: 100), at: .seconds(60))

        #expect(early > 0)
        #expect(late > early)
        #expect(late <= 0.2)
        #expect(abs(estimate.estimate(at: .seconds(60)) - 0.6) < 0.000_1)
    }
}
