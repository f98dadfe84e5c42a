import SwitchyardServices

/// The JSON object in which a service wraps every response: a code, a message, and the data.
///
/// Describe the envelope once for each module:
///
///     let envelope = Envelope(success: [0, 200])                       // {"code": 0, "message": "", "data": {...}}
///     let other = Envelope(code: "status.no", message: "msg", data: "result", success: ["OK"])
///
/// Each name may be a key path with dots. Keys are compared after the decoder's key strategy has been applied.
public struct Envelope: Sendable, Hashable {
    /// The key path of the code, `code` by default.
    package var code: String
    /// The key path of the message for the user, `message` by default.
    package var message: String
    /// The key path of the data within the envelope, `data` by default.
    ///
    /// The key path is empty if the data are members of the envelope itself.
    package var data: String
    /// The codes that mean success, only 0 by default.
    package var success: Set<BusinessCode>

    /// Creates the description of an envelope: the outer JSON object with the code, the message and the data.
    public init(
        code: String = "code",
        message: String = "message",
        data: String = "data",
        success: Set<BusinessCode> = [0]
    ) {
        self.code = code
        self.message = message
        self.data = data
        self.success = success
    }
}

/// The location of a value in a body: its key path, and the envelope (outer JSON object) around it.
struct ContentPlace: Sendable {
    var envelope: Envelope?
    var keyPath: [String]

    static let userInfoKey: CodingUserInfoKey? = CodingUserInfoKey(rawValue: "switchyard.content")

    init(envelope: Envelope?, keyPath: String?) {
        self.envelope = envelope
        let keys = (keyPath ?? "").split(separator: ".").map(String.init)
        self.keyPath = (envelope?.data.split(separator: ".").map(String.init) ?? []) + keys
    }

    /// Returns the location in the decoder's `userInfo`, or `nil` if there is none.
    fileprivate static func of(_ decoder: any Decoder) -> ContentPlace? {
        userInfoKey.flatMap { decoder.userInfo[$0] } as? ContentPlace
    }
}

/// A value at its key path, decoded together with the envelope (outer JSON object) in one pass.
enum FramedContent<Value: Decodable>: Decodable {
    case value(Value)
    case refused(code: BusinessCode, message: String?)

    init(from decoder: any Decoder) throws {
        let place = ContentPlace.of(decoder)
        if let envelope = place?.envelope {
            let code = try decoder.value(BusinessCode.self, at: envelope.code.keys)
            guard envelope.success.contains(code) else {
                let message = try? decoder.value(String.self, at: envelope.message.keys)
                self = .refused(code: code, message: message)
                return
            }
        }
        self = .value(try decoder.value(Value.self, at: (place?.keyPath ?? [])[...]))
    }
}

/// The code and message in the envelope of a rejected call, as far as they are present.
struct FrameContent: Decodable {
    let code: BusinessCode?
    let message: String?

    init(from decoder: any Decoder) throws {
        let place = ContentPlace.of(decoder)
        code = place?.envelope.flatMap { try? decoder.value(BusinessCode.self, at: $0.code.keys) }
        message = place?.envelope.flatMap { try? decoder.value(String.self, at: $0.message.keys) }
    }
}

extension String {
    /// The keys in a key path with dots.
    fileprivate var keys: ArraySlice<String> { split(separator: ".").map(String.init)[...] }
}

extension Decoder {
    /// Returns the value at a key path.
    ///
    /// If a key is missing and the type is optional, the value is `nil`.
    fileprivate func value<Value: Decodable>(_ type: Value.Type, at path: ArraySlice<String>) throws -> Value {
        guard let last = path.last else { return try singleValueContainer().decode(type) }
        let none = (type as? any EmptyBodyRepresentable.Type)?.emptyValue as? Value
        var container = try container(keyedBy: NamedKey.self)
        for name in path.dropLast() {
            let key = NamedKey(stringValue: name)
            if let none, try !container.contains(key) || container.decodeNil(forKey: key) { return none }
            container = try container.nestedContainer(keyedBy: NamedKey.self, forKey: key)
        }
        let key = NamedKey(stringValue: last)
        if let none { return try container.decodeIfPresent(type, forKey: key) ?? none }
        return try container.decode(type, forKey: key)
    }
}
