#if os(Linux)
    import Foundation

    /// What this process holds, as the kernel counts it.
    struct ProcessTable: Equatable {
        var descriptors: Int
        var threads: Int

        static func current() throws -> ProcessTable {
            let files = FileManager.default
            return ProcessTable(
                descriptors: try files.contentsOfDirectory(atPath: "/proc/self/fd").count,
                threads: try files.contentsOfDirectory(atPath: "/proc/self/task").count
            )
        }

        /// Whether the counts are as they were; a joined thread stays in the table for some microseconds more.
        static func settles(to expected: ProcessTable) throws -> Bool {
            for _ in 0..<1000 {
                if try current() == expected { return true }
                _ = poll(nil, 0, 1)
            }
            return false
        }
    }
#endif
