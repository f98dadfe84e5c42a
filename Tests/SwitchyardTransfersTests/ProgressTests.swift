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

    /// An upload of four pieces of 1,000 bytes whose second piece waits for the test.
    private struct HeldUpload {
        let monitor = TransferMonitor()
        /// The second piece is produced when the test opens the gate.
        let gate = Gate()
        /// The number of pieces that the upload has requested.
        let requested = Locked(0)

        var configuration: UploadConfiguration {
            let pieces = HTTPBody.Stream(length: 4_000) { [gate, requested] in
                AsyncStream<Data>(unfolding: {
                    let number = requested.withLock { number in
                        number += 1
                        return number
                    }
                    if number == 2 { await gate.pass() }
                    return number <= 4 ? Data(count: 1_000) : nil
                })
            }
            var configuration = UploadConfiguration(path: "up", from: .stream(pieces))
            configuration.monitor = monitor
            return configuration
        }
    }

    @Test func `pausing and resuming a Progress pauses and resumes its upload`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.post, "/up") { request in .text("\(try await request.body.collect().count)") }
        let held = HeldUpload()
        let upload = Task { try await lab.client.upload(held.configuration) }
        await held.gate.waitForArrivals(1)

        held.monitor.progress.pause()
        held.gate.open()
        // Gives an upload that does not pause the time to request the next piece.
        try await calm()

        #expect(held.requested.withLock { $0 } == 2)
        held.monitor.progress.resume()
        #expect(try await upload.value.text == "4000")
    }

    @Test func `cancelling a Progress cancels its paused upload`() async throws {
        let lab = try DownloadLab()
        lab.server.route(.post, "/up") { request in .text("\(try await request.body.collect().count)") }
        let held = HeldUpload()
        let upload = Task { try await lab.client.upload(held.configuration) }
        await held.gate.waitForArrivals(1)

        held.monitor.progress.pause()
        held.gate.open()
        held.monitor.progress.cancel()

        let error = await #expect(throws: RequestFailure.self) { try await upload.value }
        #expect(error?.isCancellation == true)
    }

    @Test func `cancelling a Progress cancels its transfer before the start and during the transfer`() async throws {
        let lab = try DownloadLab()
        lab.serve(LoopbackContent(bytes))
        lab.server.fault = .drip(bytes: 30_000, every: .milliseconds(500))

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
    func `pausing and resuming a Progress pauses and resumes its download`(connections: Int) async throws {
        let lab = try DownloadLab()
        let bytes = DownloadLab.bytes(4_000_000)
        let content = LoopbackContent(bytes, entityTag: "\"v1\"")
        let (monitor, gate) = (TransferMonitor(), Gate())
        lab.server.route(.get, "/film") { request in
            var response = content.response(to: request)
            guard case .stream(let length, let produce) = response.body else { return response }
            response.body = .stream(length: length) { writer in
                await gate.pass()
                try await produce(writer)
            }
            return response
        }
        let download = Task {
            let configuration = lab.download {
                $0.monitor = monitor
                $0.connections = connections
            }
            return try await lab.client.download(configuration)
        }
        await gate.waitForArrivals(1)

        monitor.progress.pause()
        gate.open()
        // Gives a download that does not pause the time to end.
        try await calm()

        #expect(monitor.progress.completedUnitCount < 4_000_000)
        monitor.progress.resume()
        _ = try await download.value
        #expect(try lab.content == bytes)
    }

    // A transfer that fails immediately may end before its cancel handler is attached to the monitor.
    @Test func `a transfer monitor releases the objects of a transfer that has ended`() {
        final class Canary: Sendable {}
        let monitor = TransferMonitor()
        weak var kept: Canary?

        monitor.detach()
        do {
            let canary = Canary()
            kept = canary
            monitor.attach { withExtendedLifetime(canary) {} }
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

    @Test func `while a request waits for its response, the estimated progress grows more and more slowly`() {
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
