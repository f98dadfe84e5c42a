public import Foundation

/// An absolute http or https URL with a host, checked once and kept as it will be sent.
public struct RequestURL: Sendable, Hashable, CustomStringConvertible {
    /// The URL as it will be sent, percent-encoded, without a fragment.
    public let text: String

    /// Wraps text that is known to be a valid absolute URL.
    package init(trusted text: String) {
        self.text = text
    }

    /// Creates a URL from text.
    ///
    /// Characters that a URL cannot hold are percent-encoded, escapes that stand there already are kept, and a fragment
    /// is dropped.
    ///
    /// - Parameter text: The URL.
    /// - Throws: ``RequestError/url(text:reason:)`` unless it is absolute, has the scheme http or https and a valid host.
    public init(validating text: String) throws(RequestError) {
        self.text = String(decoding: try AbsoluteURL(text).bytes, as: UTF8.self)
    }

    /// Creates a URL from text.
    ///
    /// `nil` unless it is absolute, has the scheme http or https and a host.
    public init?(_ text: String) {
        guard let url = try? RequestURL(validating: text) else { return nil }
        self = url
    }

    /// Creates a URL from Foundation's.
    ///
    /// `nil` unless it is absolute, has the scheme http or https and a host.
    public init?(_ url: URL) {
        self.init(url.absoluteString)
    }

    /// Creates a URL from Foundation's components.
    ///
    /// `nil` unless they are absolute, have the scheme http or https and a host.
    public init?(_ components: URLComponents) {
        guard let text = components.string else { return nil }
        self.init(text)
    }

    /// The URL as Foundation's type.
    public var foundationURL: URL? { URL(string: text) }

    /// The URL as it will be sent.
    public var description: String { text }
}
