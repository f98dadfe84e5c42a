import SwitchyardClient

#if canImport(os)
    import os

    /// A sink that writes entries to the unified log of Apple systems.
    ///
    /// The log category is the category of the entry.
    ///
    /// Messages are marked as public because credentials are already hidden. A message of more than 1,000 bytes is
    /// written as several numbered parts, `(1/3) …`, because the unified log truncates longer messages (Apple,
    /// `os/log.h`).
    public struct OSLogSink: LogSink {
        private let subsystem: String

        /// Creates a sink.
        ///
        /// - Parameter subsystem: The name of the app in the unified log, for example its bundle identifier.
        public init(subsystem: String) {
            self.subsystem = subsystem
        }

        /// Writes the entry to the unified log.
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
