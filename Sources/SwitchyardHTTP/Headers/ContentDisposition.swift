/// The value of the field `Content-Disposition` (RFC 6266): how content is presented, and the file name under which it
/// is stored.
///
/// ### Use
///
///     let name = response.headers.contentDisposition?.safeFileName ?? "download"
///
/// Parsing is lenient, because many servers send invalid values. A file name in the extended form (`filename*`, RFC
/// 8187) takes precedence over the plain form. Writing is strict.
package struct ContentDisposition: Sendable, Hashable {
    /// The file name in the plain form (`filename`), for recipients that do not support the extended form.
    package enum Fallback: Sendable, Hashable {
        /// The file name with `?` in place of every non-ASCII character.
        case replaced
        /// No plain file name, unless the file name is plain ASCII.
        case none
        /// Another name, in which `?` also replaces every non-ASCII character.
        case name(String)
    }

    /// A parameter as written in the field.
    struct Parameter: Sendable, Hashable {
        var name: String
        var value: String
        var isQuoted: Bool
    }

    /// The type, such as `attachment`, `inline` or `form-data`.
    ///
    /// A parsed type is in lower case.
    package let type: String
    let parameters: [Parameter]

    init(type: String, parameters: [Parameter]) {
        self.type = type
        self.parameters = parameters
    }

    /// Parses the value of a field.
    ///
    /// - Parameter value: The value. If a parameter is repeated, the first one wins.
    package init(parsing value: String) {
        var parser = ContentDispositionParser(value)
        self = parser.parse()
    }

    /// Creates a disposition to send.
    ///
    /// - Parameters:
    ///   - type: The type; `attachment` by default. If it is empty or contains a separator or a space, the result is
    ///     `nil`.
    ///   - fileName: The file name, in any script.
    ///   - fallback: The plain file name for recipients that do not support the extended form.
    package init?(type: String = "attachment", fileName: String? = nil, fallback: Fallback = .replaced) {
        guard HTTPToken.isValid(type) else { return nil }
        self.type = type
        parameters = fileName.map { ContentDispositionWriter.parameters(of: $0, fallback: fallback) } ?? []
    }

    /// The file name as received, which may contain any characters, including path separators.
    package var fileName: String? { self["filename"] }

    /// The value of a parameter by its name in lower case.
    ///
    /// The extended form takes precedence.
    package subscript(name: String) -> String? {
        let extended = parameters.first { $0.name == "\(name)*" && !$0.isQuoted }
        if let decoded = extended.flatMap({ ExtendedValue.decoded($0.value) }) { return decoded }
        return parameters.first { $0.name == name }?.value
    }

    /// The file name without path, control characters and leading dots, for use in a folder of the app.
    ///
    /// The value is `nil` if no characters remain. A file with this name may already exist.
    package var safeFileName: String? {
        let name = SuggestedFileName.safe(fileName ?? "")
        return name.isEmpty ? nil : name
    }

    /// The value of the field.
    package var text: String {
        parameters.reduce(type) { text, parameter in
            let value = parameter.isQuoted ? parameter.value.inQuotes : parameter.value
            return "\(text); \(parameter.name)=\(value)"
        }
    }
}

extension HTTPHeaders {
    /// The parsed `Content-Disposition` field, or `nil` if the field is missing.
    package var contentDisposition: ContentDisposition? {
        self["Content-Disposition"].map(ContentDisposition.init(parsing:))
    }
}
