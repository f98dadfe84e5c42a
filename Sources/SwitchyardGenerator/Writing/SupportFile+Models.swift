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

        /// The names of the members of a JSON object.
        ///
        /// Dates are in the format of RFC 3339 unless their names are in `unixTimes` or `emailDates`. The names of
        /// required members that may be null are in `nulls`.
        struct FieldNames: Sendable {
            /// The names, in the order of the properties of the model.
            let all: [FieldName]
            /// The names of dates in seconds since 1970.
            let unixTimes: [String]
            /// The names of dates in the format of RFC 2822.
            let emailDates: [String]
            /// The names of members that are written as null, and not left out, if they have no value.
            let nulls: [String]

            /// Creates a list of names.
            init(_ names: Words..., unixTimes: Words..., emailDates: Words..., nulls: Words...) {
                self.init(names: names, unixTimes: unixTimes, emailDates: emailDates, nulls: nulls)
            }

            /// Creates a list of names from several lists.
            init(names: [Words], unixTimes: [Words], emailDates: [Words], nulls: [Words]) {
                all = names.flatMap(\.texts).map { FieldName(stringValue: $0) }
                self.unixTimes = unixTimes.flatMap(\.texts)
                self.emailDates = emailDates.flatMap(\.texts)
                self.nulls = nulls.flatMap(\.texts)
            }
        }

        /// The members from which a model is made.
        struct Fields<Model: Sendable>: Sendable {
            /// The names of the members.
            let names: FieldNames
            /// A function that decodes a model.
            let model: @Sendable (any Decoder) throws -> Model

            /// Creates the members from the initializer of the model and the names of its parameters in JSON.
            ///
            /// A last parameter without a name receives all other members.
            ///
            /// The first parameter is separate because a model whose properties all have defaults also has an
            /// initializer without parameters.
            init<First: FieldValue, each Value: FieldValue>(
                _ make: @escaping @Sendable (First, repeat each Value) -> Model,
                _ names: Words...,
                unixTimes: Words...,
                emailDates: Words...,
                nulls: Words...
            ) {
                let names = FieldNames(names: names, unixTimes: unixTimes, emailDates: emailDates, nulls: nulls)
                self.names = names
                model = { decoder in
                    var object = FieldReader(fields: try decoder.container(keyedBy: FieldName.self), names: names)
                    return make(try object.next(First.self), repeat try object.next((each Value).self))
                }
            }

            /// Creates the members of a model without properties.
            init(_ make: @escaping @Sendable () -> Model) {
                names = FieldNames()
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
            let names: FieldNames
            private var index = 0

            /// Creates a reader at the first name.
            init(fields: KeyedDecodingContainer<FieldName>, names: FieldNames) {
                self.fields = fields
                self.names = names
            }

            /// Returns the value of the next member or, after the last name, all members that are not properties.
            mutating func next<Value: FieldValue>(_ type: Value.Type) throws -> Value {
                guard index < names.all.count else { return try Value.readOthers(from: self) }
                defer { index += 1 }
                return try Value.read(names.all[index], from: self)
            }

            /// Returns the date of a member.
            func date(_ name: FieldName) throws -> Date {
                if names.unixTimes.contains(name.stringValue) {
                    return Date(timeIntervalSince1970: try fields.decode(Double.self, forKey: name))
                }
                guard names.emailDates.contains(name.stringValue) else {
                    return try fields.decode(Date.self, forKey: name)
                }
                if let date = Date(rfc2822: try fields.decode(String.self, forKey: name)) { return date }
                throw DecodingError.dataCorruptedError(forKey: name, in: fields, debugDescription: "not an RFC 2822 date")
            }
        }

        /// A type that the properties of models can have.
        protocol FieldValue: Decodable, Sendable {
            /// Returns the value of a required member.
            static func read(_ name: FieldName, from object: FieldReader) throws -> Self
            /// Returns the value of a member, or `nil` if the member is missing or null.
            static func readIfPresent(_ name: FieldName, from object: FieldReader) throws -> Self?
            /// Returns the members of the object that are not properties of the model.
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
            /// Returns the members of the object that are not properties of the model.
            static func readOthers(from object: FieldReader) throws -> [String: Value] {
                let names = Set(object.names.all.map(\.stringValue))
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
        /// The values of the members of a JSON object, in the order of their names.
        typealias FieldValues = [(any Encodable)?]
        /// A model that is decoded from a JSON object and encoded as one.
        typealias ObjectCodable = ObjectDecodable & ObjectEncodable

        /// A model that is encoded as a JSON object.
        protocol ObjectEncodable: Encodable, Sendable {
            /// The names of the members.
            static var names: FieldNames { get }
            /// The values of the members, in the order of their names.
            var fieldValues: FieldValues { get }
            /// The members that the document does not list.
            var otherValues: [String: any Encodable] { get }
        }

        extension ObjectEncodable {
            /// No members, because most models have only members that the document lists.
            var otherValues: [String: any Encodable] { [:] }

            /// Writes the members, except members whose value is `nil` and that are not required.
            func encode(to encoder: any Encoder) throws {
                var fields = encoder.container(keyedBy: FieldName.self)
                let names = Self.names
                for (name, value) in zip(names.all, fieldValues) {
                    if let value = names.written(value, name) {
                        try fields.encode(value, forKey: name)
                    } else if names.nulls.contains(name.stringValue) {
                        try fields.encodeNil(forKey: name)
                    }
                }
                for (name, value) in otherValues { try fields.encode(value, forKey: FieldName(stringValue: name)) }
            }
        }

        extension ObjectDecodable where Self: ObjectEncodable {
            /// The names of the members.
            static var names: FieldNames { fields.names }
        }

        extension FieldNames {
            /// Returns the value that is written for a member: a date in its format, or any other value unchanged.
            fileprivate func written(_ value: (any Encodable)?, _ name: FieldName) -> (any Encodable)? {
                guard let date = value as? Date else { return value }
                if unixTimes.contains(name.stringValue) { return date.unixSeconds }
                return emailDates.contains(name.stringValue) ? date.rfc2822 : date
            }
        }
        """#
}
