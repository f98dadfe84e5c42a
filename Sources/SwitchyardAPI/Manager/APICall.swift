import Foundation
public import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices
public import SwitchyardTransport

/// One call: the request to send, and the steps that make a value of its response.
///
/// It holds neither the manager nor its client, so that both can be released while the call is in flight.
struct APICall<Value: Sendable>: Sendable {
    let serializer: ResponseSerializer<Value>
    private let call: RawCall

    init(_ configuration: APIConfiguration, _ serializer: ResponseSerializer<Value>, _ module: APIModule) {
        self.serializer = serializer
        call = RawCall(configuration, module, accepting: serializer.accept)
    }

    var configuration: APIConfiguration { call.configuration }
    var module: APIModule { call.module }

    /// Fails where the user of the call has gone.
    func checkOwner(in client: NetworkClient) throws(APIError) { try call.checkOwner(in: client) }

    /// Throws if the call may not start, because its user has left or it was made in another environment.
    func checkOwner(in client: NetworkClient, beforeBeginningIn environment: ServiceEnvironment) throws(APIError) {
        try call.checkOwner(in: client, beforeBeginningIn: environment)
    }

    /// The result of a fetch.
    struct Fetched: Sendable {
        var response: APIResponse<Value>
        /// The body; `nil` if the server confirmed a stored response.
        var body: Data?
        /// The size of the body in bytes.
        var cost: Int
        /// How often the call itself has removed entries of the cache.
        var removals = 0
    }

    /// Sends the request, checks the response and decodes it, not on the caller's executor.
    ///
    /// - Parameters:
    ///   - client: The client that sends the request.
    ///   - id: The identifier of the request.
    ///   - stored: The stored response that the server may confirm.
    ///   - conditions: The header fields by which the server may confirm it.
    /// - Returns: The value with its response.
    /// - Throws: ``APIError``.
    @concurrent func fetch(
        through client: NetworkClient,
        id: RequestID = RequestID(),
        confirming stored: CachedValue<Value>? = nil,
        with conditions: HTTPHeaders = [:]
    ) async throws(APIError) -> Fetched {
        // A condition of the caller's own refers to the caller's copy, so its confirmation is returned to the caller.
        let mayAsk = HTTPCacheRules.mayConfirm(configuration.method, configuration.headers)
        let conditions = mayAsk ? conditions : [:]
        // One call has one deadline, also where it takes two requests.
        let deadline = conditions.isEmpty ? nil : client.deadline(of: call.configuration)
        var answer = try await call.answer(through: client, id: id, with: conditions, about: stored?.answer)
        if answer.service.status == 304, let stored, !conditions.isEmpty {
            let place = answer.service.context.redirects.last?.to.normalForm
            let isMeant = HTTPCacheRules.concerns(stored.answer?.headers ?? [:], confirmation: answer.service.headers)
            if stored.answer?.redirectedTo.map({ RequestURL($0)?.normalForm ?? $0 }) == place, isMeant {
                return confirmed(stored, by: answer.service, in: client)
            }
            // The conditions were met by another URL or other content than they refer to, so the result proves nothing.
            answer = try await call.unconditionalResponse(through: client, id: id, by: deadline)
        }
        let response = try response(answer)
        let removals = answer.removals + call.forgetOutdated(in: client)
        return Fetched(response: response, body: answer.data, cost: answer.data.count, removals: removals)
    }

    /// Checks the response of an operation that is more than one request, and decodes it.
    ///
    /// The operation starts on the caller's executor, where the owner of the call is known. The response is decoded
    /// elsewhere.
    ///
    /// - Parameters:
    ///   - client: The client of the operation.
    ///   - send: Sends the call and returns the response, whatever its status.
    /// - Returns: The value with its response.
    /// - Throws: ``APIError``.
    nonisolated(nonsending) func response(
        through client: NetworkClient,
        sentBy send: OwnedSending
    ) async throws(APIError) -> APIResponse<Value> {
        let response = try await decodedResponse(try await call.answer(through: client, sentBy: send))
        call.forgetOutdated(in: client)
        return response
    }

    @concurrent private func decodedResponse(_ answer: RawCall.Answer) async throws(APIError) -> APIResponse<Value> {
        try response(answer)
    }

    private func response(_ answer: RawCall.Answer) throws(APIError) -> APIResponse<Value> {
        APIResponse(
            value: try decoded(answer),
            status: answer.service.status,
            headers: answer.service.headers,
            context: answer.service.context
        )
    }

    /// The failure of a fetch that another call began, in the words of this one's module.
    func reworded(_ error: APIError) -> APIError {
        guard var plain = error.plain?.value else { return error }
        plain.reason = module.own(plain.reason)
        let context = plain.context
        let rules = configuration.rules ?? module.rules
        let raw = RawResponse(
            status: context.status ?? 0,
            headers: context.headers,
            data: context.body,
            method: configuration.method,
            accept: configuration.headers["Accept"]
        )
        let isWhole = context.bodyLength == context.body.count
        return module.completed(plain, reading: isWhole ? rules.readable(raw) : nil)
    }

    private func confirmed(
        _ stored: CachedValue<Value>,
        by answer: ServiceResponse,
        in client: NetworkClient
    ) -> Fetched {
        let response = APIResponse(
            value: stored.value,
            status: stored.answer?.status ?? 200,
            headers: HTTPCacheRules.confirmed(stored.answer?.headers ?? [:], by: answer.headers),
            source: .revalidated,
            context: answer.context
        )
        return Fetched(
            response: response,
            body: nil,
            cost: stored.cost,
            removals: call.forgetOutdated(in: client)
        )
    }

    private func decoded(_ answer: RawCall.Answer) throws(APIError) -> Value {
        try call.value(of: answer) { (raw, rules) throws(APIError) in try serializer.value(of: raw, rules: rules) }
    }
}

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
