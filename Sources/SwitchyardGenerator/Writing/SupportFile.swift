/// Generates the support file: the code that the other generated files share.
enum SupportFile {
    /// Returns the code of the file without its header comment.
    static func code(_ use: Use) -> [String] {
        var parts = [names, dates, requests]
        if use.hasDecoding { parts.append(decoding) }
        if use.hasEncoding { parts.append(encoding) }
        if use.hasEnums { parts.append(openEnum) }
        if use.hasUnions { parts.append(unions) }
        if use.hasDays { parts.append(days) }
        if use.hasBoxes { parts.append(boxes) }
        if use.hasCookies { parts.append(cookies) }
        if use.hasForms { parts.append(forms) }
        if use.hasParts { parts.append(multipart) }
        if use.hasLists { parts.append(lists) }
        return parts.flatMap { [""] + $0.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }
    }

    /// The parts of the support file that a client needs.
    struct Use {
        /// Whether a structure is decoded.
        var hasDecoding = false
        /// Whether a structure is encoded.
        var hasEncoding = false
        var hasEnums = false
        var hasUnions = false
        var hasDays = false
        var hasBoxes = false
        var hasCookies = false
        var hasForms = false
        var hasParts = false
        var hasLists = false
    }

    private static let names = #"""
        /// The name of a member of a JSON object.
        struct FieldName: CodingKey, ExpressibleByStringLiteral {
            /// The name.
            let stringValue: String
            /// No number, because a member of an object has none.
            var intValue: Int? { nil }

            /// Creates a name.
            init(stringLiteral value: String) { stringValue = value }
            /// Creates a name.
            init(stringValue: String) { self.stringValue = stringValue }
            /// Returns `nil`, because a number is not the name of a member.
            init?(intValue: Int) { nil }
        }

        /// A list of texts, which is written as one text with spaces between them.
        ///
        /// A list with a text that contains a space is written as an array.
        struct Words: Sendable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
            /// The texts.
            let texts: [String]

            /// Creates a list from a text with spaces.
            init(stringLiteral text: String) { texts = text.split(separator: " ").map(String.init) }

            /// Creates a list from its texts.
            init(arrayLiteral texts: String...) { self.texts = texts }
        }
        """#

    private static let dates = #"""
        extension Date {
            /// The whole seconds since 1970.
            var unixSeconds: Int { Int(timeIntervalSince1970.rounded(.down)) }

            private static let months = [
                "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
            ]
            private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
            private static let namesOfUTC = ["GMT", "UTC", "UT", "Z"]

            /// Creates a date from a text such as `Tue, 03 Mar 2026 10:00:00 +0000`, or returns `nil` (RFC 2822 section 3.3).
            init?(rfc2822 text: String) {
                var words = Self.words(of: text, between: " ,:")
                if words.first?.first?.isLetter == true { words.removeFirst() }
                guard words.count == 7, let month = Self.months.firstIndex(of: words[1]),
                    let date = try? Date(Self.iso8601(words, month: month + 1), strategy: .iso8601)
                else { return nil }
                self = date
            }

            /// The date as a text such as `Tue, 03 Mar 2026 10:00:00 +0000`.
            var rfc2822: String {
                let parts = Self.words(of: formatted(.iso8601), between: "-T:Z")
                let days = Int((timeIntervalSince1970 / 86_400).rounded(.down))
                let weekday = Self.weekdays[((days + 4) % 7 + 7) % 7]
                guard parts.count == 6, let month = Int(parts[1]), (1...12).contains(month) else { return "" }
                let day = "\(weekday), \(parts[2]) \(Self.months[month - 1]) \(parts[0])"
                return "\(day) \(parts[3...5].joined(separator: ":")) +0000"
            }

            private static func iso8601(_ words: [String], month: Int) -> String {
                let zone = namesOfUTC.contains(words[6]) ? "Z" : words[6]
                let day = words[0].count == 1 ? "0" + words[0] : words[0]
                let time = words[3...5].joined(separator: ":")
                return "\(words[2])-\(twoDigits(month))-\(day)T\(time)\(zone)"
            }

            private static func words(of text: String, between separators: String) -> [String] {
                text.split { (character: Character) -> Bool in separators.contains(character) }.map { String($0) }
            }

            private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        }
        """#

    private static let requests = #"""
        extension APIConfiguration {
            /// Creates the configuration of a call with parameters in the format of OpenAPI.
            ///
            /// A list is written as a repeated name, a Boolean as true or false, and nested parameters with brackets.
            /// The elements of nested lists and of lists in `deepLists` have indexes. The members of objects in
            /// `exploded` are written as parameters of their own.
            init(
                _ method: HTTPMethod,
                _ path: String,
                values: Parameters = [:],
                query: Parameters = [:],
                headers: Parameters = [:],
                body: RequestBody = .none,
                deepLists: Set<String> = [],
                exploded: Set<String> = []
            ) {
                let query = query.exploding(exploded).sorted(deepLists: deepLists)
                self.init(path: path, method: method, query: query, body: body)
                pathValues = values
                parameterOptions = .openAPI
                for item in headers.items { self.headers[item.key] = item.value.plainText }
            }
        }

        extension APIManager {
            /// Makes a call with parameters in the format of OpenAPI, and returns its value.
            func value<Value: Decodable & Sendable>(
                _ method: HTTPMethod,
                _ path: String,
                values: Parameters = [:],
                query: Parameters = [:],
                headers: Parameters = [:],
                body: RequestBody = .none,
                deepLists: Set<String> = [],
                exploded: Set<String> = []
            ) async throws(APIError) -> Value {
                let call = APIConfiguration(
                    method,
                    path,
                    values: values,
                    query: query,
                    headers: headers,
                    body: body,
                    deepLists: deepLists,
                    exploded: exploded
                )
                return try await value(for: call)
            }
        }

        extension ParameterEncodingOptions {
            /// The options for a query or a form.
            ///
            /// The options contain no closure, because the responses of calls with a closure are not cached.
            static var openAPI: ParameterEncodingOptions {
                var options = ParameterEncodingOptions()
                options.booleans = .literal
                options.arrays = .repeated
                options.sortsKeys = false
                return options
            }
        }

        extension Parameters {
            /// Returns the parameters sorted by name, with indexes for nested lists and for the lists in `deepLists`.
            func sorted(deepLists: Set<String>) -> Parameters {
                sorted { value, name in value.indexed(deepLists.contains(name)) }
            }

            /// Returns the parameters with the members of each object in `names` in place of the object.
            fileprivate func exploding(_ names: Set<String>) -> Parameters {
                guard !names.isEmpty else { return self }
                return Parameters(
                    items.flatMap { item -> [Item] in
                        guard names.contains(item.key), case .dictionary(let members) = item.value else { return [item] }
                        return members.items
                    }
                )
            }

            fileprivate func sorted(_ convert: (ParameterValue, String) -> ParameterValue) -> Parameters {
                let sorted = items.sorted { $0.key < $1.key }
                return Parameters(sorted.map { Item(key: $0.key, value: convert($0.value, $0.key)) })
            }
        }

        extension ParameterValue {
            /// Returns the value with dictionaries in place of nested lists.
            ///
            /// The keys of such a dictionary are the indexes of the list.
            fileprivate func indexed(_ isNested: Bool) -> ParameterValue {
                switch self {
                case .array(let values) where isNested:
                    .dictionary(Parameters(values.enumerated().map { .init(key: "\($0)", value: $1.indexed(true)) }))
                case .array(let values): .array(values.map { $0.indexed(false) })
                case .dictionary(let values): .dictionary(values.sorted { value, _ in value.indexed(true) })
                default: self
                }
            }
        }

        extension ParameterValue {
            /// The value as text, with the elements of a list separated by commas, or `nil` if the value is empty.
            ///
            /// A list or an object without a value other than null counts as undefined (RFC 6570 section 2.3).
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
                case .array, .dictionary: joined(by: ",")
                }
            }

            /// Returns the value as text, with a separator between the elements of a list or between the names and values
            /// of an object.
            func joined(by separator: String) -> String? {
                switch self {
                case .array(let values): values.joined(by: separator)
                case .dictionary(let values): values.members(separator).joined(by: separator)
                default: plainText
                }
            }

            /// The value as text, with the members of an object as pairs such as `R=100`, separated by commas.
            var pairs: String? {
                guard case .dictionary(let values) = self else { return plainText }
                return values.members("=").joined(by: ",")
            }
        }

        extension Parameters {
            /// Returns the members of an object as texts, with a separator between the name and the value.
            fileprivate func members(_ separator: String) -> [String] {
                items.compactMap { item in item.value.plainText.map { item.key + separator + $0 } }
            }
        }

        extension Array where Element: ParameterConvertible {
            /// Returns the elements as one text, or `nil` if no element has a text.
            func joined(by separator: String) -> String? {
                let texts = compactMap(\.parameterValue.plainText)
                return texts.isEmpty ? nil : texts.joined(separator: separator)
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
