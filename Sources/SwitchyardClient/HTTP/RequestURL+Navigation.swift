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
    ///   - options: How they are written, those that stay too. Names are compared as they are written.
    /// - Returns: The URL; without any parameter it has no query.
    /// - Throws: ``RequestError/parameter(keyPath:reason:)``.
    public func setting(
        _ parameters: Parameters,
        options: ParameterEncodingOptions = ParameterEncodingOptions()
    ) throws(RequestError) -> RequestURL {
        let written = options.keyCase.apply(to:)
        let names = Set(parameters.items.map { written($0.key) })
        var all = query.map { Parameters(parsing: $0) } ?? Parameters()
        all.items.removeAll { item in
            names.contains(written(item.key)) || names.contains(written(Self.outermost(item.key, options)))
        }
        all.items += parameters.items.filter { $0.value != .null }
        var output = ByteBuffer(capacity: text.utf8.count + 64)
        output.append(Array(text.utf8.prefix { $0 != UInt8(ascii: "?") }))
        var serializer = ParameterSerializer(ParameterSerializerPlan(options), lead: UInt8(ascii: "?"))
        try serializer.write(all, to: &output)
        return RequestURL(trusted: output.text())
    }

    /// The name of the list or the set of values to which a name belongs, or the name itself.
    private static func outermost(_ name: String, _ options: ParameterEncodingOptions) -> String {
        let hasDots = if case .dots = options.nesting { true } else { false }
        return String(name.prefix { $0 != "[" && !(hasDots && $0 == ".") })
    }
}
