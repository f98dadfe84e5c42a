public import SwitchyardServices

/// Why a body could not be decoded, and at which place.
public struct DecodingFailure: Error, Sendable, Hashable {
    /// The defect that was found.
    public enum Kind: Sendable, Hashable {
        /// The body is not in the expected format; for JSON, with the offset of the first invalid byte if it is known.
        case malformed(offset: Int?)
        /// A key is missing.
        case missingKey
        /// The value is null or missing where one was expected.
        case missingValue
        /// The value has another type than expected.
        case wrongType(expected: String)
        /// The value has the right type, but cannot be used.
        case corrupted
        /// The body nests deeper than allowed.
        case tooDeep(limit: Int)
    }

    /// The defect.
    public var kind: Kind
    /// The place, from the root of the body: `data.items[3].name`; empty is the root itself.
    public var keyPath: String
    /// The decoder's own words, for a developer.
    ///
    /// They may quote the body, and are therefore not part of ``description``.
    public var detail: String

    /// Creates a failure.
    public init(_ kind: Kind, keyPath: String = "", detail: String = "") {
        self.kind = kind
        self.keyPath = keyPath
        self.detail = detail
    }

    /// Whether both are wrong in the same way at the same place; the detail is for readers only.
    public static func == (left: DecodingFailure, right: DecodingFailure) -> Bool {
        left.kind == right.kind && left.keyPath == right.keyPath
    }

    /// Hashes the parts that are compared for equality.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(keyPath)
    }
}

extension DecodingFailure: CustomStringConvertible {
    /// The defect and its location.
    public var description: String {
        let place = keyPath.isEmpty ? "at the root" : "at \(keyPath)"
        return "\(kind.words) \(place)"
    }
}

extension DecodingFailure.Kind {
    /// The defect in words for a log.
    fileprivate var words: String {
        switch self {
        case .malformed(let offset): offset.map { "malformed from byte \($0)" } ?? "malformed"
        case .missingKey: "key missing"
        case .missingValue: "value missing"
        case .wrongType(let expected): "not of type \(expected)"
        case .corrupted: "unusable value"
        case .tooDeep(let limit): "nested deeper than \(limit)"
        }
    }
}

extension DecodingFailure {
    /// Creates a failure from a decoder's error.
    init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, let context):
            self.init(.missingKey, keyPath: Self.text(context.codingPath + [key]), detail: context.debugDescription)
        case .valueNotFound(_, let context):
            self.init(.missingValue, keyPath: Self.text(context.codingPath), detail: context.debugDescription)
        case .typeMismatch(let type, let context):
            self.init(.wrongType(expected: "\(type)"), keyPath: Self.text(context.codingPath))
        case .dataCorrupted(let context):
            let kind: Kind = context.codingPath.isEmpty ? .malformed(offset: nil) : .corrupted
            self.init(kind, keyPath: Self.text(context.codingPath), detail: context.debugDescription)
        @unknown default:
            self.init(.corrupted, detail: "\(type(of: error))")
        }
    }

    /// A coding path as `data.items[3].name`.
    static func text(_ path: [any CodingKey]) -> String {
        path.reduce(into: "") { text, key in
            if let index = key.intValue, key.stringValue.hasPrefix("Index ") {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
    }
}

// MARK: - JSON

extension DecodingFailure {
    init(_ failure: JSONParser.Failure) {
        switch failure.kind {
        case .malformed(let expected):
            self.init(.malformed(offset: failure.offset), detail: "expected \(expected)")
        case .tooDeep(let limit): self.init(.tooDeep(limit: limit))
        case .repeatedName(let path): self.init(.corrupted, keyPath: path, detail: "expected each name only once")
        }
    }
}

extension JSONValue {
    /// Parses a text.
    ///
    /// - Parameters:
    ///   - text: The text in UTF-8; a byte order mark is allowed.
    ///   - maximumDepth: The maximum nesting of arrays and objects; default is 128, which is far more than APIs return
    ///     and far less than the stack of a thread can hold.
    /// - Throws: ``/SwitchyardAPI/DecodingFailure`` with the offset of the first byte that is not JSON.
    public init(parsing text: some Sequence<UInt8>, maximumDepth: Int = JSONDepth.standard) throws(DecodingFailure) {
        (self, _) = try Self.parsed(ContiguousArray(text), maximumDepth: maximumDepth)
    }

    /// Parses a text, and reports whether an object contains a name twice.
    static func parsed(
        _ text: ContiguousArray<UInt8>,
        maximumDepth: Int,
        repeatedNames: JSONParser.RepeatedNames = .lastHolds
    ) throws(DecodingFailure) -> (JSONValue, hasRepeatedNames: Bool) {
        var parser = JSONParser(text, maximumDepth: maximumDepth, repeatedNames: repeatedNames)
        do throws(JSONParser.Failure) {
            return (try parser.document(), parser.hasRepeatedNames)
        } catch {
            throw DecodingFailure(error)
        }
    }
}
