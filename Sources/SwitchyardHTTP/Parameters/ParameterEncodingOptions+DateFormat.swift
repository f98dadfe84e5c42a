public import Foundation

extension ParameterEncodingOptions {
    /// The format of a date in parameters.
    public enum DateFormat: Sendable {
        /// Seconds since 2001 as a floating-point number, as `Date` encodes itself.
        case deferred
        /// Seconds since 1970 as a floating-point number.
        case secondsSince1970
        /// Milliseconds since 1970 as a floating-point number.
        case millisecondsSince1970
        /// `2026-01-31T23:59:59Z`, in UTC.
        case iso8601
        /// `2026-01-31T23:59:59.123Z`, in UTC.
        case iso8601WithMilliseconds
        /// A custom format.
        ///
        /// An error that the closure throws becomes a ``RequestError/parameter(keyPath:reason:)``.
        case custom(@Sendable (Date) throws -> String)

        /// Returns a format with a `DateFormatter` pattern; a new formatter is created for each date.
        ///
        /// - Parameters:
        ///   - pattern: A pattern of Unicode TR 35, such as `yyyy-MM-dd`.
        ///   - timeZone: The time zone of the text; UTC by default.
        /// - Returns: The format.
        public static func pattern(_ pattern: String, timeZone: TimeZone = .gmt) -> ParameterEncodingOptions.DateFormat
        {
            .custom { date in
                let formatter = DateFormatter()
                formatter.locale = Locale(identifier: "en_US_POSIX")
                formatter.calendar = Calendar(identifier: .gregorian)
                formatter.timeZone = timeZone
                formatter.dateFormat = pattern
                return formatter.string(from: date)
            }
        }

        /// A formatted date.
        enum Output {
            case number(Double)
            case text(String)
        }

        func output(for date: Date) throws -> Output {
            switch self {
            case .deferred: .number(date.timeIntervalSinceReferenceDate)
            case .secondsSince1970: .number(date.timeIntervalSince1970)
            case .millisecondsSince1970: .number(date.timeIntervalSince1970 * 1000)
            case .iso8601: try .text(ISODate.text(date, milliseconds: false))
            case .iso8601WithMilliseconds: try .text(ISODate.text(date, milliseconds: true))
            case .custom(let format): try .text(format(date))
            }
        }
    }
}
