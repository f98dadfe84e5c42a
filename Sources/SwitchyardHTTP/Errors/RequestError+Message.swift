extension RequestError: CustomStringConvertible {
    /// The message.
    public var description: String { message }

    /// What was wrong and where, in one sentence with credentials hidden; never empty.
    public var message: String { Redaction.standard.text(words) }

    private var words: String {
        switch self {
        case .url(let text, let reason): "The URL “\(Redaction.place(text).forMessage)” \(reason.message)."
        case .header(let name, let reason): "The header field “\(name.forMessage)” \(reason.message)."
        case .parameter(let keyPath, let reason): "The parameter “\(keyPath.forMessage)” \(reason.message)."
        case .body(let kind, let reason): "The \(kind) body \(reason.message)."
        case .bodyNotAllowed(let method): "A \(method) request takes no body."
        case .file(let path, let reason): "The file “\(path.forMessage)” \(reason.message)."
        case .multipart(let part, let reason):
            "\(part.map { "The part “\($0.forMessage)” of the form" } ?? "The multipart form") \(reason.message)."
        case .template(let text, let reason):
            "The template “\(Redaction.standard.url(text).forMessage)” \(reason.message)."
        case .hook(let stage, let message): "The request's \(stage) failed: \(message)"
        }
    }
}

extension RequestError.URLReason {
    fileprivate var message: String {
        switch self {
        case .controlCharacter: "holds a line break or a NUL"
        case .invalidHost: "has no valid host"
        case .invalidPort: "has a port that is no number from 0 to 65535"
        case .unsupportedScheme(let scheme): "has the scheme \(scheme.forMessage), expected http or https"
        case .notAbsolute: "is not absolute: a scheme and a host are missing"
        case .leavesBasePath: "leads out of the base URL's path with “..”"
        case .tooLong(let bytes, let limit): "has \(bytes) bytes, at most \(limit) are allowed"
        case .insecure: "is not encrypted, and http is allowed to local hosts only"
        case .foreignHost(let host): "leads to \(host.forMessage), which is not the base URL's host"
        }
    }
}

extension RequestError.HeaderReason {
    /// What is wrong, as the end of a sentence about the field.
    package var message: String {
        switch self {
        case .invalidName: "has a name that is not a token"
        case .controlCharacterInValue: "has a value with a line break or a NUL"
        case .otherControlCharacterInValue(let found): "has a value with the control character \(found.codePoint)"
        case .colonInUserName: "has a user name with a colon, which basic authentication cannot send"
        }
    }
}

extension RequestError.ParameterReason {
    fileprivate var message: String {
        switch self {
        case .notFinite: "is infinite or not a number"
        case .tooDeep(let limit): "is nested deeper than \(limit) levels"
        case .nestedInJoinedList: "is nested inside a list that is joined with commas"
        case .notInCharacterSet: "cannot be written in the chosen character set"
        case .repeatedName: "occurs twice"
        case .notKeyed: "is not a set of named values"
        case .conversionFailed(let error): "could not be converted: \(error)"
        }
    }
}

extension RequestError.BodyReason {
    fileprivate var message: String {
        switch self {
        case .encodingFailed(let error): "could not be encoded: \(error)"
        case .notInCharacterSet: "cannot be written in the chosen character set"
        case .conflict: "stands beside parameters that would be a second body; send them in the query"
        case .notInMemory: "is not in memory"
        case .lengthMismatch(let announced, let actual): "gave \(actual) bytes, announced were \(announced)"
        case .sourceFailed(let error): "could not be read: \(error)"
        case .tooLarge(let limit): "has more than \(limit) bytes"
        case .unknownLength: "has a length that is not known beforehand"
        }
    }
}

extension RequestError.FileReason {
    fileprivate var message: String {
        switch self {
        case .notAFileURL: "is not given by a file URL"
        case .unreadable(let error): "cannot be read: \(error)"
        case .isDirectory: "is a directory"
        case .changedWhileSending: "changed while it was sent"
        case .unwritable(let error): "cannot be written: \(error)"
        }
    }
}

extension RequestError.MultipartReason {
    fileprivate var message: String {
        switch self {
        case .invalidBoundary: "has a boundary that RFC 2046 does not allow"
        case .boundaryInContent: "holds the boundary"
        case .missingName: "has no name"
        case .invalidHeader(let name): "has a header field “\(name.forMessage)” that cannot be sent"
        case .invalidLength: "has a length that is negative or too large"
        case .lengthMismatch(let announced, let actual): "gave \(actual) bytes, announced were \(announced)"
        }
    }
}

extension RequestError.TemplateReason {
    fileprivate var message: String {
        switch self {
        case .syntax(let offset): "breaks the grammar at byte \(offset)"
        case .missingValue(let name): "has no value for {\(name.forMessage)}"
        case .unusableValue(let name): "has a value for {\(name.forMessage)} that cannot be used there"
        }
    }
}

extension Unicode.Scalar {
    /// The number of the character as Unicode writes it: `U+007F`.
    fileprivate var codePoint: String {
        let digits = String(value, radix: 16, uppercase: true)
        return "U+\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)"
    }
}

extension String {
    /// The text as it stands in a message: without its query, at most 120 characters, control characters escaped.
    fileprivate var forMessage: String {
        let shown = prefix { $0 != "?" }
        let cut = shown.count > 120 ? "\(shown.prefix(119))…" : String(shown)
        guard cut.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) else { return cut }
        return cut.unicodeScalars.map { $0.value < 32 || $0.value == 127 ? $0.escaped(asASCII: true) : String($0) }
            .joined()
    }
}
