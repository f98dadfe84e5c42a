public import Foundation
import SwitchyardClient
public import SwitchyardHTTP
public import SwitchyardServices

/// A conversion of the body of a response into a value.
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
/// ### Stored responses
/// Stored values are distinguished by request, type, key path, the module's envelope and the options of the serializers
/// above. If two custom serializers make different values of the same type from the same response, give each call its
/// own ``CachePolicy/version``. The same applies to two closures for ``map(_:)`` and to two ways of decoding.
public struct ResponseSerializer<Value: Sendable>: Sendable {
    /// The content types that ``ResponseRules/ContentTypeRule/strict`` accepts; `nil` for any.
    ///
    /// A request sends these types as `Accept`, unless the call or the client's common header fields set `Accept`.
    package var contentTypes: [MediaType]?
    /// The value of `Accept` that is sent instead of the content types, or `nil` to send the content types.
    package var preferredTypes: String?
    /// The value of `Accept` of a request; `nil` for any type.
    ///
    /// `@inline(__always)` saves each call of a manager a lookup of the generic type (benchmark `pipeline`: 1 %).
    package var accept: String? {
        @inline(__always) get { preferredTypes ?? contentTypes.flatMap { MediaType.accept($0) } }
    }
    /// The part of the body that is the value.
    package var part = ResponsePart.whole
    /// The value of an empty body, or `nil` if an empty body is an error.
    package var emptyValue: Value? { makeEmpty?() }
    // The value is made by a closure, so that the memory layout does not depend on its type, which makes copies cheap.
    private var makeEmpty: (@Sendable () -> Value?)?
    private let decode: @Sendable (RawResponse) throws -> Value

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - contentTypes: The content types that the serializer accepts, or `nil` for any type.
    ///   - emptyValue: The value of an empty body, or `nil` if an empty body is an error.
    ///   - decode: Returns the value. Any error that it throws becomes an ``APIError``.
    public init(
        accepting contentTypes: [MediaType]? = nil,
        emptyValue: Value? = nil,
        decode: @escaping @Sendable (RawResponse) throws -> Value
    ) {
        self.contentTypes = contentTypes
        makeEmpty = Self.maker(of: emptyValue)
        self.decode = decode
    }

    /// Creates a serializer of JSON that calls a closure for the value of an empty body.
    init(
        ofJSONFindingEmpty makeEmpty: @escaping @Sendable () -> Value?,
        decode: @escaping @Sendable (RawResponse) throws -> Value
    ) {
        contentTypes = MediaType.jsonTypes
        preferredTypes = MediaType.jsonRange
        self.makeEmpty = makeEmpty
        self.decode = decode
    }

    private static func maker(of value: Value?) -> (@Sendable () -> Value?)? {
        guard let value else { return nil }
        return { value }
    }

    /// Checks a response against rules and returns its value.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - rules: The rules for the response.
    /// - Returns: The value.
    /// - Throws: ``APIError`` for the first check that fails. The order is status, content type, empty body, shape,
    ///   decoding.
    public func value(of response: RawResponse, rules: ResponseRules = .strict) throws(APIError) -> Value {
        try rules.checkStatus(response)
        try rules.checkContentType(response, acceptable: contentTypes)
        var response = response
        if let preprocess = rules.preprocess {
            do { response.data = try preprocess(response.data) } catch { throw APIError(decoding: error) }
        }
        if response.data.isEmpty || response.hasNoBodyByRule {
            return try rules.emptyContent(of: response) { emptyValue }
        }
        if rules.inspectsContent { try rules.checkContent(response) }
        do {
            return try decode(response)
        } catch {
            throw APIError(decoding: error)
        }
    }

    /// Returns a serializer that transforms the value of this one.
    public func map<Other: Sendable>(
        _ transform: @escaping @Sendable (Value) throws -> Other
    ) -> ResponseSerializer<Other> {
        let empty = emptyValue.flatMap { try? transform($0) }
        var mapped = ResponseSerializer<Other>(accepting: contentTypes, emptyValue: empty) { [decode] response in
            try transform(try decode(response))
        }
        mapped.preferredTypes = preferredTypes
        mapped.part = part.after(.mapped)
        return mapped
    }

    /// Returns a serializer that tries several serializers in order and uses the first one that succeeds.
    ///
    /// If all fail, the last one's error is thrown.
    public static func first(of serializers: [ResponseSerializer]) -> ResponseSerializer {
        let types = serializers.map(\.contentTypes)
        let all = types.contains { $0 == nil } ? nil : types.flatMap { $0 ?? [] }
        let empty = serializers.lazy.compactMap(\.emptyValue).first
        var compound = ResponseSerializer(accepting: all, emptyValue: empty) { response in
            var last = APIError(.configuration(.other("a compound serializer must have at least one serializer")))
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
        compound.part = ResponsePart(.first(serializers.map(\.part)))
        return compound
    }
}

extension ResponseRules {
    /// Returns the value of an empty body.
    ///
    /// This is a separate function because the case is rare, and looking up the type of an optional is slow.
    @inline(never)
    fileprivate func emptyContent<Value>(
        of response: RawResponse,
        _ emptyValue: () -> Value?
    ) throws(APIError) -> Value {
        guard allowsEmptyBody(of: response), bodyShape == nil, let value = emptyValue() else {
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

    /// Whether the rules check the content of a body, in addition to its type and length.
    fileprivate var inspectsContent: Bool { bodyShape != nil || inspect != nil }

    /// Checks the shape of the body and calls ``inspect``.
    func checkContent(_ response: RawResponse) throws(APIError) {
        if let shape = bodyShape {
            // The decoder of the body has its own depth limit. This check uses the largest limit that a decoder may
            // have.
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
    /// Creates an error from the error that a decoding closure threw.
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

extension ResponseSerializer where Value: Decodable {
    /// Returns a serializer that decodes JSON into a type.
    ///
    /// - Parameters:
    ///   - type: The type. If it is optional, an empty body is decoded as `nil`.
    ///   - keyPath: The key path of the value, such as `data.items`. By default, it is the whole body.
    ///   - decoding: The JSON decoding.
    /// - Returns: The serializer.
    public static func decodable(
        _ type: Value.Type = Value.self,
        at keyPath: String? = nil,
        using decoding: JSONDecoding = .standard
    ) -> ResponseSerializer {
        guard let keyPath, !keyPath.isEmpty, let key = ContentPlace.userInfoKey else {
            return ResponseSerializer(ofJSONFindingEmpty: { type.valueOfEmptyBody }) {
                try decoding.value(type, of: $0)
            }
        }
        let placed = decoding.adding(key, ContentPlace(envelope: nil, keyPath: keyPath))
        let finding = { @Sendable in type.valueOfEmptyBody }
        var serializer = ResponseSerializer(ofJSONFindingEmpty: finding) { response in
            guard !response.isBlank else { return try type.valueOfEmptyBody.orThrowEmpty() }
            let content = try placed.decode(FramedContent<Value>.self, from: try TextEncoding.utf8(response))
            guard case .value(let value) = content else { throw APIError(.body(.empty)) }
            return value
        }
        serializer.part = ResponsePart(.keyPath(keyPath))
        return serializer
    }
}

extension JSONDecoding {
    /// Returns the value of a response whose whole body is the value.
    func value<Value: Decodable>(_ type: Value.Type, of response: RawResponse) throws -> Value {
        let sample = response.data.withUnsafeBytes { BodySample($0, maximumDepth: maximumDepth) }
        if sample.isBlank { return try valueOfBlank(type) }
        guard sample.isShallow, !sample.mayHaveMark, response.charset.map(TextEncoding.isUTF8) ?? true else {
            return try decode(type, from: try TextEncoding.utf8(response))
        }
        return try decodeChecked(type, from: response.data)
    }

    /// Returns the value of a blank body.
    ///
    /// This is a separate function because the case is rare, and looking up the type of an optional is slow.
    @inline(never)
    private func valueOfBlank<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try type.valueOfEmptyBody.orThrowEmpty()
    }
}

extension ResponseSerializer where Value == JSONValue {
    /// A serializer that decodes JSON of any shape.
    public static var json: ResponseSerializer { json() }

    /// Returns a serializer that decodes JSON of any shape.
    ///
    /// - Parameters:
    ///   - removesNulls: Whether members and elements that are `null` are removed at any depth, `false` by default.
    ///   - decoding: The JSON decoding, whose maximum depth applies.
    /// - Returns: The serializer.
    public static func json(
        removingNulls removesNulls: Bool = false,
        using decoding: JSONDecoding = .standard
    ) -> ResponseSerializer {
        var serializer = ResponseSerializer(accepting: MediaType.jsonTypes) { response in
            guard !response.isBlank else { throw APIError(.body(.empty)) }
            let tree = try decoding.tree(try TextEncoding.utf8(response))
            return removesNulls ? tree.removingNulls() : tree
        }
        if removesNulls { serializer.part = ResponsePart(.withoutNulls) }
        return serializer
    }
}

extension ResponseSerializer where Value == Data {
    /// A serializer that returns the bytes as received.
    ///
    /// An empty body is a valid value.
    public static var data: ResponseSerializer {
        ResponseSerializer(emptyValue: Data()) { $0.data }
    }
}

extension ResponseSerializer where Value == String {
    /// A serializer that decodes text in the encoding that the response names, or in UTF-8 if it names none.
    public static var string: ResponseSerializer { string(.utf8) }

    /// Returns a serializer that decodes text in the encoding that the response names, or in `fallback` if it names
    /// none.
    ///
    /// An empty text is a valid value. The request asks for text, and any content type is accepted.
    public static func string(_ fallback: String.Encoding) -> ResponseSerializer {
        var serializer = ResponseSerializer(emptyValue: "") { response in
            try TextEncoding.text(of: response.data, named: response.charset, fallback: fallback)
        }
        serializer.preferredTypes = "text/plain, text/*;q=0.9, */*;q=0.5"
        if fallback != .utf8 { serializer.part = ResponsePart(.text(fallback)) }
        return serializer
    }
}

extension ResponseSerializer where Value == EmptyBody {
    /// A serializer that ignores the body.
    public static var empty: ResponseSerializer {
        ResponseSerializer(emptyValue: EmptyBody()) { _ in EmptyBody() }
    }
}

/// The facts about the bytes of a body that decoding needs.
///
/// The facts are collected in one pass, because each pass over the bytes is costly.
private struct BodySample {
    /// Whether the body is blank: see ``RawResponse/isBlank``.
    let isBlank: Bool
    /// Whether the body may begin with a byte order mark.
    let mayHaveMark: Bool
    /// Whether the nesting depth of the body is within the limit.
    let isShallow: Bool

    init(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int) {
        isBlank = bytes.count <= 16 && bytes.allSatisfy(RawResponse.isSpace)
        mayHaveMark = (bytes.first ?? 0) >= TextEncoding.leastMark
        isShallow = !JSONDepth.isExceeded(by: bytes, limit: maximumDepth)
    }
}

extension RawResponse {
    /// Whether the body contains nothing but spaces and line ends.
    ///
    /// Some servers send such a body instead of an empty one.
    var isBlank: Bool {
        data.count <= 16 && data.allSatisfy(Self.isSpace)
    }

    fileprivate static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }
}

/// The value of a response whose body does not matter.
public struct EmptyBody: Sendable, Hashable, Codable {
    /// Creates the only value of this type.
    public init() {}

    /// Ignores the decoder's content.
    public init(from decoder: any Decoder) {}
}

/// A type that has a value for an empty body.
public protocol EmptyBodyRepresentable {
    /// The value of an empty body.
    static var emptyValue: Self { get }
}

extension EmptyBody: EmptyBodyRepresentable {
    /// The only value of this type.
    public static var emptyValue: EmptyBody { EmptyBody() }
}

extension Optional: EmptyBodyRepresentable {
    /// The value is `nil`.
    public static var emptyValue: Wrapped? { nil }
}

extension Decodable {
    /// The value of this type for an empty body, or `nil` if the type has none.
    package static var valueOfEmptyBody: Self? {
        (self as? any EmptyBodyRepresentable.Type)?.emptyValue as? Self
    }
}

extension Optional {
    /// Returns the wrapped value for an empty body, or throws an error if there is none.
    func orThrowEmpty() throws(APIError) -> Wrapped {
        guard let self else { throw APIError(.body(.empty)) }
        return self
    }
}
