import Foundation

/// The system resources of this process.
///
/// The numbers grow if the library does not release a resource.
struct ProcessFootprint: Codable {
    /// The resident memory in bytes, after the allocator has released its free memory.
    var resident: Int
    /// The number of threads of transports and servers.
    ///
    /// Threads of the Swift runtime are not counted, because their number varies with the load.
    var threads: Int
    /// The number of open descriptors.
    var descriptors: Int

    /// The current footprint.
    ///
    /// A value that the system does not report is 0.
    static var now: ProcessFootprint {
        trimAllocator()
        return ProcessFootprint(
            resident: ProcessMemory.resident,
            threads: ownThreads,
            descriptors: names("/proc/self/fd").count
        )
    }

    /// Waits until the numbers of threads and descriptors are the same as at the start, at most 10 s, and returns the
    /// footprint.
    ///
    /// Connections and threads end shortly after the object that owns them.
    static func settled(to start: ProcessFootprint) async -> ProcessFootprint {
        for _ in 0..<100 {
            let now = now
            if now.threads <= start.threads, now.descriptors <= start.descriptors { return now }
            // The system does not report the end of threads or descriptors, so the footprint is polled. If the task is
            // cancelled, the polls follow each other without a pause.
            try? await Task.sleep(for: .milliseconds(100))
        }
        return now
    }

    /// Returns the growth of memory since the start, as a fraction of the memory at the start.
    func growth(since start: ProcessFootprint) -> Double {
        start.resident > 0 ? Double(resident - start.resident) / Double(start.resident) : 0
    }

    var text: String { "\(resident >> 10) KiB resident, \(threads) own threads, \(descriptors) descriptors" }
}

// MARK: - Measurements of the process

extension ProcessFootprint {
    private static var ownThreads: Int {
        names("/proc/self/task").count { task in
            let name = try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
            return name?.hasPrefix("switchyard") ?? false
        }
    }

    private static func names(_ folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }

    /// Returns freed memory, which glibc would otherwise keep, to the system.
    ///
    /// The function is looked up by its name because Swift's module for glibc does not declare it.
    private static func trimAllocator() {
        #if os(Linux)
            guard let symbol = dlsym(nil, "malloc_trim") else { return }
            typealias Trim = @convention(c) (Int) -> Int32
            _ = unsafeBitCast(symbol, to: Trim.self)(0)
        #endif
    }
}
