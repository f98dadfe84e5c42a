#if os(Linux)
    import Foundation

    /// What this process holds, as the kernel counts it.
    struct ProcessTable {
        var descriptors: Int
        var threads: Int

        static func current() throws -> ProcessTable {
            let files = FileManager.default
            return ProcessTable(
                descriptors: try files.contentsOfDirectory(atPath: "/proc/self/fd").count,
                threads: try files.contentsOfDirectory(atPath: "/proc/self/task").count
            )
        }

        /// Whether no more is held than before, but for a few.
        ///
        /// The system opens a timer or begins a thread of its own when it comes to that, and what has ended may stay in
        /// the table for a while. What leaks every time leaks more.
        static func settles(near earlier: ProcessTable, within few: Int = 8) throws -> Bool {
            for _ in 0..<1000 {
                let now = try current()
                if now.descriptors <= earlier.descriptors + few, now.threads <= earlier.threads + few { return true }
                _ = poll(nil, 0, 1)
            }
            return false
        }
    }
#endif
