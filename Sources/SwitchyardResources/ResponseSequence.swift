public import SwitchyardAPI
public import SwitchyardClient
import SwitchyardServices

/// The responses of one call: the stored response immediately, then the server's response.
///
/// Each response has its source (``/SwitchyardAPI/APIResponse/source``). The sequence ends after the server's response.
/// If the server fails, the sequence throws the error after the stored response. If the call forbids sending a request
/// (``/SwitchyardAPI/CachePolicy/Reading/only``), the sequence ends after the stored response.
public struct ResponseSequence<Value: Sendable>: AsyncSequence, Sendable {
    /// A value with its response.
    public typealias Element = APIResponse<Value>
    /// The error of the request.
    public typealias Failure = APIError

    let maker: ResourceMaker<Value>
    let skipsNetworkWhenFresh: Bool

    /// Returns an iterator that starts with the stored response.
    public func makeAsyncIterator() -> Iterator {
        Iterator(sequence: self)
    }

    /// An iterator over the responses.
    public struct Iterator: AsyncIteratorProtocol {
        private enum Phase { case stored, fetched, ended }

        let sequence: ResponseSequence
        private var phase = Phase.stored

        init(sequence: ResponseSequence) {
            self.sequence = sequence
        }

        /// Returns the next response, or `nil` after the last response.
        ///
        /// - Throws: ``/SwitchyardAPI/APIError`` if the request fails.
        public nonisolated(nonsending) mutating func next() async throws(APIError) -> APIResponse<Value>? {
            if phase == .stored {
                phase = .fetched
                if let stored = await sequence.maker.stored() {
                    if stored.isFresh && sequence.skipsNetworkWhenFresh || sequence.maker.usesCacheOnly {
                        phase = .ended
                    }
                    return APIResponse(stored)
                }
            }
            guard phase == .fetched else { return nil }
            phase = .ended
            return try await sequence.maker.fetched().get()
        }

        /// Returns the next response, or `nil` after the last response.
        ///
        /// The isolation of the caller has no effect.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> APIResponse<Value>?
        {
            try await next()
        }
    }
}

extension APIManager {
    /// Returns the stored response of a call immediately and then the server's response, without the module's envelope
    /// (outer JSON object).
    ///
    /// - Parameters:
    ///   - type: The type of the value. If it is optional, the value may be missing.
    ///   - configuration: The call. Its cache policy sets how long a response is kept after its lifetime.
    ///   - keyPath: The key path of the value. If the module has an `APIModule.envelope`, the path starts in its data.
    ///   - skipsNetworkWhenFresh: Whether no request is sent if the stored response is fresh, `false` by default.
    /// - Returns: The responses.
    public func responses<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        for configuration: APIConfiguration,
        at keyPath: String? = nil,
        skipsNetworkWhenFresh: Bool = false
    ) -> ResponseSequence<Value> {
        let serializer = module.serializer(for: type, at: keyPath)
        return responses(for: configuration, with: serializer, skipsNetworkWhenFresh: skipsNetworkWhenFresh)
    }

    /// Returns the stored response of a call immediately and then the server's response, decoded with a custom
    /// serializer.
    ///
    /// - Parameters:
    ///   - configuration: The call. Its cache policy sets how long a response is kept after its lifetime.
    ///   - serializer: The serializer of the whole body. ``APIModule/serializer(for:at:)`` returns a serializer that
    ///     removes the module's envelope.
    ///   - skipsNetworkWhenFresh: Whether no request is sent if the stored response is fresh, `false` by default.
    /// - Returns: The responses.
    public func responses<Value: Sendable>(
        for configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>,
        skipsNetworkWhenFresh: Bool = false
    ) -> ResponseSequence<Value> {
        ResponseSequence(
            maker: maker(for: configuration, with: serializer),
            skipsNetworkWhenFresh: skipsNetworkWhenFresh
        )
    }
}
