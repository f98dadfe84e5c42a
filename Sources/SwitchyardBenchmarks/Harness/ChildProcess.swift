import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A command in a child process, run to its end.
enum ChildProcess {
    /// This very executable.
    static var ownExecutable: URL {
        Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
    }

    /// Runs a command, this very executable's unless another is named, and returns what it printed.
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
            throw BenchmarkError("\(command) ended with \(process.terminationStatus)")
        }
        return printed
    }

    /// Allows this process, and those it starts, as many open descriptors as the system lets it have.
    static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(descriptors, &limit) == 0 else { return }
        #if canImport(Darwin)
            // A limit without end is reported there, and none above this is taken (setrlimit(2)).
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
