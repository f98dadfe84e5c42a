public import Foundation
public import SwitchyardClient
import SwitchyardServices

extension APIManager {
    /// Stores an answer for a call as if a server had given it, in memory and on disk.
    ///
    /// For answers that come with others: the list of topics may bring the answer for each topic. It is checked and
    /// decoded like one from a server, so that nothing is stored that a call could not use; where HTTP's rules decide,
    /// nothing that they forbid to store. What was asked for before does not replace it.
    ///
    /// - Parameters:
    ///   - body: The whole body, with the module's frame if it has one.
    ///   - headers: The header fields of the answer.
    ///   - configuration: The call that is to find it; its lifetime and policy hold.
    ///   - serializer: Makes the value.
    /// - Returns: The value.
    /// - Throws: ``APIError`` when the answer is not what the call accepts, or the call is not to be cached.
    @discardableResult
    public func storeAnswer<Value: Sendable>(
        _ body: Data,
        headers: HTTPHeaders = ["Content-Type": "application/json"],
        for configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>
    ) throws(APIError) -> Value {
        let configuration = client.ruled(configuration) ?? configuration
        guard let plan = CachePlan.of(configuration, at: serializer.part, through: client, user: cacheUser) else {
            throw module.completed(APIError(.cache(.invalidLifetime)))
        }
        var answer = plan.answer(status: 200, headers: headers)
        answer.body = body
        let value: Value
        do throws(APIError) {
            value = try APICall(configuration, serializer, module).value(of: answer)
        } catch {
            throw module.completed(error)
        }
        guard plan.mayStore(configuration, headers) else { return value }
        plan.followRules()
        plan.keep(value, answer, cost: body.count, turn: plan.cache.nextTurn(), configuration.headers)
        if plan.policy.usesDisk { plan.cache.disk?.store(answer, for: plan.key) }
        return value
    }

    /// Removes the stored answer of a call, in memory and on disk.
    public func removeAnswer(for configuration: APIConfiguration) {
        let configuration = client.ruled(configuration) ?? configuration
        guard let plan = CachePlan.of(configuration, through: client, user: cacheUser) else { return }
        plan.cache.remove(plan.key)
    }

    /// Removes all stored answers of the manager's user in the present environment; for a log-out.
    ///
    /// A manager without a user removes those of all users.
    public func removeAnswers() {
        let environment = client.environment.rawValue
        cache.removeAll(in: CachePartition(service: client.service.name, environment: environment, user: cacheUser))
    }
}
