/// A JSON value in a service file, with its location.
///
/// The value must be an object whose keys ``ServiceFormat`` knows.
struct JSONObject {
    let value: JSONValue
    /// The path of the object in the file, such as `servers[1]`.
    let path: String
    /// The path of the object in `ServiceFormat`, such as `servers[]`.
    let pattern: String
    let file: String

    init(_ value: JSONValue, at path: String, pattern: String, file: String) {
        self.value = value
        self.path = path
        self.pattern = pattern
        self.file = file
    }

    /// Returns the members without checking their keys.
    func members() throws(CatalogError) -> [String: JSONValue] {
        guard case .object(let members) = value else {
            throw CatalogError(.wrongType, file: file, at: path, expected: "an object", found: value.kindWithArticle)
        }
        return members.mapValues(\.self)
    }

    /// Returns the members, or throws if the format does not know one of the keys.
    func fields() throws(CatalogError) -> Fields {
        let members = try members()
        let known = ServiceFormat.names(in: pattern)
        if let key = members.keys.sorted().first(where: { !known.contains($0) }) {
            let place = path.isEmpty ? key : "\(path).\(key)"
            throw CatalogError(
                .unknownKey,
                file: file,
                at: place,
                expected: "one of \(known.joined(separator: ", "))",
                found: key
            )
        }
        return Fields(object: self, members: members)
    }

    /// Typed access to the members of an object by key.
    struct Fields {
        let object: JSONObject
        let members: [String: JSONValue]

        func has(_ key: String) -> Bool { value(key) != nil }

        func string(_ key: String) throws(CatalogError) -> String {
            guard let text = try optionalString(key) else { throw error(.missingKey, key, "a string", "nothing") }
            return text
        }

        func optionalString(_ key: String) throws(CatalogError) -> String? {
            guard let value = value(key) else { return nil }
            guard case .string(let text) = value else {
                throw error(.wrongType, key, "a string", value.kindWithArticle)
            }
            return text
        }

        func number(_ key: String) throws(CatalogError) -> Double? {
            guard let value = value(key) else { return nil }
            guard let number = value.double else { throw error(.wrongType, key, type(key), value.kindWithArticle) }
            guard number.isFinite else { throw unexpected(key, "an infinite number") }
            return number
        }

        func integer(_ key: String) throws(CatalogError) -> Int? {
            guard let number = try number(key) else { return nil }
            guard let integer = Int(exactly: number) else { throw error(.wrongType, key, type(key), "\(number)") }
            return integer
        }

        func bool(_ key: String) throws(CatalogError) -> Bool? {
            guard let value = value(key) else { return nil }
            guard case .bool(let bool) = value else { throw error(.wrongType, key, type(key), value.kindWithArticle) }
            return bool
        }

        /// Returns a number of seconds as a duration, limited to 10^9 seconds (about 30 years).
        func seconds(_ key: String) throws(CatalogError) -> Duration? {
            guard let seconds = try number(key) else { return nil }
            guard seconds >= 0 else { throw unexpected(key, "\(seconds)") }
            return .seconds(min(seconds, 1e9))
        }

        /// Returns the value of a key that turns a feature on or off, or `nil` if the key is missing.
        ///
        /// The value is a Boolean that turns the feature on or off, or an object that turns the feature on and sets
        /// some of its keys.
        func part(_ key: String) throws(CatalogError) -> (isOn: Bool, details: Fields?)? {
            guard let value = value(key) else { return nil }
            switch value {
            case .bool(let isOn): return (isOn, nil)
            case .object: return (true, try object(key)?.fields())
            default: throw error(.wrongType, key, type(key), value.kindWithArticle)
            }
        }

        /// Whether the value of a key is an array.
        func isArray(_ key: String) -> Bool {
            if case .array = value(key) { true } else { false }
        }

        func array(_ key: String) throws(CatalogError) -> [JSONValue] {
            guard let value = value(key) else { throw error(.missingKey, key, "an array", "nothing") }
            guard case .array(let elements) = value else {
                throw error(.wrongType, key, "an array", value.kindWithArticle)
            }
            return elements
        }

        func object(_ key: String) throws(CatalogError) -> JSONObject? {
            guard let value = value(key) else { return nil }
            let inner = JSONObject(value, at: path(key), pattern: pattern(key), file: object.file)
            _ = try inner.members()
            return inner
        }

        func requiredObject(_ key: String) throws(CatalogError) -> JSONObject {
            guard let inner = try object(key) else { throw error(.missingKey, key, "an object", "nothing") }
            return inner
        }

        func error(
            _ kind: CatalogError.Kind,
            _ key: String,
            _ expected: String,
            _ found: String? = nil
        ) -> CatalogError {
            CatalogError(kind, file: object.file, at: path(key), expected: expected, found: found)
        }

        /// Returns the error for a value that has the right type but is not one of the allowed values.
        func unexpected(_ key: String, _ found: String) -> CatalogError {
            error(.invalidValue, key, type(key), found)
        }

        private func value(_ key: String) -> JSONValue? { members[key] }
        private func path(_ key: String) -> String { object.path.isEmpty ? key : "\(object.path).\(key)" }
        private func pattern(_ key: String) -> String { object.pattern.isEmpty ? key : "\(object.pattern).\(key)" }
        private func type(_ key: String) -> String { ServiceFormat.type(of: pattern(key)) }
    }
}

extension JSONValue {
    /// The kind of the value with an indefinite article, such as `an object`, for error messages.
    var kindWithArticle: String {
        switch self {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .bool: "true or false"
        case .null: "null"
        }
    }
}
