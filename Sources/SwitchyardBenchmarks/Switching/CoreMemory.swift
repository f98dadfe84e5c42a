import Foundation
import Switchyard

/// A measurement of the switching core's memory per server.
///
/// Many cores are created. Each core records as many outcomes as it keeps.
struct CoreMemory {
    let policy: SwitchPolicy
    var cores = 2000

    /// The servers of every measured core.
    static var members: [SwitchingCore.Member] { ["primary", "secondary", "tertiary"].map { .init(id: $0) } }

    /// Returns the growth of this process's memory divided by the number of servers in all cores.
    ///
    /// The result includes, for each server, an equal part of the memory that a core needs for itself.
    func bytesPerServer() throws -> Int {
        let model = try SwitchingCore(members: Self.members, policy: policy, at: .zero, seed: 1)
        var fleet: [SwitchingCore] = []
        fleet.reserveCapacity(cores)
        let before = try residentBytes()
        for number in 0..<cores {
            fleet.append(model.reseeded(UInt64(number)))
            for position in Self.members.indices { fill(&fleet[number], position) }
        }
        let growth = try residentBytes() - before
        return try withExtendedLifetime(fleet) {
            guard fleet.count == cores else { throw BenchmarkError("expected \(cores) cores, found \(fleet.count)") }
            return growth / (cores * Self.members.count)
        }
    }

    /// Records as many outcomes and latencies of a server as the core keeps.
    private func fill(_ core: inout SwitchingCore, _ position: Int) {
        var others = ServerSet()
        for other in Self.members.indices where other != position { others.insert(other) }
        for number in 0..<150 {
            let now = MonotonicTime(nanoseconds: Int64(number) * 10_000_000)
            guard let attempt = core.choose(excluding: others, at: now) else { return }
            _ = core.settle(attempt, .success(latency: .milliseconds(5)), at: now)
        }
    }

    /// Returns the resident memory of this process in bytes.
    private func residentBytes() throws -> Int {
        #if os(Linux)
            let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            let words = text.split(separator: " ")
            guard words.count > 1, let pages = Int(words[1]) else {
                throw BenchmarkError("/proc/self/statm is not readable")
            }
            return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
        #else
            throw BenchmarkError("memory is measured only on Linux")
        #endif
    }
}
