public import Foundation
import SwitchyardClient
import SwitchyardHTTP

extension ResponseSerializer where Value: Decodable {
    /// JSON, decoded into a type.
    ///
    /// - Parameters:
    ///   - type: The type; an optional one takes an empty body for `nil`.
    ///   - keyPath: Where the value stands in the body, as in `data.items`; the whole body unless given.
    ///   - decoding: How JSON becomes values.
    /// - Returns: The serialiser.
    public static func decodable(
        _ type: Value.Type = Value.self,
        at keyPath: String? = nil,
        using decoding: JSONDecoding = .standard
    ) -> ResponseSerializer {
        guard let keyPath, !keyPath.isEmpty, let key = ContentPlace.userInfoKey else {
            return ResponseSerializer(accepting: MediaType.jsonTypes, findingEmpty: { type.valueOfEmptyBody }) {
                try decoding.value(type, of: $0)
            }
        }
        let placed = decoding.adding(key, ContentPlace(envelope: nil, keyPath: keyPath))
        let finding = { @Sendable in type.valueOfEmptyBody }
        var serializer = ResponseSerializer(accepting: MediaType.jsonTypes, findingEmpty: finding) { response in
            guard !response.isBlank else { return try type.valueOfEmptyBody.orThrowEmpty() }
            let content = try placed.decode(FramedContent<Value>.self, from: try TextEncoding.utf8(response))
            guard case .value(let value) = content else { throw APIError(.body(.empty)) }
            return value
        }
        serializer.part = keyPath
        return serializer
    }
}

extension JSONDecoding {
    /// The value of an answer that holds nothing but it.
    func value<Value: Decodable>(_ type: Value.Type, of response: RawResponse) throws -> Value {
        let look = response.data.withUnsafeBytes { BodyLook($0, maximumDepth: maximumDepth) }
        if look.isBlank { return try valueOfBlank(type) }
        guard look.isShallow, !look.mayHaveMark, TextEncoding.isUTF8(response.charset) else {
            return try decode(type, from: try TextEncoding.utf8(response))
        }
        return try decodeChecked(type, from: response.data)
    }

    /// Apart, as it is rare and has to look up the type of the optional value.
    @inline(never)
    private func valueOfBlank<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try type.valueOfEmptyBody.orThrowEmpty()
    }
}

extension ResponseSerializer where Value == JSONValue {
    /// JSON of any shape.
    public static var json: ResponseSerializer { json() }

    /// JSON of any shape.
    ///
    /// - Parameters:
    ///   - removesNulls: Whether members and elements that are `null` are left out, at any depth; they stay unless given.
    ///   - decoding: Says how deep the body may nest.
    /// - Returns: The serialiser.
    public static func json(
        removingNulls removesNulls: Bool = false,
        using decoding: JSONDecoding = .standard
    ) -> ResponseSerializer {
        var serializer = ResponseSerializer(accepting: MediaType.jsonTypes) { response in
            guard !response.isBlank else { throw APIError(.body(.empty)) }
            let tree = try decoding.tree(try TextEncoding.utf8(response))
            return removesNulls ? tree.removingNulls() : tree
        }
        if removesNulls { serializer.part = "\0nulls" }
        return serializer
    }
}

extension ResponseSerializer where Value == Data {
    /// The bytes as they came; no bytes are a value too.
    public static var data: ResponseSerializer {
        ResponseSerializer(emptyValue: Data()) { $0.data }
    }
}

extension ResponseSerializer where Value == String {
    /// Text in the encoding that the answer names.
    public static var string: ResponseSerializer { string(.utf8) }

    /// Text in the encoding that the answer names, else in another; no text is a value too.
    ///
    /// Text is asked for, and whatever comes is taken.
    public static func string(_ fallback: String.Encoding) -> ResponseSerializer {
        var serializer = ResponseSerializer(emptyValue: "") { response in
            try TextEncoding.text(of: response.data, named: response.charset, fallback: fallback)
        }
        serializer.preferredTypes = "text/plain, text/*;q=0.9, */*;q=0.5"
        if fallback != .utf8 { serializer.part = "\0\(fallback.rawValue)" }
        return serializer
    }
}

extension ResponseSerializer where Value == EmptyBody {
    /// Nothing: whatever the body holds is ignored.
    public static var empty: ResponseSerializer {
        ResponseSerializer(emptyValue: EmptyBody()) { _ in EmptyBody() }
    }
}

/// What has to be known of a body's bytes before they are decoded, seen at once: each look costs more than it shows.
private struct BodyLook {
    /// See ``RawResponse/isBlank``.
    let isBlank: Bool
    /// Whether it may begin with a byte order mark.
    let mayHaveMark: Bool
    /// Whether it nests no deeper than it may.
    let isShallow: Bool

    init(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int) {
        isBlank = bytes.count <= 16 && bytes.allSatisfy(RawResponse.isSpace)
        mayHaveMark = (bytes.first ?? 0) >= TextEncoding.leastMark
        isShallow = !JSONDepth.isExceeded(by: bytes, limit: maximumDepth)
    }
}

extension RawResponse {
    /// Whether the body has nothing but spaces and line ends, as some servers send in place of nothing.
    var isBlank: Bool {
        data.count <= 16 && data.allSatisfy(Self.isSpace)
    }

    fileprivate static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }
}
