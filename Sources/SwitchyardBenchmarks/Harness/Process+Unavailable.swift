#if canImport(Darwin) && !os(macOS)
    import Foundation

    /// In the place of Foundation's where the system starts no programs: the benchmarks compile there, and those that
    /// need one fail.
    final class Process: Sendable {
        var executableURL: URL? {
            get { nil }
            set {}
        }
        var arguments: [String]? {
            get { nil }
            set {}
        }
        var standardInput: Any? {
            get { nil }
            set {}
        }
        var standardOutput: Any? {
            get { nil }
            set {}
        }
        var standardError: Any? {
            get { nil }
            set {}
        }
        var processIdentifier: Int32 { 0 }
        var terminationStatus: Int32 { 0 }
        var isRunning: Bool { false }

        func run() throws { throw BenchmarkError("this system starts no programs") }
        func terminate() {}
        func waitUntilExit() {}
    }
#endif
