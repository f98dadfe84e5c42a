public import SwitchyardClient
public import SwitchyardTransport

extension APIConfiguration {
    private enum RulesKey: ConfigurationKey {
        static let defaultValue: ResponseRules? = nil
    }

    private enum ProgressKey: ConfigurationKey {
        static let defaultValue: TransferProgressHandler? = nil
    }

    /// A handler for the progress of each attempt, called on a thread of the transport; default is none.
    ///
    /// If several calls wait for one fetch, the handler of the call that started it is called.
    public var progress: TransferProgressHandler? {
        get { self[ProgressKey.self] }
        set { self[ProgressKey.self] = newValue }
    }

    /// The rules for the response of this call; if `nil`, the default, the module's rules apply.
    public var rules: ResponseRules? {
        get { self[RulesKey.self] }
        set { self[RulesKey.self] = newValue }
    }
}
