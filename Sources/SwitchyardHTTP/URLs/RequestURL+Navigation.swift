import Foundation

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
        for pair in (query ?? "").split(separator: separator) {
            for item in Parameters(parsing: String(pair)).items where !names.contains(written(item.key)) {
                guard !names.contains(written(Self.outermost(item.key, plan.options))) else { continue }
                // What is escaped in another character set than UTF-8 would not come back from being read.
                let isForeign = pair.removingPercentEncoding == nil
                var text = String(pair)
                if !isForeign {
                    // A name alone stays one: to some servers an empty value is something else.
                    let isBare = !pair.contains("=")
                    let kept = Parameters.Item(key: item.key, value: isBare ? .null : item.value)
                    text = try Self.text(of: kept, isBare ? barePlan : plan)
                }
                kept.append(Parameters.Item(key: item.key, value: .string(text)))
            }
        }
        return kept
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
