import Foundation
public import SwitchyardClient
import SwitchyardServices

/// One call: what to send, and how its answer becomes a value.
///
/// It holds neither the manager nor its client, so that both can go while it is under way.
struct APICall<Value: Sendable>: Sendable {
    let configuration: APIConfiguration
    let serializer: ResponseSerializer<Value>
    let module: APIModule

    init(_ configuration: APIConfiguration, _ serializer: ResponseSerializer<Value>, _ module: APIModule) {
        self.configuration = configuration
        self.serializer = serializer
        self.module = module
    }

    /// What a fetch brings.
    struct Fetched: Sendable {
        var response: APIResponse<Value>
        /// The size of the body in bytes.
        var cost: Int
    }

    /// Asks the server, checks the answer and decodes it; not on the caller's executor.
    ///
    /// - Parameters:
    ///   - client: The client to send through.
    ///   - id: The name of the request.
    ///   - stored: What the server may confirm instead of answering anew.
    ///   - conditions: The fields by which it may.
    /// - Returns: The value with its answer.
    /// - Throws: ``APIError``.
    @concurrent func fetch(
        through client: NetworkClient,
        id: RequestID = RequestID(),
        confirming stored: CachedValue<Value>? = nil,
        with conditions: HTTPHeaders = [:]
    ) async throws(APIError) -> Fetched {
        let answer: ServiceResponse
        do throws(RequestFailure) {
            answer = try await client.send(asking(conditions), id: id, progress: configuration.progress)
        } catch {
            throw module.completed(APIError(error))
        }
        if answer.status == 304, let stored, !conditions.isEmpty { return confirmed(stored, by: answer) }
        let fetched = try decoded(answer, try await body(of: answer))
        forgetOutdated(in: client)
        return fetched
    }

    /// Removes the stored answers that this call has made wrong.
    private func forgetOutdated(in client: NetworkClient) {
        let tags = configuration.cache.removesTags
        guard !tags.isEmpty else { return }
        client.responseCache.removeAll { !$0.tags.isDisjoint(with: tags) }
    }

    /// What is sent; fields of the caller's own stay.
    private func asking(_ conditions: HTTPHeaders) -> APIConfiguration {
        guard !conditions.isEmpty else { return configuration }
        var copy = configuration
        for field in conditions where copy.headers[field.name] == nil { copy.headers.add(field.name, field.value) }
        return copy
    }

    private func confirmed(_ stored: CachedValue<Value>, by answer: ServiceResponse) -> Fetched {
        let response = APIResponse(
            value: stored.value,
            status: stored.answer?.status ?? 200,
            headers: HTTPCacheRules.confirmed(stored.answer?.headers ?? [:], by: answer.headers),
            source: .revalidated,
            context: answer.context
        )
        return Fetched(response: response, cost: stored.cost)
    }

    private func decoded(_ answer: ServiceResponse, _ data: Data) throws(APIError) -> Fetched {
        let raw = RawResponse(
            status: answer.status,
            headers: answer.headers,
            data: data,
            method: configuration.method,
            accept: configuration.headers["Accept"]
        )
        do throws(APIError) {
            let value = try serializer.value(of: raw, rules: configuration.rules ?? module.rules)
            let response = APIResponse(
                value: value,
                status: answer.status,
                headers: answer.headers,
                context: answer.context
            )
            return Fetched(response: response, cost: data.count)
        } catch {
            throw completed(error, by: answer, data)
        }
    }

    private func body(of answer: ServiceResponse) async throws(APIError) -> Data {
        switch answer.response.body {
        case .whole(let data): return data
        case .stream(let stream):
            var data = Data()
            do throws(TransportError) {
                var pieces = stream.makeAsyncIterator()
                while let piece = try await pieces.next() { data.append(piece) }
            } catch {
                throw completed(APIError(error), by: answer, data)
            }
            return data
        }
    }

    /// The error with everything that is known about the answer.
    private func completed(_ error: APIError, by answer: ServiceResponse, _ data: Data) -> APIError {
        var error = error
        let underlying = error.context.underlying
        error.context = APIError.Context(answer.context)
        error.context.requestID = answer.id
        error.context.underlying = underlying
        error.context.keep(status: answer.status, headers: answer.headers, body: data)
        return module.completed(error)
    }
}

extension APIConfiguration {
    private enum RulesKey: ConfigurationKey {
        static let defaultValue: ResponseRules? = nil
    }

    private enum ProgressKey: ConfigurationKey {
        static let defaultValue: TransferProgressHandler? = nil
    }

    /// Told about the bytes of each attempt, from a thread of the transport; nobody unless set.
    ///
    /// Of a fetch that several calls wait for, the one that began it is told.
    public var progress: TransferProgressHandler? {
        get { self[ProgressKey.self] }
        set { self[ProgressKey.self] = newValue }
    }

    /// What the answer of this call has to be; the module's rules when `nil`, the default.
    public var rules: ResponseRules? {
        get { self[RulesKey.self] }
        set { self[RulesKey.self] = newValue }
    }
}
