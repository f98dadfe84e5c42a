import SwitchyardHTTP

extension RequestCoalescing {
    /// Returns the name that identical calls have in common, or `nil` if the call does not share a transfer.
    ///
    /// - Parameters:
    ///   - configuration: The call.
    ///   - isShown: Whether code of the app receives the configuration, including the values attached to it.
    /// - Returns: The name.
    func name(of configuration: APIConfiguration, isShown: Bool = false) -> String? {
        guard configuration.delivery == .whole else { return nil }
        switch self {
        case .off: return nil
        case .named(let name): return "named \(name)"
        case .identical:
            guard configuration.method.isSafe, configuration.body.isNone, !configuration.isMadeByHand,
                configuration.stubResponse == nil, configuration.urlRule == nil,
                !isShown || !configuration.hasAttachedValues
            else { return nil }
            let fields = configuration.headers.fields.map { "\($0.name): \($0.value)".framed }.joined()
            let parts = [
                configuration.method.name, configuration.path, configuration.query.canonicalText,
                configuration.parameters.canonicalText, configuration.pathValues.canonicalText, fields,
            ]
            let tags = isShown ? configuration.tags.sorted() : []
            return (parts + configuration.choices + tags).map(\.framed).joined()
        }
    }
}

extension NetworkClient.Options {
    /// Returns whether requests are built with code of the app that reads their configurations.
    func showsConfigurations(to generator: RequestGenerator) -> Bool {
        let common = generator.common
        return interceptors.contains { $0.adapt != nil } || !generator.transforms.isEmpty
            || !generator.pathFilters.isEmpty || generator.urlRule != nil || common.computedHeaders != nil
            || common.computedParameters != nil
    }
}

extension APIConfiguration {
    /// Whether code of the app or a prebuilt request determines the request, so that equal configurations may lead to
    /// different requests.
    ///
    /// URL rules are not considered.
    package var isMadeByHand: Bool {
        guard rare != nil else { return false }
        if prebuiltRequest != nil || modifier != nil { return true }
        if let parameterOptions, !parameterOptions.isComparable { return true }
        if case .own? = redirects?.rule { return true }
        return interceptors.contains { $0.adapt != nil }
    }

    /// The rarely used settings that affect the request.
    ///
    /// Their names start with a colon, so no header field has the same name.
    package var unusualChoices: [(name: String, value: String)] {
        var choices: [(name: String, value: String)] = []
        if parameterDestination != .automatic { choices.append((":destination", "\(parameterDestination)")) }
        if upgradesToHTTPS { choices.append((":https", "")) }
        if !usesCookies { choices.append((":cookies", "none")) }
        if let parameterOptions { choices.append((":written", "\(parameterOptions)")) }
        if let redirects { choices.append((":redirects", "\(redirects.rule) \(redirects.limit)")) }
        return choices
    }

    /// The remaining values that calls must have in common to share a transfer.
    fileprivate var choices: [String] {
        [
            "\(server)", "\(usesCDN)", "\(parameterDestination)", "\(upgradesToHTTPS)", "\(usesCookies)",
            "\(usesCredentials)", "\(networkAccess)", apiVersion ?? "-", cdnURL?.text ?? "-",
            credential?.scheme.fingerprint ?? "-", redirects.map { "\($0.rule) \($0.limit)" } ?? "-",
            responseBodyLimit.map { "\($0)" } ?? "-", tls?.fingerprint ?? "-",
            parameterOptions.map { "\($0)" } ?? "-", session ?? "-", allowsAnonymous.map { "\($0)" } ?? "-",
            typesOfReader ?? "-",
        ]
    }
}

extension ParameterEncodingOptions {
    /// Whether options with the same description encode parameters in the same way.
    ///
    /// Options with closures do not.
    fileprivate var isComparable: Bool {
        if case .custom = arrays { return false }
        if case .custom = nesting { return false }
        if case .custom = dates { return false }
        if case .custom = data { return false }
        if case .custom = keyCase { return false }
        return true
    }
}
