public import SwitchyardHTTP

/// Settings for groups of calls, picked by URL and method: cache lifetimes, timeouts, headers.
///
/// Rules run in the order in which they were added; a later one overrides what an earlier one set. They are a value:
/// what is computed from them is computed anew for each call, and a changed set counts from the next call on.
///
/// ### Use
///
///     var rules = ConfigurationRules()
///     rules.add("/images/**") { $0.cacheLifetime = .seconds(3600) }
///     rules.add("/**", methods: [.post, .put]) { $0.timeout = .seconds(30) }
public struct ConfigurationRules: Sendable {
    /// Changes a configuration.
    public typealias Change = @Sendable (inout APIConfiguration) -> Void

    private struct Rule: Sendable {
        var matches: @Sendable (RequestURL, BaseURL) -> Bool
        var methods: Set<HTTPMethod>?
        var change: Change
    }

    private var rules: [Rule] = []

    /// Creates an empty set.
    public init() {}

    /// Whether there is no rule.
    public var isEmpty: Bool { rules.isEmpty }

    /// Adds a rule for the URLs of a pattern.
    ///
    /// - Parameters:
    ///   - pattern: The URLs.
    ///   - methods: The methods; all unless given.
    ///   - change: Changes the configuration of such a call.
    public mutating func add(_ pattern: URLPattern, methods: Set<HTTPMethod>? = nil, change: @escaping Change) {
        rules.append(Rule(matches: { pattern.matches($0, base: $1) }, methods: methods, change: change))
    }

    /// Adds a rule for the URLs that a closure picks, by a regular expression for instance.
    ///
    /// - Parameters:
    ///   - predicate: Whether the rule applies to a URL.
    ///   - methods: The methods; all unless given.
    ///   - change: Changes the configuration of such a call.
    public mutating func add(
        where predicate: @escaping @Sendable (RequestURL) -> Bool,
        methods: Set<HTTPMethod>? = nil,
        change: @escaping Change
    ) {
        rules.append(Rule(matches: { url, _ in predicate(url) }, methods: methods, change: change))
    }

    /// Returns the configuration after all rules that apply to it.
    ///
    /// Of a call with a ``APIConfiguration/prebuiltRequest`` the rules see that one's URL and method.
    ///
    /// - Parameters:
    ///   - configuration: What the call asks for.
    ///   - generator: Knows how paths are joined.
    ///   - base: The base URL; any server of the service gives the same answer for patterns without a scheme.
    /// - Returns: The changed configuration.
    /// - Throws: ``/SwitchyardHTTP/RequestError`` when the path cannot be joined.
    public func applied(
        to configuration: APIConfiguration,
        by generator: RequestGenerator,
        on base: BaseURL
    ) throws(RequestError) -> APIConfiguration {
        guard !rules.isEmpty else { return configuration }
        let prebuilt = configuration.prebuiltRequest?.url
        let url = if let prebuilt { prebuilt } else { try generator.joined(configuration, on: base) }
        var result = configuration
        for rule in rules where rule.methods?.contains(configuration.sentMethod) ?? true {
            if rule.matches(url, base) { rule.change(&result) }
        }
        return result
    }
}

extension RequestGenerator {
    /// The URL of a call's path, without its parameters.
    fileprivate func joined(_ configuration: APIConfiguration, on base: BaseURL) throws(RequestError) -> RequestURL {
        let joiner = try URLJoiner(path: try path(configuration), on: base, join: join, secured: false)
        return RequestURL(trusted: joiner.output.text())
    }
}
