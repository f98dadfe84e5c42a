public import Foundation
import SwitchyardClient
public import SwitchyardServices

/// The decoding of JSON into values of the app's types.
///
/// A client's owner or a module creates it once and shares it: it holds one decoder, which any thread may use.
///
///     let decoding = JSONDecoding { decoder in
///         decoder.keyDecodingStrategy = .convertFromSnakeCase
///     }
public struct JSONDecoding: Sendable {
    /// How deep arrays and objects may nest; 128 unless set, 512 at most.
    package let maximumDepth: Int
    private let configure: @Sendable (JSONDecoder) -> Void
    private let decoder: SharedDecoder

    /// Keys as they are, dates in ISO 8601 with or without fractions of a second.
    public static let standard = JSONDecoding()

    /// Creates settings.
    ///
    /// - Parameters:
    ///   - maximumDepth: The maximum nesting of arrays and objects; default is 128.
    ///   - configure: Configures a decoder, whose date strategy is ISO 8601. It may be called more than once.
    public init(
        maximumDepth: Int = JSONDepth.standard,
        configure: @escaping @Sendable (JSONDecoder) -> Void = { _ in }
    ) {
        self.maximumDepth = min(max(1, maximumDepth), JSONDepth.ceiling)
        self.configure = configure
        decoder = SharedDecoder { Self.setUp($0, configure) }
    }

    /// Settings that also put values into the decoder's user info.
    func adding(_ key: CodingUserInfoKey, _ value: any Sendable) -> JSONDecoding {
        JSONDecoding(maximumDepth: maximumDepth) { [configure] decoder in
            configure(decoder)
            decoder.userInfo[key] = value
        }
    }

    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - data: JSON in UTF-8.
    /// - Returns: The value.
    /// - Throws: ``APIError`` with the key path at which the text does not fit.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws(APIError) -> Value {
        try checkDepth(data)
        return try decodeChecked(type, from: data)
    }

    /// Decodes a value of a text whose depth has been checked.
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

    /// Parses a text into a tree.
    func tree(_ data: Data) throws(APIError) -> JSONValue {
        do throws(DecodingFailure) {
            return try JSONValue(parsing: data, maximumDepth: maximumDepth)
        } catch {
            throw APIError(.body(.decoding(error)))
        }
    }

    /// Returns the possible readings of a text.
    ///
    /// If a name occurs twice, some readers take the first value and others the last (RFC 8259 section 4): Foundation's
    /// decoder takes the first, ``/SwitchyardServices/JSONValue`` the last.
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

    /// Finds the byte at which a text stops being JSON, which Foundation does not report.
    ///
    /// If the text is JSON, its root does not match the type, which Foundation reports in the same way.
    private func located(in data: Data, else failure: DecodingFailure) -> DecodingFailure {
        do throws(DecodingFailure) {
            _ = try JSONValue(parsing: data, maximumDepth: maximumDepth)
            return DecodingFailure(.corrupted, keyPath: failure.keyPath, detail: failure.detail)
        } catch {
            return error
        }
    }

    private static func setUp(_ decoder: JSONDecoder, _ configure: (JSONDecoder) -> Void) {
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            guard let date = ISO8601.date(text) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a date of ISO 8601")
            }
            return date
        }
        configure(decoder)
    }
}

/// A decoder that is not changed after its creation.
private final class SharedDecoder: @unchecked Sendable {
    // @unchecked is sound: the decoder is configured before it is shared. Afterwards only `decode` is called, which creates
    // its own state for each call (also in swift-foundation, JSONDecoder.swift).
    private let decoder = JSONDecoder()

    init(_ setUp: (JSONDecoder) -> Void) {
        setUp(decoder)
    }

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try decoder.decode(type, from: data)
    }
}
