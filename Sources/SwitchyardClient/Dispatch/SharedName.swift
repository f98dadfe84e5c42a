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
            guard !configuration.hasEffect, configuration.body.isNone, configuration.stubResponse == nil,
                configuration.urlRule == nil, !configuration.decidesItsRounds,
                !isShown || !configuration.hasAttachedValues,
                let identity = RequestIdentity(of: configuration, for: .transfer)
            else { return nil }
            let tags = isShown ? configuration.tags.sorted() : []
            return identity.text + tags.map(\.framed).joined()
        }
    }
}

extension APIConfiguration {
    /// Whether the call has limits or retries of its own, which may send it again or return another response.
    fileprivate var decidesItsRounds: Bool {
        guard rare != nil else { return false }
        return retry != nil || !limits.isEmpty || interceptors.contains { $0.retry != nil }
    }
}

extension NetworkClient.Options {
    /// Returns whether code of the app reads the configurations when requests are adapted or built.
    func showsConfigurations(to generator: RequestGenerator) -> Bool {
        let common = generator.common
        return interceptors.contains { $0.adapt != nil } || !generator.transforms.isEmpty
            || !generator.pathFilters.isEmpty || generator.urlRule != nil || common.computedHeaders != nil
            || common.computedParameters != nil
    }
}
