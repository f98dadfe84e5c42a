import SwitchyardClient
public import SwitchyardHTTP

/// The options of a traffic log.
///
/// Credentials are hidden in everything that the log writes.
public struct LogOptions: Sendable {
    /// The optional parts of a log entry, written on the lines after the entry's own line.
    public struct Parts: OptionSet, Sendable, Hashable {
        /// The raw bits of the set.
        public let rawValue: Int

        /// Creates a set from raw bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The header fields of requests and responses.
        public static let headers = Parts(rawValue: 1)
        /// The bodies of requests.
        public static let requestBody = Parts(rawValue: 2)
        /// The bodies of responses with a status below 400.
        public static let responseBody = Parts(rawValue: 4)
        /// The bodies of responses with a status of 400 or above.
        public static let errorBody = Parts(rawValue: 8)
        /// A curl command that sends the request again.
        public static let curl = Parts(rawValue: 16)
    }

    /// The lowest level of the entries that are written; the default is ``LogLevel/info``.
    public var level: LogLevel
    /// The optional parts of the entries that are written, by default none.
    public var parts: Parts
    /// The categories of the entries that are written; the default is all.
    public var categories: Set<LogEntry.Category>
    /// The rules by which credentials are hidden; the default is ``/SwitchyardHTTP/Redaction/standard``.
    public var redaction: Redaction
    /// The maximum number of bytes of a body that are written, at least 0; the default is 4,096.
    public var bodyLimit: Int {
        didSet { bodyLimit = max(0, bodyLimit) }
    }

    /// Creates options.
    public init(
        level: LogLevel = .info,
        parts: Parts = [],
        categories: Set<LogEntry.Category> = Set(LogEntry.Category.allCases),
        redaction: Redaction = .standard,
        bodyLimit: Int = 4_096
    ) {
        self.level = level
        self.parts = parts
        self.categories = categories
        self.redaction = redaction
        self.bodyLimit = max(0, bodyLimit)
    }

    /// The default options: one line for each important step.
    public static let standard = LogOptions()

    /// Options that log every step with all parts.
    public static let verbose = LogOptions(
        level: .trace,
        parts: [.headers, .requestBody, .responseBody, .errorBody, .curl]
    )
}
