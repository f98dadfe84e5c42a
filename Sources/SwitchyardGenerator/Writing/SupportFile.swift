/// Generates the support file: the code that the other generated files share.
enum SupportFile {
    /// Returns the code of the file without its header comment.
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
            /// Returns the members of an object.
            func fields() throws -> KeyedDecodingContainer<FieldName> { try container(keyedBy: FieldName.self) }
        }

        extension KeyedDecodingContainer<FieldName> {
            /// Returns the value of a required member.
            func value<Value: Decodable>(_ name: FieldName) throws -> Value { try decode(Value.self, forKey: name) }

            /// Returns the value of a member, or `nil` if the member is missing or null.
            func optional<Value: Decodable>(_ name: FieldName) throws -> Value? {
                try decodeIfPresent(Value.self, forKey: name)
            }

            /// Returns the date of a member in seconds since 1970.
            func unixTime(_ name: FieldName) throws -> Date {
                Date(timeIntervalSince1970: try decode(Double.self, forKey: name))
            }

            /// Returns the date of a member in seconds since 1970, or `nil` if the member is missing or null.
            func optionalUnixTime(_ name: FieldName) throws -> Date? {
                try decodeIfPresent(Double.self, forKey: name).map(Date.init(timeIntervalSince1970:))
            }

            /// Returns the HTTP or e-mail date of a member.
            func httpDate(_ name: FieldName) throws -> Date {
                let text = try decode(String.self, forKey: name)
                if let date = HTTPDate.date(from: text) { return date }
                // E-mail uses the zone +0000 (RFC 2822), and HTTP uses the zone GMT.
                if text.hasSuffix(" +0000"), let date = HTTPDate.date(from: text.dropLast(5) + "GMT") { return date }
                throw DecodingError.dataCorruptedError(forKey: name, in: self, debugDescription: "not an RFC 2822 date")
            }

            /// Returns the HTTP or e-mail date of a member, or `nil` if the member is missing or null.
            func optionalHTTPDate(_ name: FieldName) throws -> Date? {
                try decodeIfPresent(String.self, forKey: name) == nil ? nil : try httpDate(name)
            }

            /// Returns the members whose names are not in `names`.
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

            /// Writes a required member, with null for `nil`.
            mutating func writeOrNull(_ value: (some Encodable)?, _ name: FieldName) throws {
                try encode(value, forKey: name)
            }

            /// Writes a date in seconds since 1970, unless the date is `nil`.
            mutating func writeUnixTime(_ date: Date?, _ name: FieldName) throws {
                try encodeIfPresent(date?.unixSeconds, forKey: name)
            }

            /// Writes a date in the format of HTTP, unless the date is `nil`.
            mutating func writeHTTPDate(_ date: Date?, _ name: FieldName) throws {
                try encodeIfPresent(date.flatMap { HTTPDate.text(for: $0) }, forKey: name)
            }

            /// Writes additional members.
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
            /// Creates the configuration of a call with parameters in the format of OpenAPI.
            ///
            /// A list is a repeated name, and a Boolean is true or false. Nested parameters are written with brackets.
            /// The elements of nested lists and of lists in `deepLists` have indexes.
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
            /// Returns the options for a query or a form.
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
            /// The value as text, with the elements of a list separated by commas.
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
            /// Returns the elements as one text.
            func joined(by separator: String) -> String {
                compactMap(\.parameterValue.plainText).joined(separator: separator)
            }
        }

        /// Returns a value of any type as a parameter.
        func parameter(_ value: some Encodable & Sendable) throws(APIError) -> ParameterValue {
            do throws(RequestError) {
                return try ParameterValue(encoding: value)
            } catch {
                throw APIError(error)
            }
        }

        /// Returns a value of any type as JSON text, or `nil` if `value` is `nil`.
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
