public import Foundation

/// An absolute http or https URL with a host, checked once and kept as it will be sent.
public struct RequestURL: Sendable, Hashable, CustomStringConvertible {
    /// The URL as it will be sent, percent-encoded, without a fragment.
    public let text: String

    /// Wraps text that is known to be a valid absolute URL.
    init(trusted text: String) {
        self.text = text
    }

    /// Creates a URL from text.
    ///
    /// `nil` unless it is absolute, has the scheme http or https and a host.
    public init?(_ text: String) {
        guard let url = URL(string: text) else { return nil }
        self.init(url)
    }

    /// Creates a URL from Foundation's.
    ///
    /// `nil` unless it is absolute, has the scheme http or https and a host.
    public init?(_ url: URL) {
        let absolute = url.absoluteURL
        guard let scheme = absolute.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let host = absolute.host(), !host.isEmpty
        else { return nil }
        let text = absolute.absoluteString
        self.text = text.firstIndex(of: "#").map { String(text[..<$0]) } ?? text
    }

    /// The URL as Foundation's type.
    public var foundationURL: URL? { URL(string: text) }

    /// The URL as it will be sent.
    public var description: String { text }
}
