import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Functions that run a command in a child process and wait until it exits.
enum ChildProcess {
    /// The URL of this executable.
    static var ownExecutable: URL {
        Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
    }

    /// Runs a command (by default, this executable) and returns its output.
    @discardableResult
    static func run(_ executable: URL = ownExecutable, arguments: [String]) throws -> Data {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let printed = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            let command = ([executable.lastPathComponent] + arguments).joined(separator: " ")
            throw BenchmarkError("\(command) exited with status \(process.terminationStatus)")
        }
        return printed
    }

    /// Raises the limit of open descriptors for this process and its children to the maximum that the system allows.
    static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(descriptors, &limit) == 0 else { return }
        #if canImport(Darwin)
            // Darwin can report an infinite limit, but accepts no value above `OPEN_MAX` (setrlimit(2)).
            limit.rlim_cur = min(limit.rlim_max, rlim_t(OPEN_MAX))
        #else
            limit.rlim_cur = limit.rlim_max
        #endif
        setrlimit(descriptors, &limit)
    }

    #if canImport(Glibc)
        private static let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let descriptors = RLIMIT_NOFILE
    #endif
}
