/// How content is to be shown, and under which name it is to be kept: the field `Content-Disposition` (RFC 6266).
///
/// ### Use
///
///     let name = response.headers.contentDisposition?.safeFileName ?? "download"
///
/// Reading is lenient, since servers are not careful; a file name in the extended form (`filename*`, RFC 8187) comes
/// before the plain one. Writing is strict.
public struct ContentDisposition: Sendable, Hashable {
    /// What stands in place of the extended form for readers that do not know it.
    public enum Fallback: Sendable, Hashable {
        /// The name with `?` for every character that is not ASCII.
        case replaced
        /// Nothing: such readers get no name.
        case none
        /// Another name; what is not ASCII in it is replaced, too.
        case name(String)
    }

    /// One parameter as it was written.
    struct Parameter: Sendable, Hashable {
        var name: String
        var value: String
        var isQuoted: Bool
    }

    /// `attachment`, `inline`, `form-data`; in lower case when it was read.
    public let type: String
    let parameters: [Parameter]

    init(type: String, parameters: [Parameter]) {
        self.type = type
        self.parameters = parameters
    }

    /// Reads the value of a field.
    ///
    /// - Parameter value: The value; of a parameter that repeats, the first counts.
    public init(parsing value: String) {
        var parser = ContentDispositionParser(value)
        self = parser.parse()
    }

    /// Creates a disposition to be sent.
    ///
    /// - Parameters:
    ///   - type: `attachment` unless given; `nil` comes back for one that is no token.
    ///   - fileName: The name of the file, in any script.
    ///   - fallback: What readers see that do not know the extended form.
    public init?(type: String = "attachment", fileName: String? = nil, fallback: Fallback = .replaced) {
        guard HTTPToken.isValid(type) else { return nil }
        self.type = type
        parameters = fileName.map { ContentDispositionWriter.parameters(of: $0, fallback: fallback) } ?? []
    }

    /// The name of the file as it was given; may hold anything, path separators included.
    public var fileName: String? { self["filename"] }

    /// The value of a parameter, by its name in lower case; the extended form first.
    public subscript(name: String) -> String? {
        let extended = parameters.first { $0.name == "\(name)*" && !$0.isQuoted }
        if let decoded = extended.flatMap({ ExtendedValue.decoded($0.value) }) { return decoded }
        return parameters.first { $0.name == name }?.value
    }

    /// The name of the file, fit for a folder of one's own: without path, control characters and dots in front.
    ///
    /// `nil` when nothing is left. It may still be the name of a file that is there already.
    public var safeFileName: String? {
        let name = SuggestedFileName.safe(fileName ?? "")
        return name.isEmpty ? nil : name
    }

    /// The value of the field.
    public var text: String {
        parameters.reduce(type) { text, parameter in
            let value = parameter.isQuoted ? parameter.value.inQuotes : parameter.value
            return "\(text); \(parameter.name)=\(value)"
        }
    }
}

extension HTTPHeaders {
    /// How content is to be shown and named; `nil` when the field is missing.
    public var contentDisposition: ContentDisposition? {
        self["Content-Disposition"].map(ContentDisposition.init(parsing:))
    }
}
