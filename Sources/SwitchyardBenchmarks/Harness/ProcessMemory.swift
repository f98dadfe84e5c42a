import Foundation

/// The memory and threads of this process.
enum ProcessMemory {
    /// The resident memory in bytes, or 0 if the system does not report it.
    static var resident: Int { (figure("VmRSS:") ?? 0) << 10 }

    /// The number of threads, or 0 if the system does not report it.
    static var threads: Int { figure("Threads:") ?? 0 }

    /// Returns a number that the kernel reports for this process.
    private static func figure(_ name: String) -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) })
        else { return nil }
        return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    }
}
