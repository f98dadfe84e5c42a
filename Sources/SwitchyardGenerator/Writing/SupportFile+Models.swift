/// The part of the support file that decodes and encodes structures.
extension SupportFile {
    static let decoding = #"""
        /// A model that is decoded from a JSON object.
        protocol ObjectDecodable: FieldValue {
            /// The members of the object, in the order of the parameters of the model's initializer.
            static var fields: Fields<Self> { get }
        }

        extension ObjectDecodable {
            /// Reads a model.
            init(from decoder: any Decoder) throws { self = try Self.fields.model(decoder) }
        }

        /// The members from which a model is made.
        struct Fields<Model: Sendable>: Sendable {
            /// Reads a model.
            let model: @Sendable (any Decoder) throws -> Model

            /// Creates the members from the initializer of the model and the names of its parameters in JSON.
            ///
            /// A last parameter without a name receives all other members. Dates are in the format of RFC 3339 unless
            /// their names are in `unixTimes` or `emailDates`.
            ///
            /// The first parameter is separate because a model whose properties all have defaults also has an
            /// initializer without parameters.
            init<First: FieldValue, each Value: FieldValue>(
                _ make: @escaping @Sendable (First, repeat each Value) -> Model,
                _ names: Words...,
                unixTimes: Words...,
                emailDates: Words...
            ) {
                let names = names.flatMap(\.texts).map { FieldName(stringValue: $0) }
                let (unixTimes, emailDates) = (unixTimes.flatMap(\.texts), emailDates.flatMap(\.texts))
                model = { decoder in
                    let fields = try decoder.container(keyedBy: FieldName.self)
                    var object = FieldReader(fields, names, unixTimes: unixTimes, emailDates: emailDates)
                    return make(try object.next(First.self), repeat try object.next((each Value).self))
                }
            }

            /// Creates the members of a model without properties.
            init(_ make: @escaping @Sendable () -> Model) {
                model = { decoder in
                    _ = try decoder.container(keyedBy: FieldName.self)
                    return make()
                }
            }
        }

        /// A reader of the members of a JSON object.
        struct FieldReader {
            /// The members.
            let fields: KeyedDecodingContainer<FieldName>
            /// The names of the members of the model.
            let names: [FieldName]
            private let unixTimes: [String]
            private let emailDates: [String]
            private var index = 0

            /// Creates a reader at the first name.
            init(
                _ fields: KeyedDecodingContainer<FieldName>,
                _ names: [FieldName],
                unixTimes: [String],
                emailDates: [String]
            ) {
                self.fields = fields
                self.names = names
                self.unixTimes = unixTimes
                self.emailDates = emailDates
            }

            /// Returns the value of the next member, or all members that have no name in the model.
            mutating func next<Value: FieldValue>(_ type: Value.Type) throws -> Value {
                guard index < names.count else { return try Value.readOthers(from: self) }
                defer { index += 1 }
                return try Value.read(names[index], from: self)
            }

            /// Returns the date of a member.
            func date(_ name: FieldName) throws -> Date {
                if unixTimes.contains(name.stringValue) {
                    return Date(timeIntervalSince1970: try fields.decode(Double.self, forKey: name))
                }
                guard emailDates.contains(name.stringValue) else { return try fields.decode(Date.self, forKey: name) }
                if let date = Date(rfc2822: try fields.decode(String.self, forKey: name)) { return date }
                throw DecodingError.dataCorruptedError(forKey: name, in: fields, debugDescription: "not an RFC 2822 date")
            }
        }

        /// A type that the properties of models have.
        protocol FieldValue: Decodable, Sendable {
            /// Returns the value of a required member.
            static func read(_ name: FieldName, from object: FieldReader) throws -> Self
            /// Returns the value of a member, or `nil` if the member is missing or null.
            static func readIfPresent(_ name: FieldName, from object: FieldReader) throws -> Self?
            /// Returns the members that have no name in the model.
            static func readOthers(from object: FieldReader) throws -> Self
        }

        extension FieldValue {
            /// Returns the value of a required member.
            static func read(_ name: FieldName, from object: FieldReader) throws -> Self {
                try object.fields.decode(Self.self, forKey: name)
            }

            /// Returns the value of a member, or `nil` if the member is missing or null.
            static func readIfPresent(_ name: FieldName, from object: FieldReader) throws -> Self? {
                try object.fields.decodeIfPresent(Self.self, forKey: name)
            }

            /// Throws an error, because only a dictionary contains the other members.
            static func readOthers(from object: FieldReader) throws -> Self {
                let context = DecodingError.Context(codingPath: object.fields.codingPath, debugDescription: "no name")
                throw DecodingError.dataCorrupted(context)
            }
        }

        extension Optional: FieldValue where Wrapped: FieldValue {
            /// Returns the value of a member, or `nil` if the member is missing or null.
            static func read(_ name: FieldName, from object: FieldReader) throws -> Wrapped? {
                try Wrapped.readIfPresent(name, from: object)
            }
        }

        extension Date: FieldValue {
            /// Returns the date of a required member.
            static func read(_ name: FieldName, from object: FieldReader) throws -> Date { try object.date(name) }

            /// Returns the date of a member, or `nil` if the member is missing or null.
            static func readIfPresent(_ name: FieldName, from object: FieldReader) throws -> Date? {
                let isMissing = try !object.fields.contains(name) || object.fields.decodeNil(forKey: name)
                return isMissing ? nil : try object.date(name)
            }
        }

        extension Dictionary: FieldValue where Key == String, Value: FieldValue {
            /// Returns the members that have no name in the model.
            static func readOthers(from object: FieldReader) throws -> [String: Value] {
                let names = Set(object.names.map(\.stringValue))
                var others: [String: Value] = [:]
                for key in object.fields.allKeys where !names.contains(key.stringValue) {
                    others[key.stringValue] = try object.fields.decode(Value.self, forKey: key)
                }
                return others
            }
        }

        extension Array: FieldValue where Element: FieldValue {}
        extension Bool: FieldValue {}
        extension Int: FieldValue {}
        extension Int64: FieldValue {}
        extension Double: FieldValue {}
        extension String: FieldValue {}
        extension Data: FieldValue {}
        extension JSONValue: FieldValue {}
        """#

    static let encoding = #"""
        extension KeyedEncodingContainer<FieldName> {
            /// Writes members, except members whose value is `nil`.
            mutating func write(_ names: Words, _ values: (any Encodable)?...) throws {
                for (name, value) in zip(names.texts, values) {
                    if let value { try encode(value, forKey: FieldName(stringValue: name)) }
                }
            }

            /// Writes a required member, with null for `nil`.
            mutating func writeOrNull(_ name: FieldName, _ value: (some Encodable)?) throws {
                try encode(value, forKey: name)
            }

            /// Writes a date in seconds since 1970, unless the date is `nil`.
            mutating func writeUnixTime(_ name: FieldName, _ date: Date?) throws {
                try encodeIfPresent(date?.unixSeconds, forKey: name)
            }

            /// Writes a date in the format of RFC 2822, unless the date is `nil`.
            mutating func writeEmailDate(_ name: FieldName, _ date: Date?) throws {
                try encodeIfPresent(date?.rfc2822, forKey: name)
            }

            /// Writes additional members.
            mutating func write<Value: Encodable>(others: [String: Value]) throws {
                for (name, value) in others { try encode(value, forKey: FieldName(stringValue: name)) }
            }
        }
        """#
}
