public import Foundation
import SwitchyardClient

/// How much an entry of a log matters; the levels are those of swift-log.
public enum LogLevel: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// Every step.
    case trace
    /// What helps while something is being built.
    case debug
    /// What happens in the ordinary course.
    case info
    /// What is not ordinary, and no fault.
    case notice
    /// What may become a fault.
    case warning
    /// A fault.
    case error
    /// A fault that needs somebody at once.
    case critical

    /// Whether `left` matters less than `right`.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

/// One entry of a log, with credentials hidden.
public struct LogEntry: Sendable, Hashable {
    /// What an entry is about.
    public enum Category: String, Sendable, Hashable, CaseIterable {
        /// A request as a whole: its dispatch and its end.
        case request
        /// What goes to a server and comes from it.
        case attempt
        /// Redirects.
        case redirect
        /// Pauses before another round.
        case retry
    }

    /// When it was written.
    public var date: Date
    /// How much it matters.
    public var level: LogLevel
    /// What it is about.
    public var category: Category
    /// What happened, in one line.
    public var message: String
    /// The same in parts: `id`, `service`, `environment`, `server`, `method`, `url`, `status`, `elapsed` and the like.
    public var metadata: [String: String]

    /// Creates an entry.
    public init(
        date: Date = Date(),
        level: LogLevel,
        category: Category,
        message: String,
        metadata: [String: String] = [:]
    ) {
        self.date = date
        self.level = level
        self.category = category
        self.message = message
        self.metadata = metadata
    }
}

/// Takes the entries of a log: writes them to a file, hands them to swift-log, shows them on a screen.
///
///     struct SwiftLogSink: LogSink {
///         let logger: Logger
///         func write(_ entry: LogEntry) { logger.log(level: .init(entry.level), "\(entry.message)") }
///     }
public protocol LogSink: Sendable {
    /// Takes an entry, on a queue of the client's, one after the other; it may take its time.
    func write(_ entry: LogEntry)
}

/// A sink made of a closure.
public struct ClosureSink: LogSink {
    private let body: @Sendable (LogEntry) -> Void

    /// Creates a sink.
    public init(_ body: @escaping @Sendable (LogEntry) -> Void) {
        self.body = body
    }

    /// Calls the closure.
    public func write(_ entry: LogEntry) { body(entry) }
}

/// A sink that writes a line for each entry to the standard error.
public struct StandardErrorSink: LogSink {
    private let format: @Sendable (LogEntry) -> String
    private let file: FileHandle

    /// Creates a sink.
    ///
    /// - Parameter format: Makes the line; level, category and message unless given.
    public init(format: @escaping @Sendable (LogEntry) -> String = StandardErrorSink.line(of:)) {
        self.init(writingTo: .standardError, format: format)
    }

    /// Creates a sink of another file.
    init(writingTo file: FileHandle, format: @escaping @Sendable (LogEntry) -> String = StandardErrorSink.line(of:)) {
        self.format = format
        self.file = file
    }

    /// Writes the line; one that the file does not take, since it is closed or full, is lost.
    public func write(_ entry: LogEntry) {
        // The plain `write` ends the process where it cannot write.
        try? file.write(contentsOf: Data((format(entry) + "\n").utf8))
    }

    /// Level, category and message.
    @Sendable public static func line(of entry: LogEntry) -> String {
        "[\(entry.level)] \(entry.category.rawValue): \(entry.message)"
    }
}
