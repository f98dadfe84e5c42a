import SwitchyardClient
public import SwitchyardHTTP

/// What a traffic log writes; credentials are hidden in all of it.
public struct LogOptions: Sendable {
    /// Parts of an entry beside its line.
    public struct Parts: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: Int

        /// Creates a set.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The header fields of requests and answers.
        public static let headers = Parts(rawValue: 1)
        /// The bodies of requests.
        public static let requestBody = Parts(rawValue: 2)
        /// The bodies of answers below 400.
        public static let answerBody = Parts(rawValue: 4)
        /// The bodies of answers from 400 up.
        public static let errorBody = Parts(rawValue: 8)
        /// A command for curl that sends the request again.
        public static let curl = Parts(rawValue: 16)
    }

    /// Entries below it are not written; ``LogLevel/info`` unless set.
    public var level: LogLevel
    /// What is written beside the line; nothing unless set.
    public var parts: Parts
    /// The categories that are written; all unless set.
    public var categories: Set<LogEntry.Category>
    /// What is hidden; ``/SwitchyardHTTP/Redaction/standard`` unless set.
    public var redaction: Redaction
    /// The most bytes of a body that are written, at least 0; 4,096 unless set.
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

    /// A line for each step that matters.
    public static let standard = LogOptions()

    /// Every step with everything that belongs to it.
    public static let verbose = LogOptions(
        level: .trace,
        parts: [.headers, .requestBody, .answerBody, .errorBody, .curl]
    )
}
