import Foundation
import SwitchyardHTTP
import SwitchyardServices

/// A JSON object of a server list, read strictly.
struct ServerListJSON {
    private let members: JSONMembers
    private let name: String

    /// Parses an object.
    ///
    /// An object in which a name is repeated is refused.
    init(_ bytes: Data, of name: String) throws(ServerListRefusal) {
        var parser = JSONParser(ContiguousArray(bytes), maximumDepth: 32, repeatedNames: .refused)
        let value: JSONValue
        do throws(JSONParser.Failure) {
            value = try parser.document()
        } catch {
            guard case .repeatedName(let path) = error.kind else {
                throw .malformed("\(name) is not valid JSON: the error is at byte \(error.offset)")
            }
            throw .malformed("\(name) has the member \(JSONValue.shortened(path.drop { $0 == "." })) more than once")
        }
        try self.init(value, of: name)
    }

    init(_ value: JSONValue, of name: String) throws(ServerListRefusal) {
        guard let members = value.members else { throw .malformed("\(name) must be an object") }
        self.members = members
        self.name = name
    }

    /// Throws an error if the object has a member with another name.
    func refuseOthers(than names: Set<String>) throws(ServerListRefusal) {
        guard let other = members.keys.sorted().first(where: { !names.contains($0) }) else { return }
        throw .malformed("\(name) has the unknown member \(JSONValue.shortened(other))")
    }

    func string(_ key: String) throws(ServerListRefusal) -> String {
        guard let text = members[key]?.string, !text.isEmpty, text.utf8.count <= ServerList.maximumSize else {
            throw malformed(key, "a string that is not empty")
        }
        return text
    }

    func base64(_ key: String) throws(ServerListRefusal) -> Data {
        guard let bytes = Data(base64Encoded: try string(key)) else {
            throw malformed(key, "Base64")
        }
        return bytes
    }

    func positiveInteger(_ key: String) throws(ServerListRefusal) -> Int {
        guard let number = members[key]?.int, number >= 1 else {
            throw malformed(key, "a whole number of at least 1")
        }
        return number
    }

    func array(_ key: String) throws(ServerListRefusal) -> [JSONValue] {
        guard let elements = members[key]?.array else { throw malformed(key, "an array") }
        return elements
    }

    func date(_ key: String) throws(ServerListRefusal) -> Date {
        guard let date = try? Date(try string(key), strategy: Date.ISO8601FormatStyle()) else {
            throw malformed(key, "a time such as 2026-11-28T12:00:00Z")
        }
        return date
    }

    /// Returns the refusal because a member does not have an allowed value.
    private func malformed(_ key: String, _ allowed: String) -> ServerListRefusal {
        .malformed("\(key) of \(name) is \(members[key]?.shortText ?? "missing"): must be \(allowed)")
    }
}

extension JSONValue {
    /// The value on one line in at most about 64 characters, or its kind if it is an array or an object.
    fileprivate var shortText: String {
        switch self {
        case .string(let text) where text.isEmpty: "empty"
        case .string(let text): "\"\(Self.shortened(text))\""
        case .number(let number): Self.shortened(number.text)
        case .bool(let flag): flag ? "true" : "false"
        case .null: "null"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// Returns the text on one line in at most 64 Unicode scalars.
    fileprivate static func shortened(_ text: some StringProtocol) -> String {
        let start = text.unicodeScalars.prefix(64)
        let line = start.map { scalar in
            let isPrinted = !scalar.properties.isWhitespace && scalar.properties.generalCategory != .control
            return isPrinted ? String(scalar) : " "
        }
        .joined()
        return start.endIndex == text.endIndex ? line : line + "…"
    }
}

extension Date {
    /// The time in UTC, in the format of server lists.
    package var iso8601: String { formatted(Date.ISO8601FormatStyle()) }
}
