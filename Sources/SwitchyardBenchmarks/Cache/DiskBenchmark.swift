import Foundation
import Switchyard
import SwitchyardDiskCache

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A benchmark of the disk cache: its time, and the state of its files after a process that was writing is killed.
struct DiskBenchmark {
    let isJSON: Bool
    var entries = 100_000
    var writes = 1_000
    /// The folder in which the cache's folder is created.
    ///
    /// With a folder in memory, the results show only the library's time. With a folder on a disk, they include the
    /// disk's time.
    var parent: URL

    private static let partition = CachePartition(service: "topics", environment: "release")

    func run() async throws {
        var sheet = FigureSheet(isJSON: isJSON)
        let folder = parent.appendingPathComponent("switchyard-benchmark-\(getpid())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await figures(of: folder.appendingPathComponent("many"), &sheet)
        try await kills(in: folder.appendingPathComponent("killed"), &sheet)
        try sheet.finish()
    }

    private func figures(of folder: URL, _ sheet: inout FigureSheet) async throws {
        let title = "\(entries) entries of 1 kB"
        let limits = DiskCache.Limits(cost: 1 << 30, entryCost: 1 << 20, waitingCost: 1 << 30)
        let maker = try DiskCache(at: folder, limits: limits)
        let start = ContinuousClock.now
        for number in 0..<entries { maker.store(Self.answer(number, version: 0), for: Self.key(number)) }
        await maker.flush()
        sheet.add(title, "store one entry", (ContinuousClock.now - start) / .microseconds(1) / Double(entries), "us")

        var opening: [Double] = []
        for _ in 0..<15 {
            let start = ContinuousClock.now
            let disk = try DiskCache(at: folder, limits: limits)
            _ = try await disk.answer(for: Self.key(0))
            opening.append((ContinuousClock.now - start) / .milliseconds(1))
        }
        sheet.add(title, "open, and read one entry", Spread(opening), "ms")
        let disk = try DiskCache(at: folder, limits: limits)
        let keys = (0..<5_000).map { _ in Self.key(Int.random(in: 0..<entries)) }
        var reading: [Double] = []
        for key in keys {
            let start = ContinuousClock.now
            _ = try await disk.answer(for: key)
            reading.append((ContinuousClock.now - start) / .microseconds(1))
        }
        sheet.add(title, "read one entry", Spread(reading), "us")
    }

    // MARK: - Killed writers

    /// Starts processes that write entries until the required number of entries has been written, and kills each
    /// process after a random time.
    ///
    /// Checks the files after each kill.
    private func kills(in folder: URL, _ sheet: inout FigureSheet) async throws {
        var kills = 0
        var found = 0
        var written = 0
        var worst = 0.0
        while written < writes {
            written += try kill(in: folder, seed: kills)
            kills += 1
            let start = ContinuousClock.now
            let disk = try DiskCache(at: folder, limits: Self.killLimits, appVersion: nil)
            for number in 0..<Self.killedKeys {
                guard let answer = try? await disk.answer(for: Self.key(number)) else { continue }
                guard Self.isWhole(answer, number) else { throw BenchmarkError("entry \(number) is incomplete") }
                found += 1
            }
            worst = max(worst, (ContinuousClock.now - start) / .milliseconds(1))
            guard disk.statistics.damaged == 0 else { throw BenchmarkError("an entry is damaged after a kill") }
        }
        let title = "\(written) writes, the writer killed \(kills) times"
        sheet.add(title, "entries found, all complete", Double(found), "")
        sheet.add(title, "open and read all entries, maximum", worst, "ms")
    }

    private static let killedKeys = 64
    private static let killLimits = DiskCache.Limits(cost: 4 << 20, entryCost: 1 << 20)

    /// Starts a process that writes entries, kills it after a random time, and returns the number of completed writes.
    private func kill(in folder: URL, seed: Int) throws -> Int {
        let process = Process()
        let output = Pipe()
        guard let own = Bundle.main.executableURL else { throw BenchmarkError("the executable has no URL") }
        process.executableURL = own
        process.arguments = ["disk-writer", folder.path, String(seed)]
        process.standardOutput = output
        try process.run()
        // The first byte of output shows that the child process is writing. The child process is killed a random time
        // later.
        var lines = output.fileHandleForReading.availableData.count
        usleep(UInt32.random(in: 0..<60_000))
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        lines += output.fileHandleForReading.readDataToEndOfFile().count
        return lines
    }

    /// Writes random entries until the process is killed, and prints one byte to standard output after each write.
    static func write(to folder: String, seed: UInt64) async throws {
        var random = Xorshift(seed: seed &+ 1)
        let disk = try DiskCache(at: URL(fileURLWithPath: folder), limits: killLimits, appVersion: nil)
        while true {
            let number = Int.random(in: 0..<killedKeys, using: &random)
            if Int.random(in: 0..<10, using: &random) == 0 {
                disk.remove(key(number))
            } else {
                disk.store(answer(number, version: Int.random(in: 0..<100, using: &random)), for: key(number))
            }
            await disk.flush()
            FileHandle.standardOutput.write(Data([UInt8(ascii: ".")]))
        }
    }

    private static func key(_ number: Int) -> CacheKey {
        CacheKey(partition, path: "topics/\(number)", parameters: [("page", "1")])
    }

    /// Returns a response whose whole body consists of its key number and version, repeated, so that an incomplete or
    /// mixed entry is detected.
    private static func answer(_ number: Int, version: Int) -> StoredResponse {
        let word = "\(number)/\(version) "
        let body = Data(String(repeating: word, count: (1_000 + version * 997) / word.utf8.count + 1).utf8)
        var answer = StoredResponse(body: body, created: Date(), lifetime: .seconds(86_400))
        answer.version = version
        return answer
    }

    private static func isWhole(_ found: StoredResponse, _ number: Int) -> Bool {
        found.body == answer(number, version: found.version).body
    }
}
