public import SwitchyardClient

extension APIManager {
    /// Explains what a call without a type lacks.
    ///
    /// Without it, the compiler fails with "failed to produce diagnostic" for a value whose type nothing names.
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
