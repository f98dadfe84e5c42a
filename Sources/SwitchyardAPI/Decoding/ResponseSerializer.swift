import SwitchyardClient
public import SwitchyardHTTP

/// Turns the body of an answer into a value.
///
/// ### Choose one
/// ``decodable(_:at:using:)``, ``json``, ``data``, ``string(_:)``, ``empty``, ``propertyList(_:)``, ``first(of:)``.
///
/// ### Make your own
///
///     let image = ResponseSerializer(accepting: [MediaType("image/*")].compactMap(\.self)) { response in
///         try Image(response.data)
///     }
///
/// ### Stored answers
/// What is stored is told apart by request, type, key path, the module's frame and the options of the serialisers above.
/// Two serialisers of your own that make different values of one type of the same answer need a ``CachePolicy/version``
/// each, and so do two closures for ``map(_:)``, and two ways of decoding.
public struct ResponseSerializer<Value: Sendable>: Sendable {
    /// The content types that ``ContentTypePolicy/strict`` accepts; `nil` is any.
    ///
    /// A request asks for them (`Accept`), unless the call or the client's common header fields say what is accepted.
    public var contentTypes: [MediaType]?
    /// What is asked for in place of the content types, as the value of `Accept`; they say it all when `nil`.
    package var preferredTypes: String?
    /// What a request asks for, as the value of `Accept`; anything when `nil`.
    var accept: String? { preferredTypes ?? contentTypes.flatMap { MediaType.accept($0) } }
    /// Which part of the body is the value, and how it is made where that is not by its type alone; empty for all of it.
    ///
    /// Values of one type from different parts are told apart by it where they are stored.
    package var part = ""
    /// The value of an empty body; `nil` when an empty body is an error.
    public var emptyValue: Value? {
        get { makeEmpty?() }
        set { makeEmpty = Self.maker(of: newValue) }
    }
    // A closure, so that the layout does not depend on the value: copies are plain then, without a look at its type.
    private var makeEmpty: (@Sendable () -> Value?)?
    private let decode: @Sendable (RawResponse) throws -> Value

    /// Creates a serialiser.
    ///
    /// - Parameters:
    ///   - contentTypes: The content types that it reads; `nil` is any.
    ///   - emptyValue: The value of an empty body; `nil` when an empty body is an error.
    ///   - decode: Makes the value; any error it throws becomes an ``APIError``.
    public init(
        accepting contentTypes: [MediaType]? = nil,
        emptyValue: Value? = nil,
        decode: @escaping @Sendable (RawResponse) throws -> Value
    ) {
        self.contentTypes = contentTypes
        makeEmpty = Self.maker(of: emptyValue)
        self.decode = decode
    }

    /// Creates a serialiser that looks for the value of an empty body when there is one.
    init(
        accepting contentTypes: [MediaType]?,
        findingEmpty makeEmpty: @escaping @Sendable () -> Value?,
        decode: @escaping @Sendable (RawResponse) throws -> Value
    ) {
        self.contentTypes = contentTypes
        self.makeEmpty = makeEmpty
        self.decode = decode
    }

    private static func maker(of value: Value?) -> (@Sendable () -> Value?)? {
        guard let value else { return nil }
        return { value }
    }

    /// Checks an answer against rules and makes its value.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - rules: What the answer has to be.
    /// - Returns: The value.
    /// - Throws: ``APIError`` for the first rule that is broken: status, content type, empty body, shape, then decoding.
    public func value(of response: RawResponse, rules: ResponseRules = .strict) throws(APIError) -> Value {
        try rules.value(of: response, accepting: contentTypes, whenEmpty: { emptyValue }, decode: decode)
    }

    /// A serialiser whose value is made of this one's.
    public func map<Other: Sendable>(
        _ transform: @escaping @Sendable (Value) throws -> Other
    ) -> ResponseSerializer<Other> {
        let empty = emptyValue.flatMap { try? transform($0) }
        var mapped = ResponseSerializer<Other>(accepting: contentTypes, emptyValue: empty) { [decode] response in
            try transform(try decode(response))
        }
        mapped.preferredTypes = preferredTypes
        mapped.part = part + "\0map"
        return mapped
    }

    /// The first of several serialisers that makes a value; when none does, the error of the last.
    public static func first(of serializers: [ResponseSerializer]) -> ResponseSerializer {
        let types = serializers.map(\.contentTypes)
        let all = types.contains { $0 == nil } ? nil : types.flatMap { $0 ?? [] }
        let empty = serializers.lazy.compactMap(\.emptyValue).first
        var compound = ResponseSerializer(accepting: all, emptyValue: empty) { response in
            var last = APIError(.configuration(.other("a compound serialiser without members")))
            for serializer in serializers {
                do throws(APIError) {
                    try ResponseRules.strict.checkContentType(response, acceptable: serializer.contentTypes)
                    return try serializer.value(of: response, rules: .off)
                } catch {
                    last = error
                }
            }
            throw last
        }
        compound.preferredTypes = MediaType.accept(ofAny: serializers.map(\.accept))
        compound.part = "\0first" + serializers.map { "\0" + $0.part }.joined()
        return compound
    }
}

extension ResponseRules {
    /// Checks an answer and makes its value, as ``ResponseSerializer/value(of:rules:)`` does.
    func value<Value>(
        of response: RawResponse,
        accepting contentTypes: [MediaType]?,
        whenEmpty emptyValue: () -> Value?,
        decode: (RawResponse) throws -> Value
    ) throws(APIError) -> Value {
        try checkStatus(response)
        try checkContentType(response, acceptable: contentTypes)
        guard let preprocess else { return try content(of: response, whenEmpty: emptyValue, decode: decode) }
        var prepared = response
        do {
            prepared.data = try preprocess(response.data)
        } catch {
            throw APIError(decoding: error)
        }
        return try content(of: prepared, whenEmpty: emptyValue, decode: decode)
    }

    private func content<Value>(
        of response: RawResponse,
        whenEmpty emptyValue: () -> Value?,
        decode: (RawResponse) throws -> Value
    ) throws(APIError) -> Value {
        if response.data.isEmpty || response.hasNoBodyByRule { return try emptyContent(of: response, emptyValue) }
        try checkContent(response)
        do {
            return try decode(response)
        } catch {
            throw APIError(decoding: error)
        }
    }

    /// The value of an empty body; apart, as it is rare and has to look up the type of the optional value.
    @inline(never)
    private func emptyContent<Value>(
        of response: RawResponse,
        _ emptyValue: () -> Value?
    ) throws(APIError) -> Value {
        guard allowsEmptyBody(of: response), shape == nil, let value = emptyValue() else {
            throw APIError(.body(.empty))
        }
        try inspected(response)
        return value
    }

    private func allowsEmptyBody(of response: RawResponse) -> Bool {
        switch emptyBody {
        case .byValue: true
        case .never: false
        case .onlyWith(let statuses): response.method == .head || statuses.contains(response.status)
        }
    }

    private static let deepest = JSONDecoding(maximumDepth: JSONDepth.ceiling)

    /// Checks the body itself.
    func checkContent(_ response: RawResponse) throws(APIError) {
        if let shape {
            // What decodes the body has a limit of its own; here the one counts that no decoder goes beyond.
            let readings = try Self.deepest.readings(of: try TextEncoding.utf8(response))
            do throws(ShapeViolation) {
                for tree in readings { try shape.check(tree) }
            } catch {
                throw APIError(.body(.shape(error)))
            }
        }
        try inspected(response)
    }

    private func inspected(_ response: RawResponse) throws(APIError) {
        guard let inspect else { return }
        do {
            try inspect(response)
        } catch {
            throw APIError(error)
        }
    }
}

extension APIError {
    /// Makes an error of what a decoding closure threw.
    package init(decoding error: any Error) {
        switch error {
        case let known as APIError: self = known
        case let failure as DecodingFailure: self.init(.body(.decoding(failure)))
        case let decoding as DecodingError:
            self.init(.body(.decoding(DecodingFailure(decoding))), context: Context(underlying: decoding))
        default: self.init(.body(.decoding(DecodingFailure(.corrupted))), context: Context(underlying: error))
        }
    }
}
