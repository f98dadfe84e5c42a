import Foundation
package import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// A closure that sends a call from the caller's executor, so that the user of the call is known before another user
/// can log in.
package typealias OwnedSending =
    nonisolated(nonsending) @Sendable (APIConfiguration) async throws(RequestFailure) -> ServiceResponse

/// A response with its whole body, before validation.
///
/// The type is not part of the generic call, because looking up a generic type costs more than 20 ns.
struct ReceivedResponse: Sendable {
    let service: ServiceResponse
    /// The number of times that the call has removed entries of the cache.
    let removals: Int
}

extension APICall {
    /// Sends a configuration and returns the response with its whole body, whatever its status.
    ///
    /// Cache entries that the call has made outdated are removed.
    ///
    /// - Parameters:
    ///   - client: The client that sends the request.
    ///   - sent: The configuration to send.
    ///   - send: A closure that sends it on the caller's executor.
    /// - Returns: The response.
    /// - Throws: ``APIError`` if there is no response, or its body is truncated.
    nonisolated(nonsending) func received(
        through client: NetworkClient,
        sending sent: APIConfiguration,
        by send: OwnedSending
    ) async throws(APIError) -> ReceivedResponse {
        if module.errors != nil { try module.check() }
        let response: ServiceResponse
        do throws(RequestFailure) {
            response = try await send(sent)
        } catch {
            throw failed(error, in: client)
        }
        return try await whole(response, in: client)
    }

    /// Returns a response with its whole body, and removes the cache entries that the call has made outdated.
    nonisolated(nonsending) func whole(
        _ response: ServiceResponse,
        in client: NetworkClient
    ) async throws(APIError) -> ReceivedResponse {
        let isSafe = configuration.method.isSafe
        let removals = isSafe ? 0 : removeChanged(by: response.status, response.context, in: client)
        guard case .stream(let stream) = response.response.body else {
            return ReceivedResponse(service: response, removals: removals)
        }
        return ReceivedResponse(service: try await collected(stream, of: response), removals: removals)
    }

    /// Returns the error of a request without a response, with the module's messages.
    @inline(never)
    func failed(_ failure: RequestFailure, in client: NetworkClient) -> APIError {
        if !configuration.method.isSafe { removeChanged(by: nil, failure.context, in: client) }
        return module.completed(APIError(failure))
    }

    /// Returns the configuration of a request with the conditional header fields of the cache.
    ///
    /// Fields that the caller has set stay.
    func asking(_ conditions: HTTPHeaders, about stored: CachedValue<Value>) -> APIConfiguration {
        var copy = configuration
        copy.confirmation = StoredConfirmation(redirectedTo: stored.redirectedTo)
        for field in conditions where copy.headers[field.name] == nil { copy.headers.add(field) }
        return copy
    }

    /// Returns the configuration of a request without the conditional header fields of the cache, after a conditional
    /// request had no usable result.
    ///
    /// The request may take only the time that the first request has left, because the call has one deadline.
    func asking(within rest: Duration?) -> APIConfiguration {
        var copy = configuration
        copy.timeout = rest ?? copy.timeout
        return copy
    }

    /// Returns the response with the body that the stream delivers.
    ///
    /// `@inline(never)` keeps the iterator out of the frame of the usual call, whose body is whole.
    @inline(never)
    private nonisolated(nonsending) func collected(
        _ stream: HTTPBodyStream,
        of response: ServiceResponse
    ) async throws(APIError) -> ServiceResponse {
        var data = Data()
        var failure: TransportError?
        do throws(TransportError) {
            var pieces = stream.makeAsyncIterator()
            while let piece = try await pieces.next() { data.append(piece) }
        } catch {
            failure = error
        }
        var whole = response
        whole.response.body = .whole(data)
        if let failure { throw module.completed(APIError(failure), by: whole) }
        return whole
    }
}

// MARK: - Cache entries that a call makes outdated

extension APICall {
    /// Removes the stored responses with the tags that the call names.
    ///
    /// - Returns: The number of removals.
    @discardableResult
    func removeTagged(in client: NetworkClient) -> Int {
        let tags = configuration.cacheBox.value.removesTags
        guard !tags.isEmpty else { return 0 }
        client.responseCache.removeAll(tagged: tags)
        return 1
    }

    /// Removes the stored responses of the path that this call has changed with an unsafe method, if HTTP's rules
    /// decide on their freshness.
    ///
    /// Each response concerns the URL of its own request. For example, a redirect response to the first request
    /// concerns the first URL, whatever response followed.
    ///
    /// - Returns: The number of removals.
    @inline(never)
    @discardableResult
    private func removeChanged(
        by status: Int?,
        _ context: RequestContext,
        in client: NetworkClient
    ) -> Int {
        guard let cache = client.existingResponseCache else { return 0 }
        let first = (method: configuration.method, path: cache.defaults.path(of: configuration))
        let requested = [first] + context.redirects.map { ($0.method, $0.to.text) }
        let statuses = context.redirects.map(\.status) + (status.map { [$0] } ?? [])
        var removals = 0
        for ((method, path), status) in zip(requested, statuses)
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
}
