public import SwitchyardClient
public import SwitchyardTransport

extension APIConfiguration {
    private enum RulesKey: ConfigurationKey {
        static let defaultValue: ResponseRules? = nil
    }

    private enum ProgressKey: ConfigurationKey {
        static let defaultValue: TransferProgressHandler? = nil
    }

    /// A handler for the progress of each attempt, called on a thread of the transport.
    ///
    /// There is none by default.
    ///
    /// If several calls share one fetch, only the handler of the call that started the fetch is called.
    public var progress: TransferProgressHandler? {
        get { self[ProgressKey.self] }
        set { self[ProgressKey.self] = newValue }
    }

    /// The rules for the response of this call.
    ///
    /// If `nil` (the default), the module's rules apply.
    public var rules: ResponseRules? {
        get { self[RulesKey.self] }
        set { self[RulesKey.self] = newValue }
    }
}
