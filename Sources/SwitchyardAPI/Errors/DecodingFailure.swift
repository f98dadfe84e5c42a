public import SwitchyardServices

/// The reason why a body could not be decoded, and the location in the body.
public struct DecodingFailure: Error, Sendable, Hashable {
    /// The kind of defect that was found.
    public enum Kind: Sendable, Hashable {
        /// The body is not in the expected format. For JSON, the offset is that of the first invalid byte, if it is
        /// known.
        case malformed(offset: Int?)
        /// A key is missing.
        case missingKey
        /// The value is null or missing, but a value is required.
        case missingValue
        /// The value has a type other than the expected type.
        case wrongType(expected: String)
        /// The value has the right type, but cannot be used.
        case corrupted
        /// The nesting depth of the body exceeds the limit.
        case tooDeep(limit: Int)
    }

    /// The kind of defect.
    public var kind: Kind
    /// The key path of the defect from the root of the body, such as `data.items[3].name`.
    ///
    /// The key path is empty for the root itself.
    public var keyPath: String
    /// The decoder's own description, for developers.
    ///
    /// This text may quote the body, so it is not part of ``description``.
    public var detail: String

    /// Creates a failure.
    ///
    /// By default, it is at the root of the body and has no detail.
    public init(_ kind: Kind, keyPath: String = "", detail: String = "") {
        self.kind = kind
        self.keyPath = keyPath
        self.detail = detail
    }

    /// Returns whether both failures have the same kind and key path.
    ///
    /// The detail is ignored.
    public static func == (left: DecodingFailure, right: DecodingFailure) -> Bool {
        left.kind == right.kind && left.keyPath == right.keyPath
    }

    /// Hashes the kind and the key path.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(keyPath)
    }
}

extension DecodingFailure: CustomStringConvertible {
    /// The defect and its key path.
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
        case .corrupted: "invalid value"
        case .tooDeep(let limit): "nested deeper than \(limit) levels"
        }
    }
}

extension DecodingFailure {
    /// Creates a failure from an error of Foundation's decoder.
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

    /// Returns a coding path as text, such as `data.items[3].name`.
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
    /// Parses JSON into a value.
    ///
    /// - Parameters:
    ///   - text: The text in UTF-8, optionally with a byte order mark.
    ///   - maximumDepth: The maximum nesting depth of arrays and objects, 128 by default. This is far more than APIs
    ///     return and far less than the stack of a thread allows.
    /// - Throws: ``/SwitchyardAPI/DecodingFailure`` with the offset of the first byte that is not JSON.
    public init(parsing text: some Sequence<UInt8>, maximumDepth: Int = JSONDepth.standard) throws(DecodingFailure) {
        (self, _) = try Self.parsed(ContiguousArray(text), maximumDepth: maximumDepth)
    }

    /// Parses JSON, and reports whether any object contains the same name twice.
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
