public import SwitchyardHTTP

/// Settings for calls that are selected by URL and method, such as cache lifetimes, timeouts and headers.
///
/// Rules run in the order in which they were added, and a later rule overrides an earlier rule. The set of rules is a
/// value, and a new set applies to all later calls. A rule's closure runs for each call.
///
/// ### Use
///
///     var rules = ConfigurationRules()
///     rules.add("/images/**") { $0.cache.lifetime = .seconds(3600) }
///     rules.add("/**", methods: [.post, .put]) { $0.timeout = .seconds(30) }
public struct ConfigurationRules: Sendable {
    /// A closure that changes the configuration of a call.
    package typealias Change = @Sendable (inout APIConfiguration) -> Void

    private struct Rule: Sendable {
        var matches: @Sendable (RequestURL, BaseURL) -> Bool
        var methods: Set<HTTPMethod>?
        var change: Change
    }

    private var rules: [Rule] = []

    /// Creates a set without rules.
    public init() {}

    /// Whether there are no rules.
    package var isEmpty: Bool { rules.isEmpty }

    /// Adds a rule for the URLs that match a pattern.
    ///
    /// - Parameters:
    ///   - pattern: The pattern of the URLs.
    ///   - methods: The methods. If `nil`, the rule applies to all methods.
    ///   - change: Changes the configuration of a call that the rule applies to.
    public mutating func add(
        _ pattern: URLPattern,
        methods: Set<HTTPMethod>? = nil,
        change: @escaping @Sendable (inout APIConfiguration) -> Void
    ) {
        rules.append(Rule(matches: { pattern.matches($0, base: $1.url) }, methods: methods, change: change))
    }

    /// Adds a rule for the URLs that a closure selects, for example by a regular expression.
    ///
    /// - Parameters:
    ///   - predicate: Returns whether the rule applies to a URL.
    ///   - methods: The methods. If `nil`, the rule applies to all methods.
    ///   - change: Changes the configuration of a call that the rule applies to.
    public mutating func add(
        where predicate: @escaping @Sendable (RequestURL) -> Bool,
        methods: Set<HTTPMethod>? = nil,
        change: @escaping @Sendable (inout APIConfiguration) -> Void
    ) {
        rules.append(Rule(matches: { url, _ in predicate(url) }, methods: methods, change: change))
    }

    /// Returns the configuration after all matching rules have changed it.
    ///
    /// If the call has an ``APIConfiguration/prebuiltRequest``, the rules are matched against the URL and method of
    /// that request.
    ///
    /// - Parameters:
    ///   - configuration: The description of the call.
    ///   - generator: The generator that joins the path to the base URL.
    ///   - base: The base URL. If the patterns have no scheme, the base URL of any server gives the same result.
    /// - Returns: The changed configuration.
    /// - Throws: ``/SwitchyardHTTP/RequestError`` if the path cannot be joined to the base URL.
    package func applied(
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
    /// Returns the URL of a call's path without its parameters.
    fileprivate func joined(_ configuration: APIConfiguration, on base: BaseURL) throws(RequestError) -> RequestURL {
        let joiner = try URLJoiner(path: try path(configuration), on: base, join: join, secured: false)
        return RequestURL(trusted: joiner.output.text())
    }
}
