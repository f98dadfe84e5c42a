public import Foundation
public import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

extension APIManager {
    /// Stores an answer for a call as if a server had given it, in memory and on disk.
    ///
    /// For answers that come with others: the list of topics may bring the answer for each topic. It is checked and
    /// decoded like one from a server, so that nothing is stored that a call could not use; where HTTP's rules decide,
    /// nothing that they forbid to store, and the header fields say how long it is fresh. ``CachePolicy/willStore`` is
    /// asked, too. What was asked for before does not replace it.
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
        guard let plan = CachePlan.of(configuration, for: serializer, through: client, user: cacheUser) else {
            throw module.completed(APIError(.cache(.invalidLifetime)))
        }
        let call = APICall(configuration, serializer, module)
        var answer = plan.answer(status: 200, headers: headers)
        answer.body = body
        do throws(APIError) {
            let value = try call.value(of: answer)
            if plan.mayStore(configuration, headers) { try store(answer, with: value, of: call, plan) }
            return value
        } catch {
            throw module.completed(error)
        }
    }

    private func store<Value: Sendable>(
        _ given: StoredAnswer,
        with value: Value,
        of call: APICall<Value>,
        _ plan: CachePlan
    ) throws(APIError) {
        let request = call.configuration.headers
        var answer = given
        if let http = plan.http(of: answer, request) {
            (answer.lifetime, answer.staleFor) = plan.policy.keepingTime(http)
        }
        let willStore = plan.policy.willStore ?? plan.cache.defaults.willStore
        guard let changed = willStore.map({ $0(answer) }) ?? answer else { return }
        let value = changed.body == given.body ? value : try call.value(of: changed)
        plan.followRules()
        let turn = plan.cache.nextTurn()
        _ = plan.cache.isNewest(turn, of: plan.key)
        guard plan.keep(value, changed, cost: changed.body.count, turn: turn, request) else { return }
        if plan.policy.usesDisk, !plan.isAmbiguousOnDisk(changed, request) {
            plan.cache.disk?.store(changed, for: plan.key)
        }
    }

    /// Removes the stored answer of a call, in memory and on disk.
    public func removeAnswer(for configuration: APIConfiguration) {
        var configuration = client.ruled(configuration) ?? configuration
        // Only the key matters, not the fields that go with the call, which the app may be unable to compute.
        configuration.cache.freshness = .lifetime
        guard let plan = CachePlan.of(configuration, accepting: nil, through: client, user: cacheUser) else { return }
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
