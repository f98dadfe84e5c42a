import Foundation
import Switchyard
import SwitchyardTransfers

/// A step that cancels a download before its end and then resumes it.
struct DownloadStep: DemoStep {
    let title = "A download of a film, cancelled in the middle and resumed"

    func run(on stage: DemoStage) async throws {
        let film = stage.folder.appendingPathComponent("film.mov")
        let watcher = DownloadWatcher(screen: stage.screen, fileSize: stage.pace.downloadBytes)
        let start = ContinuousClock.now
        await cut(film, at: 0.4, watcher, stage)
        stage.screen.clear()
        let isThere = FileManager.default.fileExists(atPath: film.path)
        let rest = isThere ? "a partial file" : "no partial file"
        stage.screen.say("cancelled at \(watcher.count.byteFigure); the destination has \(rest)")
        let file = try await stage.topics.film(of: 7, to: film) { watcher.report($0) }
        stage.screen.clear()
        stage.record { report in
            report.requests += 2
            report.downloadedBytes += Int(file.length)
            report.resumedBytes += Int(file.resumedBytes)
        }
        let isRight = try ForumFilm(length: stage.pace.downloadBytes).isEqual(to: film)
        let cameOnce = file.resumedBytes + file.receivedBytes == file.length && file.resumedBytes > 0
        try stage.claim(
            isRight && cameOnce && !isThere && watcher.isMonotone,
            "\(Int(file.length).byteFigure), \(Int(file.resumedBytes).byteFigure) of them before the cancellation: every byte "
                + "is correct and was received once, in \((ContinuousClock.now - start).figure)"
        )
    }

    /// Starts a download of the film, and cancels it when this share of the bytes has arrived.
    private func cut(_ film: URL, at share: Double, _ watcher: DownloadWatcher, _ stage: DemoStage) async {
        let id = RequestID()
        // The error is ignored, because this download always ends with a cancellation. The resumed download reports any
        // other error.
        _ = try? await stage.topics.film(of: 7, to: film, id: id) { report in
            watcher.report(report)
            if report.fraction ?? 0 >= share { stage.topics.client.cancel(id) }
        }
    }
}

/// Draws the progress of a download, and records whether the progress ever decreases.
private final class DownloadWatcher: Sendable {
    private struct State {
        var count: Int64 = 0
        var isMonotone = true
    }

    private let bar: TransferBar
    private let state = Locked(State())

    init(screen: DemoScreen, fileSize: Int) {
        bar = TransferBar(screen: screen, fileSize: fileSize)
    }

    var count: Int { Int(state.withLock { $0.count }) }
    var isMonotone: Bool { state.withLock { $0.isMonotone } }

    func report(_ progress: TransferProgress) {
        guard let share = progress.fraction else { return }
        state.withLock { state in
            state.isMonotone = state.isMonotone && progress.completed >= state.count
            state.count = progress.completed
        }
        bar.show(share)
    }
}
