public import SwitchyardAPI
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// A pipeline that converts a response from bytes to a value in named stages, for apps that process content according
/// to its type.
///
///     var pipeline = ResponsePipeline()
///     pipeline.add(.init { (data: Data) in try JSONValue(parsing: data) }, at: .parsing, for: ["application/json"])
///     pipeline.add(.init { (tree: JSONValue) in try User(tree) }, at: .model, for: ["application/json"])
///     let serializer: ResponseSerializer<User> = pipeline.serializer()
///
/// The steps of a stage run in the order in which they were added. Each step receives the result of the step before it.
/// If a call only needs to decode one type, use a ``/SwitchyardAPI/ResponseSerializer`` without a pipeline.
public struct ResponsePipeline: Sendable {
    /// The name of a stage.
    ///
    /// An app may add its own stages.
    public struct Stage: RawRepresentable, Sendable, Hashable {
        /// The name of the stage.
        public let rawValue: String

        /// Creates a stage from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The stage for the bytes as received, for example for decryption or removal of a prefix.
        public static let raw = Stage(rawValue: "raw")
        /// The stage that converts bytes to text.
        public static let decoding = Stage(rawValue: "decoding")
        /// The stage that parses text or bytes into a tree, such as a `JSONValue`.
        public static let parsing = Stage(rawValue: "parsing")
        /// The stage that converts a tree to the app's types.
        public static let model = Stage(rawValue: "model")
        /// The stage for final changes.
        public static let cleanup = Stage(rawValue: "cleanup")
    }

    private struct Step: Sendable {
        let stage: Stage
        let types: [MediaType]
        let transformer: ResponseTransformer
    }

    /// The stages in the order in which they run.
    ///
    /// Steps of stages that are not in the list do not run.
    public var order: [Stage] = [.raw, .decoding, .parsing, .model, .cleanup]
    private var steps: [Step] = []

    /// Creates a pipeline without steps.
    public init() {}

    /// Adds a step.
    ///
    /// - Parameters:
    ///   - transformer: The transformer that performs the step.
    ///   - stage: The stage of the step.
    ///   - types: The content types to which the step applies, by default every type. `*` is a wildcard for a part of a
    ///     type. An invalid type matches nothing.
    public mutating func add(_ transformer: ResponseTransformer, at stage: Stage, for types: [String] = ["*/*"]) {
        steps.append(Step(stage: stage, types: types.compactMap { MediaType($0) }, transformer: transformer))
    }

    /// Removes all steps of a stage.
    public mutating func removeSteps(at stage: Stage) {
        steps.removeAll { $0.stage == stage }
    }

    /// Returns a serializer that runs the pipeline.
    ///
    /// - Parameter type: The type of the result. If the pipeline has a result of any other type, the serializer fails
    ///   with `DecodingFailure.Kind.wrongType()`.
    /// - Returns: The serializer, which accepts every content type.
    public func serializer<Value: Sendable>(for type: Value.Type = Value.self) -> ResponseSerializer<Value> {
        ResponseSerializer { [self] response in
            guard let value = try run(response) as? Value else {
                throw DecodingFailure(.wrongType(expected: "\(type)"))
            }
            return value
        }
    }

    private func run(_ response: RawResponse) throws -> any Sendable {
        let type = response.mediaType ?? MediaType(type: "application", subtype: "octet-stream")
        var result: Result<any Sendable, APIError> = .success(response.data)
        for stage in order {
            for step in steps where step.stage == stage && step.types.contains(where: { $0.includes(type) }) {
                result = step.transformer.apply(result)
            }
        }
        return try result.get()
    }
}

/// One step of a ``ResponsePipeline``.
public struct ResponseTransformer: Sendable {
    /// The treatment of content whose type is not the step's input type.
    public enum Mismatch: Sendable, Hashable {
        /// The response fails with an error.
        case error
        /// The step is skipped.
        case skip
        /// The step is skipped if the content already has the step's output type.
        ///
        /// Otherwise, the response fails with an error.
        case skipIfOutput
    }

    let apply: @Sendable (Result<any Sendable, APIError>) -> Result<any Sendable, APIError>

    /// Creates a step that converts content.
    ///
    /// Errors pass through the step unchanged.
    ///
    /// - Parameters:
    ///   - mismatch: The treatment of content whose type is not the input type.
    ///   - transform: A closure that converts the content.
    public init<Input: Sendable, Output: Sendable>(
        onMismatch mismatch: Mismatch = .error,
        _ transform: @escaping @Sendable (Input) throws -> Output
    ) {
        apply = { result in
            guard case .success(let content) = result else { return result }
            guard let input = content as? Input else {
                let isSkipped = mismatch == .skip || (mismatch == .skipIfOutput && content is Output)
                let failure = DecodingFailure(.wrongType(expected: "\(Input.self)"))
                return isSkipped ? result : .failure(APIError(.body(.decoding(failure))))
            }
            do {
                return .success(try transform(input))
            } catch {
                return .failure(APIError(decoding: error))
            }
        }
    }

    /// Creates a step that converts errors, for example to the app's own messages.
    ///
    /// Content passes through the step unchanged.
    public init(errors transform: @escaping @Sendable (APIError) -> APIError) {
        apply = { $0.mapError(transform) }
    }
}
