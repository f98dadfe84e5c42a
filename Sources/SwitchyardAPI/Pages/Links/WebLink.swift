import Foundation
import SwitchyardClient
import SwitchyardHTTP

/// A link of the header field `Link` (RFC 8288).
public struct WebLink: Sendable, Hashable {
    /// A parameter of a link, as `title` or `hreflang`.
    package struct Parameter: Sendable, Hashable {
        /// The name, in lower case; `title` also for `title*`.
        package var name: String
        /// The value, without quotes and escapes, with the extended form of RFC 8187 decoded; empty if there is none.
        package var value: String

        /// Creates a parameter.
        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The target, as written between the angle brackets.
    public var target: String
    /// The relation types (`next`, `prev`, `last`), in lower case.
    public var relations: [String]
    /// The context of the link; `nil` if it is the response itself.
    package var anchor: String?
    /// The other parameters in their order, extended ones last; of a parameter that may occur once, the first.
    ///
    /// The extended form of a parameter replaces the plain one; an extended form that cannot be decoded is ignored.
    package var parameters: [Parameter]

    /// Creates a link.
    package init(target: String, relations: [String], anchor: String? = nil, parameters: [Parameter] = []) {
        self.target = target
        self.relations = relations
        self.anchor = anchor
        self.parameters = parameters
    }

    /// Returns the links of the lines of a header field; unreadable parts are ignored (RFC 8288 appendix B).
    public static func parse(_ lines: [String]) -> [WebLink] {
        lines.flatMap { line in
            var parser = LinkHeaderParser(line)
            return parser.links()
        }
    }

    /// Whether the link starts at the response of a URL, which it does unless its anchor names another resource.
    func starts(at url: String) -> Bool {
        guard let anchor, !anchor.isEmpty else { return true }
        return Self.comparable(anchor, at: url) == Self.comparable(url, at: url)
    }

    /// A reference as an absolute URL that is the same for all ways to write it.
    private static func comparable(_ reference: String, at base: String) -> [String]? {
        guard let url = absolute(reference, at: base) else { return nil }
        let place = String(url.before(UInt8(ascii: "#")))
        let fragment = url.behind(UInt8(ascii: "#")).map { [String($0)] } ?? []
        return [RequestURL(place)?.normalForm ?? place] + fragment
    }

    /// Returns the target as an absolute URL, resolved against the URL of the response; `nil` if it is invalid.
    ///
    /// A plain http target on the host of an https `base` becomes an https URL, because servers behind a proxy that
    /// terminates TLS often write such links.
    ///
    /// Characters that a URL cannot contain are percent-encoded; existing escapes are kept.
    public func resolved(against base: String) -> String? {
        Self.absolute(target, at: base)
    }

    /// A reference as an absolute URL, resolved against another one.
    static func absolute(_ reference: String, at base: String) -> String? {
        guard !reference.isEmpty else { return nil }
        let place = String(reference.before(UInt8(ascii: "#")))
        let page = RequestURL(base)
        let found = RequestURL(place) ?? page.flatMap { try? $0.resolving(place) }
        let url = page.flatMap { found?.secured(like: $0) } ?? found
        // Other schemes are Foundation's. In an http URL it would escape the escapes of a part in which anything needs one.
        guard let url else { return URL(string: reference, relativeTo: URL(string: base))?.absoluteString }
        guard let named = reference.behind(UInt8(ascii: "#")) else { return url.text }
        // A fragment has the grammar of a query (RFC 3986 section 3.5).
        let escaped = named.unicodeScalars.map { $0 == "#" ? "%23" : String($0) }.joined()
        let fragment = RequestURL("http://unused.example?\(escaped)")?.query
        return "\(url.text)#\(fragment ?? "")"
    }
}

extension WebLink: CustomStringConvertible {
    /// The link in the syntax of the header field.
    public var description: String {
        let own = [
            relations.isEmpty ? nil : ("rel", relations.joined(separator: " ")), anchor.map { ("anchor", $0) },
        ].compactMap(\.self)
        return "<\(target)>" + (own.map(Self.quoted) + parameters.map(Self.written)).joined()
    }

    /// Returns a parameter in quotes, or in the extended form if it is not ASCII.
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

/// The scheme, host and port of a URL, which must be equal for two URLs to have the same origin (RFC 6454).
struct Origin: Hashable {
    let scheme: String
    let host: String
    let port: Int?

    /// `nil` when the text is no absolute URL with a host.
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
