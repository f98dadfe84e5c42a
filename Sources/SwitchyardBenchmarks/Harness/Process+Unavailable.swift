#if canImport(Darwin) && !os(macOS)
    import Foundation

    /// A replacement for Foundation's `Process` on systems that cannot start programs.
    ///
    /// With it, the benchmarks compile on these systems. Benchmarks that need a child process fail there.
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

        func run() throws { throw BenchmarkError("this system cannot start programs") }
        func terminate() {}
        func waitUntilExit() {}
    }
#endif
