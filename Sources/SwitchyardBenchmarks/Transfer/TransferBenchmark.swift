import Foundation
import Switchyard

/// A benchmark of large downloads and uploads, through a client and with the command `curl`.
///
/// The server is in a child process.
struct TransferBenchmark {
    let isJSON: Bool
    /// The size of the content in mebibytes.
    var mebibytes = 1_024
    /// The folder of the files.
    ///
    /// If it is on a disk, the results of transfers to files depend on the speed of the disk.
    var folder = FileManager.default.temporaryDirectory
    /// The transfers to measure, or an empty set for all transfers.
    var only: Set<String> = []

    func run() async throws {
        let place = folder.appendingPathComponent("switchyard-transfer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let server = try ChildServer(command: "serve-drain")
        let contenders = try TransferContenders(origin: server.origin, size: mebibytes << 20, folder: place)
        try BenchmarkError.refuse(only, unlessAmong: contenders.duels.map(\.name))
        var sheet = FigureSheet(isJSON: isJSON)
        for (name, duel) in contenders.duels where only.isEmpty || only.contains(name) {
            try await measure(name, duel, &sheet)
        }
        try sheet.finish()
        withExtendedLifetime(server) {}
    }

    /// Measures two implementations of the same transfer alternately, first the command `curl`.
    private func measure(_ name: String, _ duel: [Contender], _ sheet: inout FigureSheet) async throws {
        var growth: [Double] = []
        var scores: [[Double]] = [[], []]
        for round in -1..<7 {
            for index in duel.indices {
                let start = PeakMemory.reset()
                let score = try await duel[index].turn(concurrency: 1, seconds: 0.001)
                guard round >= 0 else { continue }
                scores[index].append(score.perSecond * Double(mebibytes << 20) / 1e6)
                if index == 1 { growth.append(Double(PeakMemory.bytes - start) / 1_048_576) }
            }
        }
        let title = "\(name), \(mebibytes) MiB"
        for (contender, speeds) in zip(duel, scores) { sheet.add(title, contender.name, Spread(speeds), "MB/s") }
        sheet.add(title, "relative to the command (at least 0.9)", Spread(zip(scores[1], scores[0]).map(/)), "")
        sheet.add(title, "peak growth of memory (at most 32)", Spread(growth), "MiB")
    }
}
