/// A fault of a server and its effect on the calls.
///
/// Times are seconds, except the waiting time `slowest`, which is milliseconds.
struct ReportImpact: Codable, Sendable, Equatable {
    var server: Int
    /// A description of the fault, such as `was killed`.
    var what: String
    /// The start of the fault.
    var from: Double
    /// The length of the fault, or `nil` if the fault had not ended at the end of the report.
    var length: Double?
    /// The time from the start of the fault until the client took the server out of service, or `nil` if the server
    /// stayed in service.
    var noticedAfter: Double?
    /// The number of calls that were due during the fault.
    ///
    /// `failed` is the number of these calls that failed because of a server. `saved` is the number of calls that
    /// succeeded although their first server had failed because of the fault, including calls that were due shortly
    /// before the fault.
    var calls: Int
    var failed: Int
    var saved: Int
    /// The longest wait of a call that was due during the fault, in milliseconds.
    var slowest: Double?
    /// The server that received the calls instead, or `nil` if the client did not switch.
    var heir: Int?
    /// The time from the start of the fault until the server was preferred again, or `nil` if it was not preferred
    /// again.
    var backAfter: Double?
    /// `true` if no request was sent to the server after the end of the fault, so that the end is not confirmed;
    /// otherwise `nil`.
    var isUntried: Bool?

    /// Whether the server is known to work again.
    var isOver: Bool { length != nil && isUntried != true }
}
