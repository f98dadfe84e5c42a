import Foundation
import SwitchyardClient
import SwitchyardHTTP

/// A link of the header field `Link` (RFC 8288).
package struct WebLink: Sendable, Hashable {
    /// A parameter of a link, such as `title` or `hreflang`.
    package struct Parameter: Sendable, Hashable {
        /// The name in lower case.
        ///
        /// The name of the parameter `title*` is `title` too.
        package var name: String
        /// The value without quotes and escapes, decoded if it is in the extended form of RFC 8187.
        ///
        /// The text is empty if the parameter has no value.
        package var value: String

        /// Creates a parameter from its name and value.
        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The target, as written between the angle brackets.
    package var target: String
    /// The relation types (`next`, `prev`, `last`), in lower case.
    package var relations: [String]
    /// The context of the link, or `nil` if the context is the response itself.
    package var anchor: String?
    /// The other parameters in order, with the parameters in the extended form last.
    ///
    /// If a parameter that may occur only once is repeated, the first one is used. The extended form of a parameter
    /// replaces the plain form. An extended form that cannot be decoded is ignored.
    package var parameters: [Parameter]

    /// Creates a link.
    ///
    /// By default, its context is the response itself and it has no other parameters.
    package init(target: String, relations: [String], anchor: String? = nil, parameters: [Parameter] = []) {
        self.target = target
        self.relations = relations
        self.anchor = anchor
        self.parameters = parameters
    }

    /// Returns the links in the lines of a header field, without the parts that cannot be parsed (RFC 8288 appendix B).
    package static func parse(_ lines: [String]) -> [WebLink] {
        lines.flatMap { line in
            var parser = LinkHeaderParser(line)
            return parser.links()
        }
    }

    /// Returns whether the context of the link is the response at a URL.
    ///
    /// The result is `false` if the anchor of the link names another resource.
    func starts(at url: String) -> Bool {
        guard let anchor, !anchor.isEmpty else { return true }
        return Self.comparable(anchor, at: url) == Self.comparable(url, at: url)
    }

    /// Returns a normalized absolute URL for comparison, which is the same for all spellings of the reference.
    private static func comparable(_ reference: String, at base: String) -> [String]? {
        guard let url = absolute(reference, at: base) else { return nil }
        let place = String(url.before(UInt8(ascii: "#")))
        let fragment = url.behind(UInt8(ascii: "#")).map { [String($0)] } ?? []
        return [RequestURL(place)?.normalForm ?? place] + fragment
    }

    /// Returns the target as an absolute URL, resolved against the URL of the response, or `nil` if it is invalid.
    ///
    /// If `base` is an https URL, a plain http target on the same host becomes an https URL, because servers behind a
    /// proxy that terminates TLS often send such links.
    ///
    /// Characters that a URL cannot contain are percent-encoded; existing escapes are kept.
    package func resolved(against base: String) -> String? {
        Self.absolute(target, at: base)
    }

    /// Returns a reference as an absolute URL, resolved against a base URL.
    static func absolute(_ reference: String, at base: String) -> String? {
        guard !reference.isEmpty else { return nil }
        let place = String(reference.before(UInt8(ascii: "#")))
        let page = RequestURL(base)
        let found = RequestURL(place) ?? page.flatMap { try? $0.resolving(place) }
        let url = page.flatMap { found?.secured(like: $0) } ?? found
        // Foundation resolves URLs with other schemes. Foundation is not used for http, because it would escape
        // existing escapes again if the same part of the URL contains a character to escape.
        guard let url else { return URL(string: reference, relativeTo: URL(string: base))?.absoluteString }
        guard let named = reference.behind(UInt8(ascii: "#")) else { return url.text }
        // A fragment has the grammar of a query (RFC 3986 section 3.5), so it is escaped like a query.
        let escaped = named.unicodeScalars.map { $0 == "#" ? "%23" : String($0) }.joined()
        let fragment = RequestURL("http://unused.example?\(escaped)")?.query
        return "\(url.text)#\(fragment ?? "")"
    }
}

extension WebLink: CustomStringConvertible {
    /// The link in the syntax of the `Link` header field.
    public var description: String {
        let own = [
            relations.isEmpty ? nil : ("rel", relations.joined(separator: " ")), anchor.map { ("anchor", $0) },
        ].compactMap(\.self)
        return "<\(target)>" + (own.map(Self.quoted) + parameters.map(Self.written)).joined()
    }

    /// Returns a parameter in quotes, or in the extended form if its value is not ASCII.
    private static func written(_ parameter: Parameter) -> String {
        let isPlain = parameter.value.utf8.allSatisfy { $0 < 128 }
        return isPlain
            ? quoted(parameter.name, parameter.value)
            : "; \(parameter.name)*=\(ExtendedValue.encoded(parameter.value))"
    }

    private static func quoted(_ name: String, _ value: String) -> String {
        "; \(name)=\(value.inQuotes)"
    }
}

/// The scheme, host and port of a URL.
///
/// Two URLs have the same origin if all three are equal (RFC 6454).
struct Origin: Hashable {
    let scheme: String
    let host: String
    let port: Int?

    /// Creates the origin of a URL.
    ///
    /// The result is `nil` if the text is not an absolute URL with a host.
    init?(_ text: String) {
        if let origin = RequestURL(text)?.origin {
            (scheme, host, port) = (origin.scheme, origin.host, origin.port)
            return
        }
        guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(),
            let host = url.host?.lowercased(), !host.isEmpty
        else { return nil }
        self.scheme = scheme
        self.host = host
        port = url.port
    }
}
