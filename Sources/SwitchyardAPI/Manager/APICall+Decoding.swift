import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

// MARK: - Validation and decoding

extension APICall {
    /// The rules for the response: the call's own, or the module's.
    var rules: ResponseRules { configuration.rules ?? module.rules }

    /// Returns whether the call's rules accept a status.
    ///
    /// The status is `nil` if the app stored the value itself. Such a value is accepted.
    func accepts(_ status: Int?) -> Bool { status.map(rules.status.accepts) ?? true }

    /// Validates a response and decodes its value, and adds the module's messages to the error.
    func decoded(_ received: ReceivedResponse) throws(APIError) -> APIResponse<Value> {
        let service = received.service
        let raw = RawResponse(service.response, to: configuration)
        let rules = rules
        let bodyFailure = service.response.bodyFailure
        do throws(APIError) {
            // An accepted response must be complete. For any other response the head is enough.
            if let bodyFailure, rules.status.accepts(raw.status) { throw APIError(bodyFailure) }
            let value = try serializer.value(of: raw, rules: rules)
            return APIResponse(value: value, response: service.response, sharedContext: service.sharedContext)
        } catch {
            var error = error
            if let bodyFailure { error.context.underlying = error.context.underlying ?? bodyFailure }
            throw module.completed(error, by: service, reading: rules.readable(raw))
        }
    }

    /// Returns the value of a stored response.
    func value(of stored: StoredResponse) throws(APIError) -> Value {
        try serializer.value(of: RawResponse(stored.response, to: configuration), rules: rules)
    }

    /// Returns the failure of a fetch that another call started, with the messages of this call's module.
    func reworded(_ error: APIError) -> APIError {
        guard var plain = error.plain?.value else { return error }
        plain.reason = module.own(plain.reason)
        let context = plain.context
        let raw = RawResponse(context.response ?? HTTPResponse(status: 0), to: configuration)
        let isWhole = context.bodyLength == context.body.count
        return module.completed(plain, reading: isWhole ? rules.readable(raw) : nil)
    }
}

// MARK: - Owner

extension APICall {
    /// Throws an error if the user of the call has logged out or changed.
    ///
    /// Call it before a response is returned.
    func checkOwner(in client: NetworkClient) throws(APIError) {
        guard let failure = client.failure(ofOwnerGone: configuration) else { return }
        throw module.completed(APIError(failure))
    }

    /// Throws an error if the call may not start, because its user has logged out or changed, or because it was made in
    /// another environment.
    func checkOwner(in client: NetworkClient, beforeBeginningIn environment: ServiceEnvironment) throws(APIError) {
        guard configuration.callOwner != nil,
            let failure = client.failure(ofOwnerGone: configuration, beforeBeginningIn: environment)
        else { return }
        throw module.completed(APIError(failure))
    }
}

extension APIModule {
    /// Returns the error with all facts about the response and, if it can be read, the content of its body.
    func completed(
        _ error: APIError,
        by response: ServiceResponse,
        reading text: @autoclosure () -> Data? = nil
    ) -> APIError {
        var error = error
        let underlying = error.context.underlying
        error.context = APIError.Context(response.context)
        error.context.requestID = response.id
        error.context.underlying = underlying
        error.context.keep(response.response)
        return completed(error, reading: text())
    }
}
