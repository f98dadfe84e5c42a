import Foundation

/// The memory of this process, and its threads.
enum ProcessMemory {
    /// What is resident now, in bytes; 0 where it cannot be told.
    static var resident: Int { (figure("VmRSS:") ?? 0) << 10 }

    /// How many threads there are; 0 where it cannot be told.
    static var threads: Int { figure("Threads:") ?? 0 }

    /// A number that the kernel gives of this process.
    private static func figure(_ name: String) -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) })
        else { return nil }
        return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    }
}
