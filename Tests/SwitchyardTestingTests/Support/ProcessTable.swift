#if os(Linux)
    import Foundation

    /// The descriptors and threads of this process.
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

        /// Whether at most a few more are in use than before.
        ///
        /// The system opens timers and starts threads when it needs them, and ended ones may stay in the table for a
        /// while. A leak in every repetition would add more.
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
