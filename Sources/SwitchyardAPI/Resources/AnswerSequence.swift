public import SwitchyardClient
import SwitchyardServices

/// The answers of one call: what is stored, at once, then what the server says.
///
/// Each says where it comes from (``APIResponse/source``). It ends after the server's answer; when the server fails it
/// throws, after what is stored was given. Where the call may ask the cache alone (``CachePolicy/Reading/only``), what is
/// stored is the last answer.
public struct AnswerSequence<Value: Sendable>: AsyncSequence, Sendable {
    /// A value with its answer.
    public typealias Element = APIResponse<Value>
    /// Why the server's answer did not come.
    public typealias Failure = APIError

    let maker: ResourceMaker<Value>
    let isContentWithFresh: Bool

    /// Starts with what is stored.
    public func makeAsyncIterator() -> Iterator {
        Iterator(sequence: self)
    }

    /// Reads the answers.
    public struct Iterator: AsyncIteratorProtocol {
        private enum Phase { case stored, fetched, ended }

        let sequence: AnswerSequence
        private var phase = Phase.stored

        init(sequence: AnswerSequence) {
            self.sequence = sequence
        }

        /// Returns the next answer, or `nil` after the server's.
        ///
        /// - Throws: ``APIError`` when the server's answer does not come.
        public nonisolated(nonsending) mutating func next() async throws(APIError) -> APIResponse<Value>? {
            if phase == .stored {
                phase = .fetched
                if let stored = await sequence.maker.stored() {
                    if stored.isFresh && sequence.isContentWithFresh || sequence.maker.asksCacheAlone { phase = .ended }
                    return APIResponse(stored)
                }
            }
            guard phase == .fetched else { return nil }
            phase = .ended
            return try await sequence.maker.fetched().get()
        }

        /// Returns the next answer; the isolation of the caller plays no part.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> APIResponse<Value>?
        {
            try await next()
        }
    }
}

extension APIManager {
    /// Gives what is stored for a call at once, and then what the server says, with the module's frame taken off.
    ///
    /// - Parameters:
    ///   - type: The type of the value; an optional one may be missing.
    ///   - configuration: What to ask; its policy says how long beyond its lifetime an answer is kept.
    ///   - keyPath: Where the value stands in the answer, within the module's frame if it has one.
    ///   - isContentWithFresh: Whether the server is left alone when what is stored is fresh; default is `false`.
    /// - Returns: The answers.
    public func answers<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        for configuration: APIConfiguration,
        at keyPath: String? = nil,
        isContentWithFresh: Bool = false
    ) -> AnswerSequence<Value> {
        let serializer = module.serializer(for: type, at: keyPath)
        return answers(for: configuration, with: serializer, isContentWithFresh: isContentWithFresh)
    }

    /// Gives what is stored for a call at once, and then what the server says, with a serialiser of its own.
    ///
    /// - Parameters:
    ///   - configuration: What to ask; its policy says how long beyond its lifetime an answer is kept.
    ///   - serializer: Makes the value of the whole body; ``APIModule/serializer(for:at:)`` takes the module's frame off.
    ///   - isContentWithFresh: Whether the server is left alone when what is stored is fresh; default is `false`.
    /// - Returns: The answers.
    public func answers<Value: Sendable>(
        for configuration: APIConfiguration,
        with serializer: ResponseSerializer<Value>,
        isContentWithFresh: Bool = false
    ) -> AnswerSequence<Value> {
        AnswerSequence(maker: maker(for: configuration, with: serializer), isContentWithFresh: isContentWithFresh)
    }
}
