#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The resources that this process has used so far.
struct ProcessUsage {
    /// The processor time in seconds, including system time.
    let cpuSeconds: Double
    /// The number of minor page faults.
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
