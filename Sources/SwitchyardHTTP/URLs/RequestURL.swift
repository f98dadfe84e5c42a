public import Foundation

/// An absolute HTTP or HTTPS URL with a host, validated once and stored in the form in which it is sent.
public struct RequestURL: Sendable, Hashable, CustomStringConvertible {
    /// The URL in the form in which it is sent: percent-encoded and without a fragment.
    public let text: String

    /// Creates a URL from text that is known to be a valid absolute URL.
    package init(trusted text: String) {
        self.text = text
    }

    /// Creates a URL from text.
    ///
    /// Characters that are not allowed in a URL are percent-encoded, existing percent escapes are kept, and the
    /// fragment is dropped.
    ///
    /// - Parameter text: The URL.
    /// - Throws: ``RequestError/url(text:reason:)`` unless the URL is absolute, has the scheme `http` or `https` and a
    ///   valid host.
    public init(validating text: String) throws(RequestError) {
        self.init(try AbsoluteURL(text))
    }

    /// Creates a URL from a URL that has been validated.
    init(_ url: AbsoluteURL) {
        text = String(decoding: url.bytes, as: UTF8.self)
    }

    /// Creates a URL from text, or returns `nil` unless the text is an absolute URL with the scheme `http` or `https`
    /// and a host.
    public init?(_ text: String) {
        guard let url = try? RequestURL(validating: text) else { return nil }
        self = url
    }

    /// Creates a URL from a Foundation URL, or returns `nil` unless that URL is absolute and has the scheme `http` or
    /// `https` and a host.
    public init?(_ url: URL) {
        self.init(url.absoluteString)
    }

    /// Creates a URL from Foundation components, or returns `nil` unless the components have the scheme `http` or
    /// `https` and a host.
    public init?(_ components: URLComponents) {
        guard let text = components.string else { return nil }
        self.init(text)
    }

    /// The URL as a Foundation URL.
    public var foundationURL: URL? { URL(string: text) }

    /// The URL in the form in which it is sent.
    public var description: String { text }
}

/// Normalization, which gives all spellings of a URL the same form (RFC 3986 sections 6.2.2 and 6.2.3, RFC 9110 section
/// 4.2.3).
///
/// The normal form is only for comparison. Requests are sent to ``text``, which is not normalized.
extension RequestURL {
    /// The URL with scheme and host in lower case, an ASCII host, no default port, at least a slash as the path, and
    /// only the necessary percent escapes, in capitals.
    ///
    /// A trailing dot of the host is kept, because TLS, cookies and servers distinguish the name with the dot from the
    /// name without.
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

    /// The path with only the necessary percent escapes, in capitals.
    ///
    /// It may be empty.
    package var pathInNormalForm: String {
        String(decoding: PercentEncoding.normalForm(of: absolute.path), as: UTF8.self)
    }
}

extension PercentEncoding {
    /// Returns the bytes with normalized percent escapes.
    ///
    /// Escapes of unreserved characters (letters, digits, `-`, `.`, `_` and `~`) are decoded, and all other escapes are
    /// in capitals.
    static func normalForm(of bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(UInt8(ascii: "%")) else { return bytes }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex { appendUnit(of: bytes, at: &index, to: &output) }
        return output
    }

    /// Returns the bytes after a prefix, unchanged, or `nil` if the bytes do not start with the prefix.
    ///
    /// Different percent-encodings of the same prefix count as equal.
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

    /// Appends the normal form of the byte or percent escape at an index, and advances the index.
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
    /// The scheme, host and port of a URL (RFC 6454).
    ///
    /// URLs of the same server have the same origin.
    public struct Origin: Sendable, Hashable, CustomStringConvertible {
        /// `http` or `https`.
        public let scheme: String
        /// The host in lower case.
        ///
        /// An IPv6 address is in brackets.
        public let host: String
        /// The port.
        ///
        /// If the URL omits the port, it is the scheme's default, 80 or 443.
        public let port: Int

        init(isSecure: Bool, authority: URLAuthority) {
            scheme = isSecure ? "https" : "http"
            host = String(decoding: authority.host, as: UTF8.self).lowercased()
            port = authority.port ?? (isSecure ? 443 : 80)
        }

        package init(_ url: AbsoluteURL) {
            self.init(isSecure: url.isSecure, authority: url.authority)
        }

        /// The origin as a URL without path and without the scheme's default port.
        public var description: String {
            port == (scheme == "https" ? 443 : 80) ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
        }
    }

    /// The parsed URL.
    ///
    /// Parsing cannot fail, because every initializer has validated the text.
    package var absolute: AbsoluteURL {
        do { return try AbsoluteURL(text) } catch { preconditionFailure("A checked URL cannot be parsed: \(error)") }
    }

    /// The scheme, host and port.
    public var origin: Origin { Origin(absolute) }

    /// The URL without user and password.
    package var withoutUserInfo: RequestURL {
        var url = absolute
        guard url.authority.userInfo != nil else { return self }
        url.authority.userInfo = nil
        return RequestURL(url)
    }

    /// The path, percent-encoded.
    ///
    /// It may be empty.
    public var path: String { String(decoding: absolute.path, as: UTF8.self) }

    /// The percent-encoded query without its question mark, or `nil` if there is none.
    public var query: String? { URLParts(Array(text.utf8)).query.map { String(decoding: $0, as: UTF8.self) } }

    /// Returns the URL for `reference` relative to this URL (RFC 3986 section 5.2), for redirects and links.
    ///
    /// - Parameter reference: An absolute URL, or a path, query or host relative to this URL.
    /// - Returns: The URL without its fragment.
    /// - Throws: ``RequestError/url(text:reason:)`` if the result is not an HTTP or HTTPS URL.
    public func resolving(_ reference: String) throws(RequestError) -> RequestURL {
        let joiner = try URLJoiner(path: reference, on: BaseURL(self), join: .relative, secured: false)
        return RequestURL(trusted: joiner.output.text())
    }
}

extension RequestURL {
    /// Whether the scheme is `https`, determined from the first bytes only.
    package var isSecure: Bool { text.begins(withScheme: "https") }
}

/// URLs that are derived from this URL.
extension RequestURL {
    /// Returns the URL of a path below this URL.
    ///
    /// The path cannot lead out of this URL. Slashes, queries, spaces and `..` are treated as in the column `append` of
    /// ``PathJoin``, except that an absolute URL is an error.
    ///
    /// - Parameter path: The path, with or without a leading slash.
    /// - Returns: The URL. The query of this URL is placed before the query of the path.
    /// - Throws: ``RequestError/url(text:reason:)``.
    public func appending(path: String) throws(RequestError) -> RequestURL {
        let joiner = try URLJoiner(path: path, on: BaseURL(self), join: .append, secured: false)
        if let foreign = joiner.foreignOrigin { throw .url(text: path, reason: .foreignHost(foreign.host)) }
        return RequestURL(trusted: joiner.output.text())
    }

    /// Returns the URL for `reference` relative to this URL, or `nil` if `reference` is `nil`; for instance the URL of
    /// the next page.
    ///
    /// - Parameter reference: A reference from a response, or `nil`.
    /// - Returns: The URL, or `nil`.
    /// - Throws: ``RequestError/url(text:reason:)`` if the result is not an HTTP or HTTPS URL.
    public func resolving(_ reference: String?) throws(RequestError) -> RequestURL? {
        guard let reference else { return nil }
        return try resolving(reference) as RequestURL
    }

    /// Returns the URL with parameters set in its query.
    ///
    /// The new parameters replace existing parameters with the same names.
    ///
    /// All parameters of the result are sorted by their names unless the options turn sorting off, so equal parameters
    /// give equal URLs.
    ///
    /// - Parameters:
    ///   - parameters: The parameters. A `null` value removes the existing parameters with the same name. Elements and
    ///     members of a parameter in the URL (`tags[]`, `filter[name]`) count as having its name.
    ///   - options: The encoding options, which also apply to parameters that are kept. Kept parameters that are
    ///     percent-encoded in another character set than UTF-8 are unchanged. Names are compared in their encoded form.
    /// - Returns: The URL. If no parameter remains, it has no query.
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

    /// Returns the existing parameters of the query whose names are not in `others`, each as encoded text with its
    /// name.
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
            // A parameter whose percent escapes are in another character set than UTF-8 would be damaged by decoding,
            // so it is kept unchanged.
            if pair.removingPercentEncoding != nil {
                // A name without an equals sign is kept unchanged, because some servers distinguish it from an empty
                // value.
                let value = text.behind(UInt8(ascii: "=")).map { Self.value(String($0), item.value, plan.options) }
                let kept = Parameters.Item(key: item.key, value: value ?? .null)
                text = try Self.text(of: kept, value == nil ? barePlan : plan)
            }
            kept.append(Parameters.Item(key: item.key, value: .string(text)))
        }
        return kept
    }

    /// Returns the value of a parameter, as a list if the options use comma-separated lists and the text contains
    /// unescaped commas.
    private static func value(
        _ text: String,
        _ value: ParameterValue,
        _ options: ParameterEncodingOptions
    ) -> ParameterValue {
        guard case .commaSeparated = options.arrays, text.hasByte(UInt8(ascii: ",")) else { return value }
        let elements = text.split(separator: ",", omittingEmptySubsequences: false)
        return .array(elements.map { Parameters(parsing: "=\($0)").items.first?.value ?? "" })
    }

    /// Returns a parameter as encoded text, which is empty if the parameter is omitted.
    private static func text(
        of item: Parameters.Item,
        _ plan: ParameterSerializerPlan
    ) throws(RequestError) -> String {
        var output = ByteBuffer(capacity: 64)
        var serializer = ParameterSerializer(plan)
        try serializer.write(Parameters([item]), to: &output)
        return output.text()
    }

    /// Returns the name of the list or dictionary that a nested name belongs to, or the name itself.
    private static func outermost(_ name: String, _ options: ParameterEncodingOptions) -> String {
        let hasDots = if case .dots = options.nesting { true } else { false }
        return String(name.prefix { $0 != "[" && !(hasDots && $0 == ".") })
    }
}
