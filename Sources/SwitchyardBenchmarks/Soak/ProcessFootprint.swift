import Foundation

/// What this process has of the system: what grows when something is not given back.
struct ProcessFootprint: Codable {
    /// Bytes in memory, after the allocator has given back what it only kept for later.
    var resident: Int
    /// The threads of transports and servers; those of the runtime come and go with the load.
    var threads: Int
    /// Open descriptors.
    var descriptors: Int

    /// What there is now; zeroes where the system does not tell.
    static var now: ProcessFootprint {
        trimAllocator()
        return ProcessFootprint(
            resident: ProcessMemory.resident,
            threads: ownThreads,
            descriptors: names("/proc/self/fd").count
        )
    }

    /// The footprint when threads and descriptors are back to what they were, or after a while.
    ///
    /// Connections and threads end a moment after the one who used them.
    static func settled(to start: ProcessFootprint) async -> ProcessFootprint {
        for _ in 0..<100 {
            let now = now
            if now.threads <= start.threads, now.descriptors <= start.descriptors { return now }
            // The system tells of neither; when the task is cancelled the looks follow one another at once.
            try? await Task.sleep(for: .milliseconds(100))
        }
        return now
    }

    /// How much more memory than at the start there is, as a share of what there was.
    func growth(since start: ProcessFootprint) -> Double {
        start.resident > 0 ? Double(resident - start.resident) / Double(start.resident) : 0
    }

    var text: String { "\(resident >> 10) KiB resident, \(threads) own threads, \(descriptors) descriptors" }
}

// MARK: - Where it stands

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

    /// glibc keeps freed memory unless asked; its module does not declare the function that asks.
    private static func trimAllocator() {
        #if os(Linux)
            guard let symbol = dlsym(nil, "malloc_trim") else { return }
            typealias Trim = @convention(c) (Int) -> Int32
            _ = unsafeBitCast(symbol, to: Trim.self)(0)
        #endif
    }
}
