/// What surrounds one call.
extension APIConfiguration {
    private enum InterceptorsSetting: ConfigurationSetting {
        static var defaultValue: [RequestInterceptor] { [] }
    }

    private enum LimitsSetting: ConfigurationSetting {
        static var defaultValue: [any RequestLimit] { [] }
    }

    private enum RetrySetting: ConfigurationSetting {
        static var defaultValue: RetryPolicy? { nil }
    }

    /// What takes part in this call's flow, behind the client's interceptors; nothing unless set.
    public var interceptors: [RequestInterceptor] {
        get { self[setting: InterceptorsSetting.self] }
        set { self[setting: InterceptorsSetting.self] = newValue }
    }

    /// What every round of this call passes first, behind the client's limits; nothing unless set.
    ///
    /// A limit counts the calls that carry the same object.
    public var limits: [any RequestLimit] {
        get { self[setting: LimitsSetting.self] }
        set { self[setting: LimitsSetting.self] = newValue }
    }

    /// Whether and when the call is sent again; the client's policy when `nil`, the default.
    public var retry: RetryPolicy? {
        get { self[setting: RetrySetting.self] }
        set { self[setting: RetrySetting.self] = newValue }
    }
}
