import Foundation

/// The system resources of this process, which grow if a resource is not released.
struct ProcessFootprint: Codable {
    /// The resident memory in bytes, after the allocator has released its free memory.
    var resident: Int
    /// The number of threads of transports and servers; the threads of the runtime vary with the load.
    var threads: Int
    /// The number of open descriptors.
    var descriptors: Int

    /// The current footprint, with zeros where the system does not report a value.
    static var now: ProcessFootprint {
        trimAllocator()
        return ProcessFootprint(
            resident: ProcessMemory.resident,
            threads: ownThreads,
            descriptors: names("/proc/self/fd").count
        )
    }

    /// Returns the footprint after threads and descriptors have returned to their initial numbers, or after 10 s.
    ///
    /// Connections and threads end shortly after their owner.
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

    /// Returns the growth of memory since the start, as a share of the memory at the start.
    func growth(since start: ProcessFootprint) -> Double {
        start.resident > 0 ? Double(resident - start.resident) / Double(start.resident) : 0
    }

    var text: String { "\(resident >> 10) KiB resident, \(threads) own threads, \(descriptors) descriptors" }
}

// MARK: - System figures

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

    /// Releases the memory that glibc keeps after it is freed.
    ///
    /// The function is looked up by name because glibc's module does not declare it.
    private static func trimAllocator() {
        #if os(Linux)
            guard let symbol = dlsym(nil, "malloc_trim") else { return }
            typealias Trim = @convention(c) (Int) -> Int32
            _ = unsafeBitCast(symbol, to: Trim.self)(0)
        #endif
    }
}
