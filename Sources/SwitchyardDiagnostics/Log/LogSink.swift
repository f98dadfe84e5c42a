public import Foundation
import SwitchyardClient

/// The severity of a log entry.
///
/// The levels are the same as in swift-log.
public enum LogLevel: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// Every step.
    case trace
    /// Information that is useful during development.
    case debug
    /// Normal events.
    case info
    /// Unusual events that are not errors.
    case notice
    /// Events that may lead to an error.
    case warning
    /// Errors.
    case error
    /// Errors that need immediate attention.
    case critical

    /// Whether `left` is less severe than `right`.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

/// One entry of a log, with credentials hidden.
public struct LogEntry: Sendable, Hashable {
    /// The subject of a log entry.
    public enum Category: String, Sendable, Hashable, CaseIterable {
        /// A request as a whole: its dispatch and its end.
        case request
        /// The data sent to a server and received from it.
        case attempt
        /// Redirects.
        case redirect
        /// The pauses before a retry.
        case retry
    }

    /// The date at which the entry was written.
    public var date: Date
    /// The severity of the entry.
    public var level: LogLevel
    /// The subject of the entry.
    public var category: Category
    /// A one-line description of the event.
    public var message: String
    /// The details of the event as key-value pairs: `id`, `service`, `environment`, `server`, `method`, `url`,
    /// `status`, `elapsed` and others.
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

/// A destination of log entries, such as a file, swift-log or a screen.
///
///     struct SwiftLogSink: LogSink {
///         let logger: Logger
///         func write(_ entry: LogEntry) { logger.log(level: .init(entry.level), "\(entry.message)") }
///     }
public protocol LogSink: Sendable {
    /// Writes an entry.
    ///
    /// The log calls this method on a queue of the client, one entry at a time. The method may block.
    func write(_ entry: LogEntry)
}

/// A sink that calls a closure.
public struct ClosureSink: LogSink {
    private let body: @Sendable (LogEntry) -> Void

    /// Creates a sink with a closure.
    public init(_ body: @escaping @Sendable (LogEntry) -> Void) {
        self.body = body
    }

    /// Calls the closure with the entry.
    public func write(_ entry: LogEntry) { body(entry) }
}

/// A sink that writes one line per entry to standard error.
public struct StandardErrorSink: LogSink {
    private let format: @Sendable (LogEntry) -> String
    private let file: FileHandle

    /// Creates a sink.
    ///
    /// - Parameter format: A closure that returns the line for an entry. The default line has the level, the category
    ///   and the message.
    public init(format: @escaping @Sendable (LogEntry) -> String = StandardErrorSink.line(of:)) {
        self.init(writingTo: .standardError, format: format)
    }

    /// Creates a sink that writes to a file instead of standard error.
    init(writingTo file: FileHandle, format: @escaping @Sendable (LogEntry) -> String = StandardErrorSink.line(of:)) {
        self.format = format
        self.file = file
    }

    /// Writes the line of the entry.
    ///
    /// The line is lost if the file is closed or full.
    public func write(_ entry: LogEntry) {
        // `write(_:)`, which does not throw, would end the process if the write fails.
        try? file.write(contentsOf: Data((format(entry) + "\n").utf8))
    }

    /// Formats the level, category and message of an entry.
    @Sendable public static func line(of entry: LogEntry) -> String {
        "[\(entry.level)] \(entry.category.rawValue): \(entry.message)"
    }
}
