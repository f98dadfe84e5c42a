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

/// One form for all ways to write the same URL (RFC 3986 section 6.2.2 and 6.2.3, RFC 9110 section 4.2.3).
///
/// It is for comparing: what is sent is ``text``, as it was given.
extension RequestURL {
    /// The URL with scheme and host in lower case, the host in ASCII, no port that is the scheme's own, a path of at least
    /// a slash, and escapes in capitals where they are needed and nowhere else.
    ///
    /// A dot at the end of the host stays: with it the name is another one to TLS, to cookies and to servers.
    package var normalForm: String {
        let url = absolute
        let origin = Origin(url)
        var bytes = Array("\(origin.scheme)://".utf8)
        if let user = url.authority.userInfo { bytes += user + [UInt8(ascii: "@")] }
        bytes += origin.description.utf8.dropFirst(origin.scheme.utf8.count + 3)
        bytes += url.path.isEmpty ? [UInt8(ascii: "/")] : PercentEncoding.normalForm(of: url.path)
        if let query = url.query { bytes += [UInt8(ascii: "?")] + PercentEncoding.normalForm(of: query) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The path with escapes in capitals where they are needed and nowhere else; may be empty.
    package var pathInNormalForm: String {
        String(decoding: PercentEncoding.normalForm(of: absolute.path), as: UTF8.self)
    }
}

extension PercentEncoding {
    /// Bytes of a URL with escapes in capitals, and without those of letters, digits, `-`, `.`, `_` and `~`, which mean the
    /// same as what they stand for.
    static func normalForm(of bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(UInt8(ascii: "%")) else { return bytes }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex { appendUnit(of: bytes, at: &index, to: &output) }
        return output
    }

    /// What stands behind a beginning, as it was written, whichever way the beginning is; `nil` when there is another one.
    package static func rest(of bytes: [UInt8], behind stem: [UInt8]) -> ArraySlice<UInt8>? {
        if bytes.starts(with: stem) { return bytes[stem.count...] }
        var expected = normalForm(of: stem)[...]
        var index = bytes.startIndex
        var unit: [UInt8] = []
        while !expected.isEmpty {
            guard index < bytes.endIndex else { return nil }
            unit.removeAll(keepingCapacity: true)
            appendUnit(of: bytes, at: &index, to: &unit)
            guard expected.starts(with: unit) else { return nil }
            expected = expected.dropFirst(unit.count)
        }
        return bytes[index...]
    }

    /// Appends the byte or the escape at a place in its normal form, and goes on behind it.
    private static func appendUnit(of bytes: [UInt8], at index: inout Int, to output: inout [UInt8]) {
        guard isEscape(bytes, at: index), let high = value(bytes[index + 1]), let low = value(bytes[index + 2]) else {
            output.append(bytes[index])
            index += 1
            return
        }
        let byte = high << 4 | low
        if URLCharacters.unreserved.contains(byte) { output.append(byte) } else { appendEscaped(byte, to: &output) }
        index += 3
    }
}

extension RequestURL {
    /// Scheme, host and port of a URL: what two URLs share that belong to one server (RFC 6454).
    public struct Origin: Sendable, Hashable, CustomStringConvertible {
        /// `http` or `https`.
        public let scheme: String
        /// The host in lower case, an IPv6 address in its brackets.
        public let host: String
        /// The port, also when the URL leaves it out: 80 and 443.
        public let port: Int

        init(isSecure: Bool, authority: URLAuthority) {
            scheme = isSecure ? "https" : "http"
            host = String(decoding: authority.host, as: UTF8.self).lowercased()
            port = authority.port ?? (isSecure ? 443 : 80)
        }

        package init(_ url: AbsoluteURL) {
            self.init(isSecure: url.isSecure, authority: url.authority)
        }

        /// The origin as a URL without path; the scheme's own port is left out.
        public var description: String {
            port == (scheme == "https" ? 443 : 80) ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
        }
    }

    /// The parts of the URL.
    ///
    /// Every way to make a value has checked the text, so what is read here parses.
    package var absolute: AbsoluteURL {
        do { return try AbsoluteURL(text) } catch { preconditionFailure("A checked URL does not parse: \(error)") }
    }

    /// Scheme, host and port.
    public var origin: Origin { Origin(absolute) }

    /// The same URL without user and password.
    package var withoutUserInfo: RequestURL {
        var url = absolute
        guard url.authority.userInfo != nil else { return self }
        url.authority.userInfo = nil
        return RequestURL(trusted: String(decoding: url.bytes, as: UTF8.self))
    }

    /// The path, percent-encoded; may be empty.
    public var path: String { String(decoding: absolute.path, as: UTF8.self) }

    /// The query as it will be sent, percent-encoded, without its question mark; `nil` when there is none.
    public var query: String? { URLParts(Array(text.utf8)).query.map { String(decoding: $0, as: UTF8.self) } }

    /// Returns the URL that `reference` means on this page (RFC 3986 section 5.2), for redirects and links.
    ///
    /// - Parameter reference: An absolute URL, or a path, query or host relative to this URL.
    /// - Returns: The URL; its fragment is dropped.
    /// - Throws: ``RequestError/url(text:reason:)`` when the result is no http or https URL.
    public func resolving(_ reference: String) throws(RequestError) -> RequestURL {
        let joiner = try URLJoiner(path: reference, on: BaseURL(self), join: .relative, secured: false)
        return RequestURL(trusted: joiner.output.text())
    }
}

extension RequestURL {
    /// Whether the scheme is https; looks at the first bytes only.
    package var isSecure: Bool {
        let secure: StaticString = "https:"
        return zip(text.utf8, 0..<6).allSatisfy { byte, index in
            byte | 0x20 == secure.utf8Start[index] | 0x20
        }
    }
}

/// Ways from one URL to another.
extension RequestURL {
    /// Returns the URL of a path below this one, which it can never leave.
    ///
    /// Slashes, queries, spaces and `..` are treated as the column `append` of ``PathJoin`` says, but for an absolute URL,
    /// which is an error here.
    ///
    /// - Parameter path: The path, with or without a slash in front.
    /// - Returns: The URL; this one's query stays in front of the path's.
    /// - Throws: ``RequestError/url(text:reason:)``.
    public func appending(path: String) throws(RequestError) -> RequestURL {
        let joiner = try URLJoiner(path: path, on: BaseURL(self), join: .append, secured: false)
        if let foreign = joiner.foreignOrigin { throw .url(text: path, reason: .foreignHost(foreign.host)) }
        return RequestURL(trusted: joiner.output.text())
    }

    /// Returns the URL that `reference` means on this page, or `nil` when there is none: the next page's, for instance.
    ///
    /// - Parameter reference: What an answer gave, or did not give.
    /// - Returns: The URL, if any.
    /// - Throws: ``RequestError/url(text:reason:)`` when the result is no http or https URL.
    public func resolving(_ reference: String?) throws(RequestError) -> RequestURL? {
        guard let reference else { return nil }
        return try resolving(reference) as RequestURL
    }

    /// Returns the URL with parameters in its query, in place of those of the same names.
    ///
    /// All parameters are in ascending order of their names afterwards, so that equal parameters give equal URLs.
    ///
    /// - Parameters:
    ///   - parameters: The parameters; one that is `null` removes those of its name. What stands in the URL as an element
    ///     or a member of one (`tags[]`, `filter[name]`) belongs to it.
    ///   - options: How they are written, those that stay too, but for what is escaped in another character set than UTF-8,
    ///     which stays as it is. Names are compared as they are written.
    /// - Returns: The URL; without any parameter it has no query.
    /// - Throws: ``RequestError/parameter(keyPath:reason:)``.
    public func setting(
        _ parameters: Parameters,
        options: ParameterEncodingOptions = ParameterEncodingOptions()
    ) throws(RequestError) -> RequestURL {
        let options = options.inURL
        let plan = ParameterSerializerPlan(options)
        var pairs = try kept(besides: parameters, plan)
        for item in parameters.items where item.value != .null {
            pairs.append(Parameters.Item(key: item.key, value: .string(try Self.text(of: item, plan))))
        }
        let texts = (options.sortsKeys ? pairs.stablySortedByKey : pairs).compactMap { pair in
            if case .string(let text) = pair.value, !text.isEmpty { text } else { nil }
        }
        let head = text.prefix { $0 != "?" }
        let query = texts.joined(separator: options.separator)
        return RequestURL(trusted: texts.isEmpty ? String(head) : "\(head)?\(query)")
    }

    /// The parameters of the query but for those that others take the place of, each as text with its name.
    private func kept(
        besides others: Parameters,
        _ plan: ParameterSerializerPlan
    ) throws(RequestError) -> [Parameters.Item] {
        let written = plan.options.keyCase.apply(to:)
        let names = Set(others.items.map { written($0.key) })
        var kept: [Parameters.Item] = []
        var bare = plan.options
        bare.nulls = .bare
        let barePlan = ParameterSerializerPlan(bare)
        let separator = plan.options.separator.isEmpty ? "&" : plan.options.separator
        for pair in (query ?? "").split(separator: separator).flatMap({ $0.split(separator: "&") }) {
            guard let item = Parameters(parsing: String(pair)).items.first, !names.contains(written(item.key)),
                !names.contains(written(Self.outermost(item.key, plan.options)))
            else { continue }
            var text = String(pair)
            // What is escaped in another character set than UTF-8 would not come back from being read.
            if pair.removingPercentEncoding != nil {
                // A name alone stays one: to some servers an empty value is something else.
                let value = text.behind(UInt8(ascii: "=")).map { Self.value(String($0), item.value, plan.options) }
                let kept = Parameters.Item(key: item.key, value: value ?? .null)
                text = try Self.text(of: kept, value == nil ? barePlan : plan)
            }
            kept.append(Parameters.Item(key: item.key, value: .string(text)))
        }
        return kept
    }

    /// The value of a parameter, which is a list where commas that are not escaped stand between its elements.
    private static func value(
        _ text: String,
        _ value: ParameterValue,
        _ options: ParameterEncodingOptions
    ) -> ParameterValue {
        guard case .commaSeparated = options.arrays, text.hasByte(UInt8(ascii: ",")) else { return value }
        let elements = text.split(separator: ",", omittingEmptySubsequences: false)
        return .array(elements.map { Parameters(parsing: "=\($0)").items.first?.value ?? "" })
    }

    /// A parameter as it is written; empty when it is left out.
    private static func text(
        of item: Parameters.Item,
        _ plan: ParameterSerializerPlan
    ) throws(RequestError) -> String {
        var output = ByteBuffer(capacity: 64)
        var serializer = ParameterSerializer(plan)
        try serializer.write(Parameters([item]), to: &output)
        return output.text()
    }

    /// The name of the list or the set of values to which a name belongs, or the name itself.
    private static func outermost(_ name: String, _ options: ParameterEncodingOptions) -> String {
        let hasDots = if case .dots = options.nesting { true } else { false }
        return String(name.prefix { $0 != "[" && !(hasDots && $0 == ".") })
    }
}
