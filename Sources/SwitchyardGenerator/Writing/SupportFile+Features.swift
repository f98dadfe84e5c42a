/// The parts of the support file that only some documents need.
extension SupportFile {
    static let openEnum = #"""
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
        """#

    static let unions = #"""
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
        """#

    static let days = #"""
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
        """#

    static let boxes = #"""
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
        """#

    static let cookies = #"""
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
        """#

    static let forms = #"""
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
        """#

    static let multipart = #"""
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
        """#

    static let lists = #"""
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
        """#
}
