import Foundation
package import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// Sends a call from the caller's executor, so that its owner is known before another user can log in.
package typealias OwnedSending =
    nonisolated(nonsending) @Sendable (APIConfiguration) async throws(RequestFailure) -> ServiceResponse

/// The untyped part of a call: the request, whatever becomes of the response.
///
/// A class, because a call is passed through many functions and each would copy a configuration of two dozen fields.
/// Code that few calls need is in functions marked `@inline(never)`, because a task reserves room for everything that a
/// suspended function may use.
final class RawCall: Sendable {
    /// The response with its whole body.
    struct Answer: Sendable {
        let service: ServiceResponse
        let data: Data
        /// How often it has removed entries of the cache.
        let removals: Int
    }

    let configuration: APIConfiguration
    let module: APIModule

    /// - Parameters:
    ///   - configuration: The call.
    ///   - module: The common properties of the module's responses.
    ///   - types: The content types that the reader accepts, as the value of `Accept`; `nil` for any.
    init(_ configuration: APIConfiguration, _ module: APIModule, accepting types: String?) {
        var asked = configuration
        asked.acceptedTypes = types
        self.configuration = asked
        self.module = module
    }

    /// Sends the request on the caller's executor.
    ///
    /// - Parameters:
    ///   - client: The client that sends the request.
    ///   - id: The identifier of the request.
    ///   - conditions: The fields by which the server may confirm the stored response.
    ///   - stored: The stored response that the conditions refer to.
    /// - Returns: The response, whatever its status.
    /// - Throws: ``APIError`` if there is none, or its body is truncated.
    nonisolated(nonsending) func answer(
        through client: NetworkClient,
        id: RequestID,
        with conditions: HTTPHeaders = [:],
        about stored: CachedResponse? = nil
    ) async throws(APIError) -> Answer {
        try module.check()
        guard configuration.cacheBox.value.reading != .only else {
            // Nothing is stored for such a call: it has no lifetime, or it changes something.
            throw refused(.cache(.invalidLifetime))
        }
        let answer: ServiceResponse
        do throws(RequestFailure) {
            answer = try await client.answer(
                to: asking(conditions, about: stored),
                id: id,
                progress: configuration.progress
            )
        } catch {
            throw failed(error, in: client)
        }
        let removals = forgetChanged(by: answer.status, answer.context, in: client)
        if case .whole(let data) = answer.response.body {
            return Answer(service: answer, data: data, removals: removals)
        }
        return Answer(service: answer, data: try await collectedBody(of: answer), removals: removals)
    }

    /// Returns the response to a request without the cache's conditions, after a conditional request had no usable
    /// result.
    ///
    /// The request has the remaining time of the first one, because the deadline is that of the call; `nil` if there is
    /// none.
    @inline(never)
    nonisolated(nonsending) func unconditionalResponse(
        through client: NetworkClient,
        id: RequestID,
        by deadline: MonotonicTime?
    ) async throws(APIError) -> Answer {
        guard let deadline else { return try await answer(through: client, id: id) }
        var rest = configuration
        rest.timeout = max(.milliseconds(1), client.time.now.duration(to: deadline))
        return try await RawCall(rest, module, accepting: rest.acceptedTypes).answer(through: client, id: id)
    }

    /// Returns the response of an operation that is more than one request, whatever its status.
    ///
    /// - Throws: ``APIError`` if there is none, or its body is truncated.
    nonisolated(nonsending) func answer(
        through client: NetworkClient,
        sentBy send: OwnedSending
    ) async throws(APIError) -> Answer {
        try module.check()
        let answer: ServiceResponse
        do throws(RequestFailure) {
            answer = try await send(configuration)
        } catch {
            throw failed(error, in: client)
        }
        let removals = forgetChanged(by: answer.status, answer.context, in: client)
        return Answer(service: answer, data: try await collectedBody(of: answer), removals: removals)
    }

    /// Sends the request and decodes the response, all of which is the value in JSON, not on the caller's executor.
    ///
    /// It does what a serializer would do without creating one, because most calls are of this kind.
    @concurrent func plainValue<Value: Decodable & Sendable>(
        _ type: Value.Type,
        through client: NetworkClient
    ) async throws(APIError) -> Value {
        let value = try value(of: try await answer(through: client, id: RequestID())) { (raw, rules) throws(APIError) in
            try rules.value(
                of: raw,
                accepting: MediaType.jsonTypes,
                whenEmpty: { type.valueOfEmptyBody },
                decode: { try module.decoding.value(type, of: $0) }
            )
        }
        forgetOutdated(in: client)
        return value
    }

    /// Sends the request and makes the value of the response if nothing else is needed, not on the caller's executor.
    @concurrent func value<Value: Sendable>(
        _ serializer: ResponseSerializer<Value>,
        through client: NetworkClient
    ) async throws(APIError) -> Value {
        let answer = try await answer(through: client, id: RequestID())
        let value = try value(of: answer) { (raw, rules) throws(APIError) in
            try serializer.value(of: raw, rules: rules)
        }
        forgetOutdated(in: client)
        return value
    }

    /// Returns the value that a closure makes of a response, and adds the module's messages to its errors.
    func value<Value>(
        of answer: Answer,
        _ make: (RawResponse, ResponseRules) throws(APIError) -> Value
    ) throws(APIError) -> Value {
        let raw = RawResponse(
            status: answer.service.status,
            headers: answer.service.headers,
            data: answer.data,
            method: configuration.method,
            accept: configuration.headers["Accept"]
        )
        let rules = configuration.rules ?? module.rules
        let bodyFailure = answer.service.response.bodyFailure
        do throws(APIError) {
            // An accepted response must be complete; for any other response the head is enough.
            if let bodyFailure, rules.status.accepts(raw.status) { throw APIError(bodyFailure) }
            return try make(raw, rules)
        } catch {
            var error = error
            if let bodyFailure { error.context.underlying = error.context.underlying ?? bodyFailure }
            throw module.completed(error, by: answer.service, answer.data, reading: rules.readable(raw))
        }
    }

    /// Returns the error of a request without a response, with the module's messages.
    @inline(never)
    private func failed(_ failure: RequestFailure, in client: NetworkClient) -> APIError {
        forgetChanged(by: nil, failure.context, in: client)
        return module.completed(APIError(failure))
    }

    /// Fails where the user of the call has gone, before its response or a stored one is handed over.
    func checkOwner(in client: NetworkClient) throws(APIError) {
        guard configuration.callOwner != nil, let failure = client.failure(ofOwnerGone: configuration) else { return }
        throw module.completed(APIError(failure))
    }

    /// Throws if the call may not start, because its user has left or it was made in another environment.
    func checkOwner(in client: NetworkClient, beforeBeginningIn environment: ServiceEnvironment) throws(APIError) {
        guard configuration.callOwner != nil,
            let failure = client.failure(ofOwnerGone: configuration, beforeBeginningIn: environment)
        else { return }
        throw module.completed(APIError(failure))
    }

    @inline(never)
    private func refused(_ reason: APIError.Reason) -> APIError {
        module.completed(APIError(reason))
    }

    /// Removes the stored responses that this call has made outdated.
    ///
    /// - Returns: The number of removals.
    @discardableResult
    func forgetOutdated(in client: NetworkClient) -> Int {
        let tags = configuration.cacheBox.value.removesTags
        guard !tags.isEmpty else { return 0 }
        client.responseCache.removeAll(tagged: tags)
        return 1
    }

    /// Removes the stored responses that HTTP's rules no longer allow after this call has changed their path.
    ///
    /// Each response concerns the URL that was requested: a redirect concerns the first URL, whatever followed.
    ///
    /// - Returns: The number of removals.
    @inline(never)
    @discardableResult
    private func forgetChanged(
        by status: Int?,
        _ context: @autoclosure () -> RequestContext,
        in client: NetworkClient
    ) -> Int {
        guard !configuration.method.isSafe, let cache = client.existingResponseCache else { return 0 }
        let context = context()
        let first = (method: configuration.method, path: cache.defaults.path(of: configuration))
        let asked = [first] + context.redirects.map { ($0.method, $0.to.text) }
        let answers = context.redirects.map(\.status) + (status.map { [$0] } ?? [])
        var removals = 0
        for ((method, path), status) in zip(asked, answers)
        where HTTPCacheRules.invalidates(method: method, status: status) {
            let place = ChangedPaths.Place(
                service: context.service,
                environment: context.environment.rawValue,
                path: client.storagePath(ofAbsolute: path) ?? path
            )
            if cache.removeChanged(at: place, of: client) { removals += 1 }
        }
        return removals
    }

    /// Returns the configuration to send; fields of the caller's own stay.
    private func asking(_ conditions: HTTPHeaders, about stored: CachedResponse?) -> APIConfiguration {
        guard !conditions.isEmpty else { return configuration }
        var copy = configuration
        copy.confirmation = StoredConfirmation(redirectedTo: stored?.redirectedTo)
        for field in conditions where copy.headers[field.name] == nil { copy.headers.add(field) }
        return copy
    }

    /// Returns the body of a response that arrived in pieces.
    @inline(never)
    private nonisolated(nonsending) func collectedBody(of answer: ServiceResponse) async throws(APIError) -> Data {
        if case .whole(let data) = answer.response.body { return data }
        guard case .stream(let stream) = answer.response.body else { return Data() }
        var data = Data()
        do throws(TransportError) {
            var pieces = stream.makeAsyncIterator()
            while let piece = try await pieces.next() { data.append(piece) }
        } catch {
            throw module.completed(APIError(error), by: answer, data)
        }
        return data
    }
}

extension APIModule {
    /// Returns the error with all facts about the response and, if it can be read, the content of its body.
    func completed(
        _ error: APIError,
        by answer: ServiceResponse,
        _ data: Data,
        reading text: @autoclosure () -> Data? = nil
    ) -> APIError {
        var error = error
        let underlying = error.context.underlying
        error.context = APIError.Context(answer.context)
        error.context.requestID = answer.id
        error.context.underlying = underlying
        error.context.keep(status: answer.status, headers: answer.headers, body: data)
        return completed(error, reading: text())
    }
}
