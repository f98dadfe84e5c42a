// Generated from shop.yaml: Shop, version 1.4, OpenAPI 3.1.0.
// Command: yard generate shop.yaml --name Shop
// Changes to this file are lost when it is generated again.

import Foundation
import Switchyard

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

/// A text that is either a value listed in the document or an unlisted value.
protocol OpenEnum: FieldValue, Encodable, Hashable, ParameterConvertible, CustomStringConvertible {
    /// The values that the document lists, by their texts.
    static var known: [String: Self] { get }
    /// Returns the case for a text that the document does not list.
    static func other(_ text: String) -> Self
    /// The text.
    var rawValue: String { get }
}

extension OpenEnum {
    /// Creates the case for a text.
    init(_ text: String) { self = Self.known[text] ?? .other(text) }

    /// Reads a text.
    init(from decoder: any Decoder) throws { self.init(try String(from: decoder)) }

    /// Writes the text.
    func encode(to encoder: any Encoder) throws { try rawValue.encode(to: encoder) }

    /// The text.
    var description: String { rawValue }
    /// The text as a parameter.
    var parameterValue: ParameterValue { .string(rawValue) }
    /// The text of a listed case.
    var knownText: String { Self.known.first { $0.value == self }?.key ?? "" }

    /// Returns a table of texts and their cases.
    static func table(_ rows: (texts: Words, cases: [Self])...) -> [String: Self] {
        Dictionary(rows.flatMap { zip($0.texts.texts, $0.cases) }) { first, _ in first }
    }
}

extension Decoder {
    /// Decodes the whole value.
    func value<Value: Decodable>() throws -> Value { try singleValueContainer().decode(Value.self) }

    /// Returns the text of the discriminator member, or `nil` if there is none.
    func tag(_ name: FieldName) -> String? {
        try? container(keyedBy: FieldName.self).decodeIfPresent(String.self, forKey: name)
    }
}

/// A union that is decoded as the first of its cases that matches.
protocol DecodableUnion: FieldValue {
    /// The cases, in the order in which they are tried.
    static var cases: UnionCases<Self> { get }
    /// Returns the case of a value that matches no other case.
    static func other(_ value: JSONValue) -> Self
}

extension DecodableUnion {
    /// Reads the case whose tag the discriminator has, otherwise the first case without tags that matches.
    ///
    /// If no case matches, the value is kept as JSON.
    init(from decoder: any Decoder) throws {
        let tag = Self.cases.tag.flatMap { decoder.tag($0) }
        if let tag, let item = Self.cases.all.first(where: { $0.tags.contains(tag) }) {
            self = try item.read(decoder)
            return
        }
        for item in Self.cases.all where item.tags.isEmpty {
            guard let value = try? item.read(decoder) else { continue }
            self = value
            return
        }
        self = .other(try decoder.value())
    }
}

/// The cases of a union.
struct UnionCases<Union: Sendable>: Sendable {
    /// The name of the discriminator member, or `nil` if there is none.
    let tag: FieldName?
    /// The cases, in the order in which they are tried.
    let all: [UnionCase<Union>]

    /// Creates a list of cases.
    init(tag: FieldName? = nil, _ all: UnionCase<Union>...) {
        self.tag = tag
        self.all = all
    }
}

/// A case of a union.
struct UnionCase<Union: Sendable>: Sendable {
    /// The texts of the discriminator that select the case.
    let tags: [String]
    /// A function that decodes the case.
    let read: @Sendable (any Decoder) throws -> Union

    /// Returns a case whose value is decoded and then passed to a function that creates the union.
    static func of<Value: FieldValue>(_ make: @escaping @Sendable (Value) -> Union, tags: Words...) -> Self {
        Self(tags: tags.flatMap(\.texts)) { make(try $0.value()) }
    }
}

/// A union that is encoded as the value of its case.
protocol EncodableUnion: Encodable, Sendable {
    /// The value of the case.
    var content: any Encodable { get }
}

extension EncodableUnion {
    /// Writes the value of the case.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(content)
    }
}

/// A calendar day without a time and a time zone, such as `2026-11-28`.
struct CalendarDay: FieldValue, Encodable, Hashable, Comparable, ParameterConvertible, CustomStringConvertible {
    /// The year.
    let year: Int
    /// The month, from 1.
    let month: Int
    /// The day of the month, from 1.
    let day: Int

    /// Creates a day without checking whether it exists in the calendar.
    init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// Creates a day from a text, or returns `nil` if the text is not a day (RFC 3339 section 5.6).
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.count) == [4, 2, 2], parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }),
            let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2]),
            (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        self.init(year: year, month: month, day: day)
    }

    /// Reads a day.
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let day = CalendarDay(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an RFC 3339 date")
        }
        self = day
    }

    /// Writes the day.
    func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }

    /// The day as text.
    var description: String {
        let digits = { (number: Int, count: Int) in
            String(repeating: "0", count: max(0, count - String(number).count)) + String(number)
        }
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
    }
    /// The day as a parameter.
    var parameterValue: ParameterValue { .string(description) }

    /// Whether a day is before another.
    static func < (left: CalendarDay, right: CalendarDay) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }
}

/// A wrapper that stores a value by reference, so a type can contain itself.
@propertyWrapper struct Indirect<Value: Sendable>: Sendable {
    private final class Storage: Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    private var storage: Storage

    /// Creates a reference to a value.
    init(wrappedValue: Value) { storage = Storage(wrappedValue) }

    /// The value.
    var wrappedValue: Value {
        get { storage.value }
        set { storage = Storage(newValue) }
    }
}

extension Indirect: Equatable where Value: Equatable {
    /// Whether the values are equal.
    static func == (left: Indirect, right: Indirect) -> Bool { left.wrappedValue == right.wrappedValue }
}

extension Indirect: Hashable where Value: Hashable {
    /// Hashes the value.
    func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}

extension Parameters {
    /// Returns cookies as the value of the header field `Cookie`, or `nil` if no cookie has a value.
    static func cookies(_ cookies: Parameters) -> String? {
        let pairs = cookies.items.compactMap { item in item.value.cookieText.map { "\(item.key)=\($0)" } }
        return pairs.isEmpty ? nil : pairs.joined(separator: "; ")
    }
}

extension ParameterValue {
    /// The value as the text of a cookie, with the elements of a list separated by commas.
    fileprivate var cookieText: String? {
        switch self {
        case .array(let values): values.compactMap(\.cookieText).joined(by: ",")
        case .dictionary(let values):
            values.items.compactMap { item in item.value.cookieText.map { "\(item.key.cookieText),\($0)" } }
                .joined(by: ",")
        default: plainText?.cookieText
        }
    }
}

extension String {
    /// The text, percent-encoded if it contains a character that a cookie cannot contain (RFC 6265 section 4.1.1).
    fileprivate var cookieText: String {
        let allowed = CharacterSet(charactersIn: "!"..."~").subtracting(CharacterSet(charactersIn: "\",;\\"))
        if unicodeScalars.allSatisfy(allowed.contains) { return self }
        let encoded = allowed.subtracting(CharacterSet(charactersIn: "%+"))
        return addingPercentEncoding(withAllowedCharacters: encoded) ?? self
    }
}

extension RequestBody {
    /// Returns a value of any type as a web form, or no body if `value` is `nil`.
    static func form(
        encoding value: (some Encodable & Sendable)?,
        deepLists: Set<String> = [],
        exploded: Set<String> = [],
        joined: [String: String] = [:]
    ) throws(APIError) -> RequestBody {
        guard let value else { return .none }
        do throws(RequestError) {
            let fields = try Parameters(encoding: value).joining(joined).exploding(exploded)
            return .form(fields.sorted(deepLists: deepLists), options: .openAPI)
        } catch {
            throw APIError(error)
        }
    }
}

extension Parameters {
    /// Returns the parameters with one text, which has a separator between its parts, in place of each value.
    fileprivate func joining(_ separators: [String: String]) -> Parameters {
        guard !separators.isEmpty else { return self }
        return Parameters(
            items.map { item in
                guard let separator = separators[item.key] else { return item }
                let text = item.value.joined(by: separator)
                return Item(key: item.key, value: text.map { .string($0) } ?? .null)
            }
        )
    }
}

/// A file of a form: bytes in memory, or a file on disk that is read while it is sent.
enum FilePart: Sendable {
    /// Bytes in memory.
    case data(Data, fileName: String = "file", contentType: String? = nil)
    /// A file on disk.
    case file(URL, fileName: String? = nil, contentType: String? = nil)

    /// Returns the part with a name.
    func part(_ name: String) -> MultipartPart {
        switch self {
        case .data(let data, let fileName, let type): .data(data, name: name, fileName: fileName, contentType: type)
        case .file(let url, let fileName, let type): .file(url, name: name, fileName: fileName, contentType: type)
        }
    }
}

/// A body that is a multipart form.
protocol MultipartBody: Sendable {
    /// Adds the parts to a form.
    func add(to form: inout MultipartForm) throws(APIError)
}

extension RequestBody {
    /// Returns the form of a body, or no body if `body` is `nil`.
    static func multipart(_ body: (some MultipartBody)?) throws(APIError) -> RequestBody {
        guard let body else { return .none }
        var form = MultipartForm()
        try body.add(to: &form)
        return .multipart(form)
    }
}

extension MultipartForm {
    /// Adds a field, a field for each element of a list, or no field for `nil`.
    mutating func add(_ name: String, _ value: (any ParameterConvertible)?, contentType: String? = nil) {
        guard let value = value?.parameterValue else { return }
        let values = if case .array(let values) = value { values } else { [value] }
        for text in values.compactMap(\.plainText) {
            append(MultipartPart(name: name, contentType: contentType, content: .data(Data(text.utf8))))
        }
    }

    /// Adds files.
    mutating func add(_ name: String, files: [FilePart]?) {
        for file in files ?? [] { append(file.part(name)) }
    }

    /// Adds a value as JSON, unless it is `nil`.
    mutating func add(
        _ name: String,
        json value: (some Encodable)?,
        contentType: String = "application/json"
    ) throws(APIError) {
        guard let text = try jsonText(value) else { return }
        append(MultipartPart(name: name, contentType: contentType, content: .data(Data(text.utf8))))
    }
}

/// A list that a service returns page by page.
///
/// ``recorder`` stores the loaded items. ``all`` reads the whole list from its first page.
struct PagedList<Item: Sendable>: Sendable {
    /// The recorder of the items and of the position of the next page.
    let recorder: PageRecorder<Item>
    private let load: @Sendable (PageRequest) async throws -> Page<Item>

    /// Creates a list.
    init(
        pageSize: Int,
        strategy: PageStrategy<Item>,
        load: @escaping @Sendable (PageRequest) async throws -> Page<Item>
    ) {
        recorder = PageRecorder(pageSize: pageSize, strategy: strategy)
        self.load = load
    }

    /// Loads the first page and replaces all items by its items.
    @discardableResult func refresh() async throws(APIError) -> [Item] { try await recorder.refresh(load) }

    /// Loads the next page and returns its items.
    @discardableResult func loadMore() async throws(APIError) -> [Item] { try await recorder.loadMore(load) }

    /// All items of the list, starting with the first page.
    ///
    /// One page is loaded ahead of the reader.
    var all: ItemSequence<Item> { recorder.allItems(ahead: 1, load) }
}

extension APIConfiguration {
    /// Returns the configuration that loads the page at a link, or this configuration if there is no link.
    func following(_ link: String?) -> APIConfiguration {
        guard let link else { return self }
        var call = self
        call.path = link
        call.pathValues = [:]
        call.query = [:]
        return call
    }
}

extension APIManager {
    /// Loads a page, with the link to the next page from its body or, otherwise, from the header field `Link`.
    ///
    /// A link below the base URL becomes a path, so the next page can come from another server.
    func linkedPage<Value: Decodable & Sendable, Item: Sendable>(
        _ type: Value.Type,
        _ call: APIConfiguration,
        _ content: @Sendable (Value) -> Page<Item>
    ) async throws(APIError) -> Page<Item> {
        let response = try await response(type, for: call)
        let url = response.context?.url?.text
        var page = content(response.value)
        if page.nextLink == nil {
            page = Page(page.items, linkHeader: response.headers.values(of: "Link"), url: url ?? "")
        }
        page.url = url
        return page.relative(to: client)
    }
}
