import Foundation
import Switchyard
import SwitchyardTransfers

/// A step that uploads a file and shows the progress.
struct UploadStep: DemoStep {
    let title = "An upload of a file"

    func run(on stage: DemoStage) async throws {
        let bytes = stage.pace.uploadBytes
        let file = stage.folder.appendingPathComponent("holiday.mov")
        try Self.write(bytes, to: file)
        let progress = UploadProgress(screen: stage.screen, fileSize: bytes)
        let start = ContinuousClock.now
        let attachment = try await stage.topics.attach(file, to: 7) { progress.report($0) }
        let duration = ContinuousClock.now - start
        stage.screen.clear()
        stage.record { report in
            report.requests += 1
            report.uploadedBytes += attachment.bytes
        }
        let record = progress.record
        try stage.claim(
            attachment.bytes == bytes && record.isMonotone && record.last == 1,
            "\(attachment.name): the server received \(bytes.byteFigure) in \(duration.figure), "
                + "with \(record.reports) progress reports"
        )
    }

    /// Writes a file in chunks, without keeping the whole file in memory.
    private static func write(_ bytes: Int, to file: URL) throws {
        let block = Data((0..<65_536).map { UInt8(truncatingIfNeeded: $0) })
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        var rest = bytes
        while rest > 0 {
            try handle.write(contentsOf: block.prefix(rest))
            rest -= min(rest, block.count)
        }
        try handle.close()
    }
}

/// Draws the progress of an upload, and records whether the progress ever decreases.
private final class UploadProgress: Sendable {
    struct Record: Sendable {
        var reports = 0
        var last = 0.0
        var isMonotone = true
    }

    private let bar: TransferBar
    private let state = Locked(Record())

    init(screen: DemoScreen, fileSize: Int) {
        bar = TransferBar(screen: screen, fileSize: fileSize)
    }

    var record: Record { state.withLock { $0 } }

    func report(_ progress: TransferProgress) {
        guard progress.direction == .upload, let share = progress.fraction else { return }
        state.withLock { record in
            record.reports += 1
            record.isMonotone = record.isMonotone && share >= record.last
            record.last = share
        }
        bar.show(share)
    }
}
