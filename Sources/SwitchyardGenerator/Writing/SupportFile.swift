/// The support file with the code that all generated files use.
enum SupportFile {
    /// Returns the code without the header of the file.
    static func code(_ use: Use) -> [String] {
        var parts = [fields, requests]
        if use.hasEnums { parts.append(openEnum) }
        if use.hasUnions { parts.append(unions) }
        if use.hasDays { parts.append(days) }
        if use.hasBoxes { parts.append(boxes) }
        if use.hasForms { parts.append(forms) }
        if use.hasParts { parts.append(multipart) }
        if use.hasLists { parts.append(lists) }
        return parts.flatMap { [""] + $0.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }
    }

    /// The parts of the support file that a client needs.
    struct Use {
        var hasEnums = false
        var hasUnions = false
        var hasDays = false
        var hasBoxes = false
        var hasForms = false
        var hasParts = false
        var hasLists = false
    }

    private static let fields = #"""
        /// The name of a member of a JSON object.
        struct FieldName: CodingKey, ExpressibleByStringLiteral {
            let stringValue: String
            var intValue: Int? { nil }

            init(stringLiteral value: String) { stringValue = value }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        extension Decoder {
            /// The members of an object.
            func fields() throws -> KeyedDecodingContainer<FieldName> { try container(keyedBy: FieldName.self) }
        }

        extension KeyedDecodingContainer<FieldName> {
            /// The value of a member that must be there.
            func value<Value: Decodable>(_ name: FieldName) throws -> Value { try decode(Value.self, forKey: name) }

            /// The value of a member; `nil` if there is none or it is null.
            func optional<Value: Decodable>(_ name: FieldName) throws -> Value? {
                try decodeIfPresent(Value.self, forKey: name)
            }

            /// A point in time, sent as seconds since 1970.
            func unixTime(_ name: FieldName) throws -> Date {
                Date(timeIntervalSince1970: try decode(Double.self, forKey: name))
            }

            /// A point in time, sent as seconds since 1970; `nil` if there is none or it is null.
            func optionalUnixTime(_ name: FieldName) throws -> Date? {
                try decodeIfPresent(Double.self, forKey: name).map(Date.init(timeIntervalSince1970:))
            }

            /// A point in time, sent as HTTP and e-mail write it.
            func httpDate(_ name: FieldName) throws -> Date {
                let text = try decode(String.self, forKey: name)
                if let date = HTTPDate.date(from: text) { return date }
                // E-mail writes the zone as +0000 (RFC 2822), HTTP as GMT.
                if text.hasSuffix(" +0000"), let date = HTTPDate.date(from: text.dropLast(5) + "GMT") { return date }
                throw DecodingError.dataCorruptedError(forKey: name, in: self, debugDescription: "not a date of RFC 2822")
            }

            /// A point in time, sent as HTTP and e-mail write it; `nil` if there is none or it is null.
            func optionalHTTPDate(_ name: FieldName) throws -> Date? {
                try decodeIfPresent(String.self, forKey: name) == nil ? nil : try httpDate(name)
            }

            /// The members whose names are not listed.
            func others<Value: Decodable>(than names: Set<String>) throws -> [String: Value] {
                var others: [String: Value] = [:]
                for key in allKeys where !names.contains(key.stringValue) {
                    others[key.stringValue] = try decode(Value.self, forKey: key)
                }
                return others
            }
        }

        extension KeyedEncodingContainer<FieldName> {
            /// Writes a member, unless the value is `nil`.
            mutating func write(_ value: (some Encodable)?, _ name: FieldName) throws {
                try encodeIfPresent(value, forKey: name)
            }

            /// Writes a member that must be there; `nil` is null.
            mutating func writeOrNull(_ value: (some Encodable)?, _ name: FieldName) throws {
                try encode(value, forKey: name)
            }

            /// Writes a point in time as seconds since 1970, unless it is `nil`.
            mutating func writeUnixTime(_ date: Date?, _ name: FieldName) throws {
                try encodeIfPresent(date?.unixSeconds, forKey: name)
            }

            /// Writes a point in time as HTTP writes it, unless it is `nil`.
            mutating func writeHTTPDate(_ date: Date?, _ name: FieldName) throws {
                try encodeIfPresent(date.flatMap { HTTPDate.text(for: $0) }, forKey: name)
            }

            /// Writes further members.
            mutating func write<Value: Encodable>(others: [String: Value]) throws {
                for (name, value) in others { try encode(value, forKey: FieldName(stringValue: name)) }
            }
        }

        extension Date {
            /// The whole seconds since 1970.
            var unixSeconds: Int { Int(timeIntervalSince1970.rounded(.down)) }
        }
        """#

    private static let requests = #"""
        extension APIConfiguration {
            /// Describes a call as OpenAPI writes parameters: lists as repeated names, Booleans as true and false.
            ///
            /// Nested parameters are written with brackets. The elements of a list within them, and of `deepLists`, have
            /// indexes.
            init(
                _ method: HTTPMethod,
                _ path: String,
                values: Parameters = [:],
                query: Parameters = [:],
                headers: Parameters = [:],
                body: RequestBody = .none,
                deepLists: Set<String> = []
            ) {
                self.init(path: path, method: method, query: query, body: body)
                pathValues = values
                parameterOptions = .openAPI(deepLists: deepLists)
                for item in headers.items { self.headers[item.key] = item.value.plainText }
            }
        }

        extension ParameterEncodingOptions {
            /// The options for a query or a form.
            static func openAPI(deepLists: Set<String>) -> ParameterEncodingOptions {
                var options = ParameterEncodingOptions()
                options.booleans = .literal
                options.arrays = .custom { name, index in
                    name.hasSuffix("]") || deepLists.contains(name) ? "\(name)[\(index)]" : name
                }
                return options
            }
        }

        extension ParameterValue {
            /// The value as text; the elements of a list are separated by commas.
            var plainText: String? {
                switch self {
                case .null: nil
                case .bool(let value): value ? "true" : "false"
                case .integer(let value): String(value)
                case .unsigned(let value): String(value)
                case .double(let value): String(value)
                case .decimal(let value): "\(value)"
                case .string(let value): value
                case .date(let value): value.formatted(.iso8601)
                case .data(let value): value.base64EncodedString()
                case .array(let values): values.compactMap(\.plainText).joined(separator: ",")
                case .dictionary(let values):
                    values.items.map { "\($0.key),\($0.value.plainText ?? "")" }.joined(separator: ",")
                }
            }
        }

        extension Array where Element: ParameterConvertible {
            /// The elements as one text.
            func joined(by separator: String) -> String {
                compactMap(\.parameterValue.plainText).joined(separator: separator)
            }
        }

        /// A value of any type as a parameter.
        func parameter(_ value: some Encodable & Sendable) throws(APIError) -> ParameterValue {
            do throws(RequestError) {
                return try ParameterValue(encoding: value)
            } catch {
                throw APIError(error)
            }
        }

        /// A value of any type as JSON text; `nil` if there is none.
        func jsonText(_ value: (some Encodable)?) throws(APIError) -> String? {
            guard let value else { return nil }
            do {
                let encoder = JSONEncoder()
                encoder.dateEncodingStrategy = .iso8601
                return String(decoding: try encoder.encode(value), as: UTF8.self)
            } catch {
                throw APIError(error)
            }
        }
        """#
}
