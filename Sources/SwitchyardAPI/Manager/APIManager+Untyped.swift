public import SwitchyardClient

extension APIManager {
    /// An unavailable function whose message explains that a call needs a type.
    ///
    /// Without it, the compiler fails with "failed to produce diagnostic" for a value whose type is not specified.
    @available(
        *,
        unavailable,
        message: "name the type of the value: value(Topic.self, for: call), or let topic: Topic = ..."
    )
    public nonisolated(nonsending) func value(
        for configuration: APIConfiguration,
        at keyPath: String? = nil
    ) async throws(APIError) -> Never {
        throw APIError(.configuration(.other("the type of the value is missing")))
    }
}
