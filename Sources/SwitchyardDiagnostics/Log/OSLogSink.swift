import SwitchyardClient

#if canImport(os)
    import os

    /// A sink that hands entries to the unified log of Apple systems, a category for each of ours.
    ///
    /// Messages are public there: credentials have been hidden before. One of more than 1,000 bytes comes as several
    /// with a number in front, `(1/3) …`, since the log cuts what is longer (Apple, `os/log.h`).
    public struct OSLogSink: LogSink {
        private let subsystem: String

        /// Creates a sink.
        ///
        /// - Parameter subsystem: The app's name in the log, its bundle identifier for instance.
        public init(subsystem: String) {
            self.subsystem = subsystem
        }

        /// Hands the entry over.
        public func write(_ entry: LogEntry) {
            let logger = Logger(subsystem: subsystem, category: entry.category.rawValue)
            for part in LogParts.parts(of: entry.message) {
                logger.log(level: Self.type(of: entry.level), "\(part, privacy: .public)")
            }
        }

        private static func type(of level: LogLevel) -> OSLogType {
            switch level {
            case .trace, .debug: .debug
            case .info: .info
            case .notice, .warning: .default
            case .error: .error
            case .critical: .fault
            }
        }
    }
#endif
