/// An error that prevents a request from being built; nothing has been sent.
///
/// ``message`` describes in one sentence what is wrong and where. No case contains the value of a header field or
/// parameter, or a query, so an error is safe to log.
public enum RequestError: Error, Sendable, Hashable {
    /// The URL is invalid or not allowed.
    case url(text: String, reason: URLReason)
    /// A header field cannot be sent.
    case header(name: String, reason: HeaderReason)
    /// A parameter cannot be encoded.
    ///
    /// The key path consists of names, as in `filter[tags][]`.
    case parameter(keyPath: String, reason: ParameterReason)
    /// The body could not be encoded.
    case body(kind: String, reason: BodyReason)
    /// The method does not allow a body, and ``/SwitchyardClient/APIConfiguration/allowsUnusualBody`` is `false`.
    case bodyNotAllowed(method: HTTPMethod)
    /// A file that the body contains cannot be sent.
    case file(path: String, reason: FileReason)
    /// A multipart form cannot be built.
    case multipart(part: String?, reason: MultipartReason)
    /// A template cannot be expanded.
    case template(text: String, reason: TemplateReason)
    /// A closure of the app threw an error, for example computed parameters, a filter or a signer.
    case hook(stage: String, message: String)

    /// A reason why a URL is invalid or not allowed.
    public enum URLReason: Sendable, Hashable {
        /// The URL contains a carriage return, a line feed or a NUL.
        case controlCharacter
        /// The URL has no host, or the host contains invalid characters.
        case invalidHost
        /// The port is not a number from 0 to 65535.
        case invalidPort
        /// The scheme is neither `http` nor `https`.
        case unsupportedScheme(String)
        /// The URL is relative, and there is no base URL.
        case notAbsolute
        /// The path contains `..` that leads out of the base URL's path.
        case escapesBasePath
        /// The URL is longer than `RequestGenerator.maximumURLLength`.
        case tooLong(bytes: Int, limit: Int)
        /// The URL is plain HTTP, but requests to its host must be encrypted, see
        /// ``/SwitchyardClient/InsecureHTTPRule``.
        case insecure
        /// The URL is plain HTTP, but its server is used over HTTPS.
        ///
        /// `from` is the origin of that server. A URL of the same host with the default port or with the server's port
        /// is sent over HTTPS and is not an error.
        case downgrade(from: String)
        /// The URL's host differs from the base URL's host, and requests to other hosts are not allowed
        /// (`RequestGenerator.foreignHosts`).
        case foreignHost(String)
        /// The URL belongs to the server with this name, and that server does not serve the request.
        case unserved(server: String)
    }

    /// A reason why a header field cannot be sent.
    public enum HeaderReason: Sendable, Hashable {
        /// The name is empty or contains a character that a field name must not contain (RFC 9110 section 5.1).
        case invalidName
        /// The value contains a carriage return, a line feed or a NUL.
        case controlCharacterInValue
        /// The value contains this control character, which is not a carriage return, line feed, NUL or tab.
        case otherControlCharacterInValue(Unicode.Scalar)
        /// The user name contains a colon, which basic authentication does not allow (RFC 7617 section 2).
        case colonInUserName
    }

    /// A reason why a parameter cannot be encoded.
    public enum ParameterReason: Sendable, Hashable {
        /// The number is infinite or NaN.
        case notFinite
        /// The values are nested deeper than the limit.
        case tooDeep(limit: Int)
        /// A list that is joined by commas contains a list or a dictionary.
        case nestedInJoinedList
        /// The character set cannot represent the text.
        case notInCharacterSet
        /// A name that must be unique is repeated.
        case repeatedName
        /// The top-level value is not a dictionary.
        case notKeyed
        /// A custom conversion or the type's own encoding failed.
        ///
        /// The associated value is the text of the error.
        case conversionFailed(String)
    }

    /// A reason why a body cannot be encoded or read.
    public enum BodyReason: Sendable, Hashable {
        /// The encoder failed.
        ///
        /// The associated value is the text of the error with the coding path.
        case encodingFailed(String)
        /// The character set cannot represent the text.
        case notInCharacterSet
        /// The request has two bodies: `APIConfiguration.body`, and parameters that are sent in the body.
        case conflict
        /// The whole body must be known in advance, but it is a stream or a file that is read only while it is sent.
        case notInMemory
        /// The body has more or fewer bytes than announced.
        case lengthMismatch(announced: Int64, actual: Int64)
        /// The source of the body threw an error.
        ///
        /// The associated value is the text of the error.
        case sourceFailed(String)
        /// The body has more bytes than the given limit.
        case tooLarge(limit: Int)
        /// The length of the body is unknown, but the receiver requires it in advance.
        case unknownLength
    }

    /// A reason why a file cannot be read or written.
    public enum FileReason: Sendable, Hashable {
        /// The URL is not a file URL.
        case notAFileURL
        /// The file does not exist or cannot be read.
        case unreadable(String)
        /// The file is a directory.
        case isDirectory
        /// The length or modification time of the file changed while it was sent.
        case changedWhileSending
        /// The file cannot be written.
        ///
        /// The associated value is the system's error text.
        case unwritable(String)
    }

    /// A reason why a multipart form cannot be built.
    public enum MultipartReason: Sendable, Hashable {
        /// The boundary is empty, longer than 70 characters, or contains characters that RFC 2046 does not allow.
        case invalidBoundary
        /// The boundary occurs in the content of a part.
        case boundaryInContent
        /// A part has no name.
        case missingName
        /// A part's header field cannot be sent.
        case invalidHeader(String)
        /// The length of a part is negative, or the total length exceeds 64 bits.
        case invalidLength
        /// A part has more or fewer bytes than announced.
        case lengthMismatch(announced: Int64, actual: Int64)
    }

    /// A reason why a template cannot be expanded.
    public enum TemplateReason: Sendable, Hashable {
        /// The template violates the grammar at this byte offset.
        case syntax(offset: Int)
        /// A variable has no value.
        case missingValue(String)
        /// A variable has a value that is not allowed at its position in the URL, because the value is empty, `.`, `..`,
        /// nested, not finite or out of range.
        case unusableValue(String)
    }
}

extension HTTPHeaders.Field {
    /// The reason why the field cannot be sent.
    ///
    /// The reason is meaningful only if ``isValid`` is `false`.
    package var refusal: RequestError.HeaderReason {
        guard HTTPToken.isValid(name) else { return .invalidName }
        guard value != Self.valueOfNoUser else { return .colonInUserName }
        // Iterate over scalars, because CR LF is a single character.
        let found = value.unicodeScalars.first { $0.value < 32 && $0 != "\t" || $0.value == 127 }
        switch found {
        case nil, "\r"?, "\n"?, "\0"?: return .controlCharacterInValue
        case let other?: return .otherControlCharacterInValue(other)
        }
    }
}

extension RequestError: RedactedDescribable {}

extension RequestError {
    /// Calls a closure of the app and converts an error that it throws to ``hook(stage:message:)``, unless the error is
    /// a `RequestError`.
    package static func running<Result>(_ stage: String, _ body: () throws -> Result) throws(RequestError) -> Result {
        do {
            return try body()
        } catch let error as RequestError {
            throw error
        } catch {
            throw .hook(stage: stage, message: "\(error)")
        }
    }
}

extension RequestError: CustomStringConvertible {
    /// The message.
    public var description: String { message }

    /// A sentence that describes what is wrong and where, with credentials redacted; never empty.
    public var message: String { Redaction.standard.text(words) }

    private var words: String {
        switch self {
        case .url(let text, let reason): "The URL “\(Redaction.place(text).forMessage)” \(reason.message)."
        case .header(let name, let reason): "The header field “\(name.forMessage)” \(reason.message)."
        case .parameter(let keyPath, let reason): "The parameter “\(keyPath.forMessage)” \(reason.message)."
        case .body(let kind, let reason): "The \(kind) body \(reason.message)."
        case .bodyNotAllowed(let method):
            "A \(method) request must not have a body; APIConfiguration.allowsUnusualBody can allow it."
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
        case .controlCharacter: "must not contain a line break or a NUL"
        case .invalidHost: "has no valid host"
        case .invalidPort: "has an invalid port: must be a number from 0 to 65535"
        case .unsupportedScheme(let scheme): "has the scheme \(scheme.forMessage): must be http or https"
        case .notAbsolute: "is not absolute: a scheme and a host are missing"
        case .escapesBasePath: "must stay within the base URL's path, but leaves it with “..”"
        case .tooLong(let bytes, let limit): "has \(bytes) bytes: must have at most \(limit)"
        case .insecure:
            "is not encrypted, and http is allowed to local hosts only; NetworkClient.Options.insecureHTTP can allow "
                + "other hosts"
        case .downgrade(let origin):
            "is plain http, but \(origin.forMessage) is used over https and is not downgraded; to send it over http "
                + "anyway, set APIConfiguration.server = .baseURL(...)"
        case .foreignHost(let host): "leads to \(host.forMessage), but must lead to the base URL's host"
        case .unserved(let server): "belongs to the server \(server.forMessage), which does not serve the request"
        }
    }
}

extension RequestError.HeaderReason {
    /// The description of the reason, as the end of a sentence about the field.
    package var message: String {
        switch self {
        case .invalidName: "has an invalid name: must be a token (RFC 9110 section 5.6.2)"
        case .controlCharacterInValue: "must not have a line break or a NUL in its value"
        case .otherControlCharacterInValue(let found):
            "must not have the control character \(found.codePoint) in its value"
        case .colonInUserName: "has a user name with a colon, which basic authentication cannot send"
        }
    }
}

extension RequestError.ParameterReason {
    fileprivate var message: String {
        switch self {
        case .notFinite: "must be a finite number, but is infinite or not a number"
        case .tooDeep(let limit): "must be nested at most \(limit) levels deep, but is deeper"
        case .nestedInJoinedList: "must not be nested inside a list that is joined with commas"
        case .notInCharacterSet: "cannot be written in the chosen character set"
        case .repeatedName: "must occur only once, but occurs twice"
        case .notKeyed: "must be a set of named values, such as a dictionary"
        case .conversionFailed(let error): "could not be converted: \(error)"
        }
    }
}

extension RequestError.BodyReason {
    fileprivate var message: String {
        switch self {
        case .encodingFailed(let error): "could not be encoded: \(error)"
        case .notInCharacterSet: "cannot be written in the chosen character set"
        case .conflict:
            "is given together with parameters that would be a second body; send the parameters in the query"
        case .notInMemory: "must be in memory, but is not"
        case .lengthMismatch(let announced, let actual): "has \(actual) bytes, but \(announced) were announced"
        case .sourceFailed(let error): "could not be read: \(error)"
        case .tooLarge(let limit): "must have at most \(limit) bytes, but has more"
        case .unknownLength: "must have a known length, but its length is unknown"
        }
    }
}

extension RequestError.FileReason {
    fileprivate var message: String {
        switch self {
        case .notAFileURL: "cannot be used: its URL is not a file URL"
        case .unreadable(let error): "cannot be read: \(error)"
        case .isDirectory: "is a directory: must be a regular file"
        case .changedWhileSending: "changed while it was sent"
        case .unwritable(let error): "cannot be written: \(error)"
        }
    }
}

extension RequestError.MultipartReason {
    fileprivate var message: String {
        switch self {
        case .invalidBoundary: "has an invalid boundary: must have 1 to 70 characters that RFC 2046 allows"
        case .boundaryInContent: "must not contain the boundary, but does; choose another boundary"
        case .missingName: "must have a name, but has none"
        case .invalidHeader(let name): "has the header field “\(name.forMessage)”, which is invalid or occurs twice"
        case .invalidLength: "has a length that is negative or too large"
        case .lengthMismatch(let announced, let actual): "has \(actual) bytes, but \(announced) were announced"
        }
    }
}

extension RequestError.TemplateReason {
    fileprivate var message: String {
        switch self {
        case .syntax(let offset): "is invalid at byte \(offset): must follow RFC 6570"
        case .missingValue(let name): "has no value for {\(name.forMessage)}"
        case .unusableValue(let name):
            "has a value for {\(name.forMessage)} that is empty, \".\", \"..\", nested, not finite or out of range"
        }
    }
}

extension Unicode.Scalar {
    /// The code point in Unicode notation: `U+007F`.
    fileprivate var codePoint: String {
        let digits = String(value, radix: 16, uppercase: true)
        return "U+\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)"
    }
}

extension String {
    /// The text for a message: without its query, at most 120 characters, and with control characters escaped.
    fileprivate var forMessage: String {
        let shown = before(UInt8(ascii: "?"))
        let cut = shown.count > 120 ? "\(shown.prefix(119))…" : String(shown)
        guard cut.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) else { return cut }
        return cut.unicodeScalars.map { $0.value < 32 || $0.value == 127 ? $0.escaped(asASCII: true) : String($0) }
            .joined()
    }
}
