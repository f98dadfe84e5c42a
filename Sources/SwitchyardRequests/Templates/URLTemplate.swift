public import SwitchyardHTTP

/// A URL or path with placeholders: `users/{id}/posts{?page,size}` (RFC 6570, all levels).
///
/// The values are typed parameters. They are percent-encoded for their position in the URL, so an identifier such as
/// `a/b?c` remains one path segment.
///
/// | expression | values | result |
/// |---|---|---|
/// | `{id}` | `a/b` | `a%2Fb` |
/// | `{+path}` | `a/b` | `a/b` |
/// | `{/list*}` | `["a", "b"]` | `/a/b` |
/// | `{?page,size}` | 2, 20 | `?page=2&size=20` |
/// | `{&page}` | 2 | `&page=2` |
/// | `{;id}` | 7 | `;id=7` |
/// | `{name:3}` | `value` | `val` |
public struct URLTemplate: Sendable, Hashable, CustomStringConvertible {
    /// The treatment of a variable without a value.
    public enum MissingValues: Sendable, Hashable {
        /// A missing value in the path is an error. In `{?...}`, `{&...}`, `{;...}` and `{#...}`, a variable without a
        /// value is omitted. This is the default.
        ///
        /// A value that makes a path segment empty, `.` or `..` is also an error, because the URL would lead elsewhere.
        /// A value of `{+...}` that contains slashes is exempt, because the value is itself a path.
        case refusedInPath
        /// The variable is omitted everywhere, as RFC 6570 specifies.
        case leftOut
    }

    private let template: SwitchyardHTTP.URLTemplate

    /// Parses a template.
    ///
    /// - Parameter text: The template.
    /// - Throws: `RequestError.template` with the position of the syntax error.
    public init(_ text: String) throws(RequestError) {
        template = try SwitchyardHTTP.URLTemplate(text)
    }

    /// The text of the template.
    public var text: String { template.text }

    /// The names of the variables, in order of their first use.
    public var variables: [String] { template.variables }

    /// Returns the template with its variables replaced by values.
    ///
    /// - Parameters:
    ///   - values: The values by the names of the variables. Values for other names are ignored.
    ///   - missing: The treatment of a variable whose value is absent, `null` or an empty list.
    /// - Returns: The text, percent-encoded.
    /// - Throws: `RequestError.template` if a value is missing or is not allowed at its position.
    public func expanded(
        with values: Parameters,
        missing: MissingValues = .refusedInPath
    ) throws(RequestError) -> String {
        switch missing {
        case .refusedInPath: try template.expanded(with: values, missing: .refusedInPath)
        case .leftOut: try template.expanded(with: values, missing: .leftOut)
        }
    }

    /// The text of the template.
    public var description: String { text }
}
