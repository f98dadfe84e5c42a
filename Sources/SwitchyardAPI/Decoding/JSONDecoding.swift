public import Foundation
import SwitchyardClient
public import SwitchyardServices

/// The decoding of JSON into values of the app's types.
///
/// Create it once for a client or a module and share it. It contains one decoder, which any thread may use.
///
///     let decoding = JSONDecoding { decoder in
///         decoder.keyDecodingStrategy = .convertFromSnakeCase
///     }
public struct JSONDecoding: Sendable {
    /// The maximum nesting depth of arrays and objects, 128 by default and at most 512.
    package let maximumDepth: Int
    private let configure: @Sendable (JSONDecoder) -> Void
    /// The decoder, which is not changed after its creation, because several threads use it at the same time.
    private let decoder: JSONDecoder

    /// A decoding that leaves keys unchanged and reads ISO 8601 dates with or without fractions of a second.
    public static let standard = JSONDecoding()

    /// Creates a decoding.
    ///
    /// - Parameters:
    ///   - maximumDepth: The maximum nesting depth of arrays and objects, 128 by default.
    ///   - configure: Configures a decoder whose date strategy is ISO 8601. It may be called more than once.
    public init(
        maximumDepth: Int = JSONDepth.standard,
        configure: @escaping @Sendable (JSONDecoder) -> Void = { _ in }
    ) {
        self.maximumDepth = min(max(1, maximumDepth), JSONDepth.ceiling)
        self.configure = configure
        decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            guard let date = ISO8601.date(text) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected an ISO 8601 date")
            }
            return date
        }
        configure(decoder)
    }

    /// Returns a decoding that also adds a value to the decoder's `userInfo`.
    func adding(_ key: CodingUserInfoKey, _ value: any Sendable) -> JSONDecoding {
        JSONDecoding(maximumDepth: maximumDepth) { [configure] decoder in
            configure(decoder)
            decoder.userInfo[key] = value
        }
    }

    /// Decodes a value from JSON.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - data: JSON in UTF-8.
    /// - Returns: The value.
    /// - Throws: ``APIError`` with the key path at which the JSON does not match the type.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws(APIError) -> Value {
        try checkDepth(data)
        return try decodeChecked(type, from: data)
    }

    /// Decodes a value from JSON whose nesting depth has already been checked.
    func decodeChecked<Value: Decodable>(_ type: Value.Type, from data: Data) throws(APIError) -> Value {
        do {
            return try decoder.decode(type, from: data)
        } catch let error as DecodingError {
            var failure = DecodingFailure(error)
            if failure.kind == .malformed(offset: nil) { failure = located(in: data, else: failure) }
            throw APIError(.body(.decoding(failure)), context: APIError.Context(underlying: error))
        } catch {
            throw APIError(.body(.decoding(DecodingFailure(.corrupted))), context: APIError.Context(underlying: error))
        }
    }

    /// Parses JSON into a tree.
    func tree(_ data: Data) throws(APIError) -> JSONValue {
        do throws(DecodingFailure) {
            return try JSONValue(parsing: data, maximumDepth: maximumDepth)
        } catch {
            throw APIError(.body(.decoding(error)))
        }
    }

    /// Returns the trees that different decoders may read from the same JSON.
    ///
    /// If a name occurs twice in an object, some decoders take the first value and others the last (RFC 8259 section
    /// 4). Foundation's decoder takes the first value, ``/SwitchyardServices/JSONValue`` the last.
    func readings(of data: Data) throws(APIError) -> [JSONValue] {
        do throws(DecodingFailure) {
            let bytes = ContiguousArray(data)
            let (last, hasRepeatedNames) = try JSONValue.parsed(bytes, maximumDepth: maximumDepth)
            guard hasRepeatedNames else { return [last] }
            let (first, _) = try JSONValue.parsed(bytes, maximumDepth: maximumDepth, repeatedNames: .firstHolds)
            return [first, last]
        } catch {
            throw APIError(.body(.decoding(error)))
        }
    }

    private func checkDepth(_ data: Data) throws(APIError) {
        guard data.withUnsafeBytes({ JSONDepth.isExceeded(by: $0, limit: maximumDepth) }) else { return }
        throw APIError(.body(.decoding(DecodingFailure(.tooDeep(limit: maximumDepth)))))
    }

    /// Returns a more precise failure than Foundation's: with the offset of the first byte that is not JSON.
    ///
    /// Foundation reports the same error if the text is valid JSON whose root does not match the type. In this case,
    /// the kind of the returned failure is `corrupted`.
    private func located(in data: Data, else failure: DecodingFailure) -> DecodingFailure {
        do throws(DecodingFailure) {
            _ = try JSONValue(parsing: data, maximumDepth: maximumDepth)
            return DecodingFailure(.corrupted, keyPath: failure.keyPath, detail: failure.detail)
        } catch {
            return error
        }
    }
}
