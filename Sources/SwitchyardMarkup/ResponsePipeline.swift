public import SwitchyardAPI
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The way of an answer from bytes to a value in named stages, for apps that treat content by its type.
///
///     var pipeline = ResponsePipeline()
///     pipeline.add(.init { (data: Data) in try JSONValue(parsing: data) }, at: .parsing, for: ["application/json"])
///     pipeline.add(.init { (tree: JSONValue) in try User(tree) }, at: .model, for: ["application/json"])
///     let serializer: ResponseSerializer<User> = pipeline.serializer()
///
/// The steps of a stage run in the order in which they were added, each on what the one before it made. A call that
/// wants a type and nothing else is served better by a ``/SwitchyardAPI/ResponseSerializer`` alone.
public struct ResponsePipeline: Sendable {
    /// A stage, by its name; an app may add its own.
    public struct Stage: RawRepresentable, Sendable, Hashable {
        /// The name.
        public let rawValue: String

        /// Creates a stage from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The bytes as they came: decrypting, taking a prefix off.
        public static let raw = Stage(rawValue: "raw")
        /// From bytes to text.
        public static let decoding = Stage(rawValue: "decoding")
        /// From text or bytes to a tree.
        public static let parsing = Stage(rawValue: "parsing")
        /// From a tree to the app's types.
        public static let model = Stage(rawValue: "model")
        /// The last touch.
        public static let cleanup = Stage(rawValue: "cleanup")
    }

    private struct Step: Sendable {
        let stage: Stage
        let types: [MediaType]
        let transformer: ResponseTransformer
    }

    /// The stages in the order in which they run; steps of others are not taken.
    public var order: [Stage] = [.raw, .decoding, .parsing, .model, .cleanup]
    private var steps: [Step] = []

    /// Creates a pipeline without steps.
    public init() {}

    /// Adds a step.
    ///
    /// - Parameters:
    ///   - transformer: What it does.
    ///   - stage: Where.
    ///   - types: The content types that it is for, with `*` for any part; every type unless given. What cannot be read
    ///     as a type matches nothing.
    public mutating func add(_ transformer: ResponseTransformer, at stage: Stage, for types: [String] = ["*/*"]) {
        steps.append(Step(stage: stage, types: types.compactMap { MediaType($0) }, transformer: transformer))
    }

    /// Takes all steps of a stage out.
    public mutating func removeSteps(at stage: Stage) {
        steps.removeAll { $0.stage == stage }
    }

    /// The pipeline as a serialiser.
    ///
    /// - Parameter type: What has to come out; anything else is `DecodingFailure.Kind.wrongType()`.
    /// - Returns: The serialiser; it accepts every content type.
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
    /// What becomes of content of another type than the step takes.
    public enum Mismatch: Sendable, Hashable {
        /// It is an error.
        case error
        /// The step is left out.
        case skip
        /// The step is left out if the content has the type that it makes; else it is an error.
        case skipIfOutput
    }

    let apply: @Sendable (Result<any Sendable, APIError>) -> Result<any Sendable, APIError>

    /// Creates a step that changes content; errors pass through.
    ///
    /// - Parameters:
    ///   - mismatch: What becomes of content of another type.
    ///   - transform: Makes the new content of the old.
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

    /// Creates a step that changes errors, as into the app's own words; content passes through.
    public init(errors transform: @escaping @Sendable (APIError) -> APIError) {
        apply = { $0.mapError(transform) }
    }
}
