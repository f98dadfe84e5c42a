#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// What this process has used so far.
struct ProcessUsage {
    /// Processor time in seconds, the system's on its behalf included.
    let cpuSeconds: Double
    /// How often it reached for memory that the system had yet to provide.
    let pageFaults: Int

    static var current: ProcessUsage {
        var usage = rusage()
        getrusage(ownProcess, &usage)
        return ProcessUsage(usage)
    }

    private init(_ usage: rusage) {
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        cpuSeconds = seconds(usage.ru_utime) + seconds(usage.ru_stime)
        pageFaults = Int(usage.ru_minflt)
    }
}

#if canImport(Glibc)
    private let ownProcess = RUSAGE_SELF.rawValue
#else
    private let ownProcess = RUSAGE_SELF
#endif
