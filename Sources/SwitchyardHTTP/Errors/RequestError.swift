/// Why a request could not be built; nothing has been sent.
///
/// ``message`` says in one sentence what was wrong and where. No case holds a header's value, a parameter's value or a
/// query, so an error is safe to log.
public enum RequestError: Error, Sendable, Hashable {
    /// The URL is no URL, or not one that may be requested.
    case url(text: String, reason: URLReason)
    /// A header field cannot be sent.
    case header(name: String, reason: HeaderReason)
    /// A parameter cannot be written; the path is that of the names, as in `filter[tags][]`.
    case parameter(keyPath: String, reason: ParameterReason)
    /// The body could not be encoded.
    case body(kind: String, reason: BodyReason)
    /// The method takes no body, and ``/SwitchyardClient/APIConfiguration/allowsUnusualBody`` is off.
    case bodyNotAllowed(method: HTTPMethod)
    /// A file of the body cannot be sent.
    case file(path: String, reason: FileReason)
    /// A multipart form cannot be built.
    case multipart(part: String?, reason: MultipartReason)
    /// A template cannot be expanded.
    case template(text: String, reason: TemplateReason)
    /// A closure handed in by the user threw: computed parameters, a filter, a signer.
    case hook(stage: String, message: String)

    /// What is wrong with a URL.
    public enum URLReason: Sendable, Hashable {
        /// It holds a carriage return, a line feed or a NUL.
        case controlCharacter
        /// It has no host, or one with characters that no host name has.
        case invalidHost
        /// Its port is no number from 0 to 65535.
        case invalidPort
        /// Its scheme is neither http nor https.
        case unsupportedScheme(String)
        /// It is not absolute, where nothing stands to which it could be relative.
        case notAbsolute
        /// `..` leads out of the base URL's path.
        case leavesBasePath
        /// It is longer than the generator's limit.
        case tooLong(bytes: Int, limit: Int)
        /// It is plain http to a host to which requests must be encrypted, see ``/SwitchyardClient/InsecureHTTPRule``.
        case insecure
        /// It is plain http, and belongs to a server that is asked by https: the origin of that server is `from`.
        ///
        /// A URL of the same host with the default port, or with the server's own, means the https one and is no error.
        case downgrade(from: String)
        /// The generator does not send to hosts other than the base URL's.
        case foreignHost(String)
    }

    /// What is wrong with a header field.
    public enum HeaderReason: Sendable, Hashable {
        /// The name is not a token (RFC 9110 section 5.1).
        case invalidName
        /// The value holds a carriage return, a line feed or a NUL.
        case controlCharacterInValue
        /// The value holds this control character, which is neither of those nor a tab.
        case otherControlCharacterInValue(Unicode.Scalar)
        /// The value would name a user with a colon, which basic authentication cannot (RFC 7617 section 2).
        case colonInUserName
    }

    /// What is wrong with a parameter.
    public enum ParameterReason: Sendable, Hashable {
        /// The number is infinite or not a number.
        case notFinite
        /// The values are nested deeper than the limit.
        case tooDeep(limit: Int)
        /// A list that is written with commas holds a list or named values.
        case nestedInJoinedList
        /// The text cannot be written in the character set.
        case notInCharacterSet
        /// A name occurs twice where it may occur once only.
        case repeatedName
        /// The top of the value is not a set of named values.
        case notKeyed
        /// A custom conversion, or the type's own encoding, failed; the text is its error.
        case conversionFailed(String)
    }

    /// What is wrong with a body.
    public enum BodyReason: Sendable, Hashable {
        /// Its encoder failed; the text is its error, with the coding path.
        case encodingFailed(String)
        /// The text cannot be written in the character set.
        case notInCharacterSet
        /// The request has two bodies: `APIConfiguration.body` and parameters that belong into a body.
        case conflict
        /// The body as a whole has to be known, but is a stream or a file that is not read before it is sent.
        case notInMemory
        /// It gave more or fewer bytes than announced.
        case lengthMismatch(announced: Int64, actual: Int64)
        /// Its source threw while it was read; the text is its error.
        case sourceFailed(String)
        /// It has more bytes than the caller accepts.
        case tooLarge(limit: Int)
        /// Nobody knows how many bytes it has, and whoever takes it has to be told beforehand.
        case unknownLength
    }

    /// What is wrong with a file.
    public enum FileReason: Sendable, Hashable {
        /// The URL is not that of a file.
        case notAFileURL
        /// There is no file, or it cannot be read.
        case unreadable(String)
        /// It is a directory.
        case isDirectory
        /// Its length or the time of its last change became another while it was sent.
        case changedWhileSending
        /// It cannot be written; the text is the system's.
        case unwritable(String)
    }

    /// What is wrong with a multipart form.
    public enum MultipartReason: Sendable, Hashable {
        /// The boundary is empty, longer than 70 characters, or has others than RFC 2046 allows.
        case invalidBoundary
        /// The boundary occurs in the content of a part.
        case boundaryInContent
        /// A part has no name.
        case missingName
        /// A part's header field cannot be sent.
        case invalidHeader(String)
        /// A part's length is negative, or the sum is more than 64 bits hold.
        case invalidLength
        /// A part gave more or fewer bytes than announced.
        case lengthMismatch(announced: Int64, actual: Int64)
    }

    /// What is wrong with a template.
    public enum TemplateReason: Sendable, Hashable {
        /// It breaks the grammar at that byte.
        case syntax(offset: Int)
        /// A variable has no value.
        case missingValue(String)
        /// A variable has a value that cannot stand where it is used: empty or nested.
        case unusableValue(String)
    }
}

extension HTTPHeaders.Field {
    /// Why the field may not be sent; only for one that is not ``isValid``.
    package var refusal: RequestError.HeaderReason {
        guard HTTPToken.isValid(name) else { return .invalidName }
        guard value != Self.valueOfNoUser else { return .colonInUserName }
        // By scalars: CR LF is one character.
        let found = value.unicodeScalars.first { $0.value < 32 && $0 != "\t" || $0.value == 127 }
        switch found {
        case nil, "\r"?, "\n"?, "\0"?: return .controlCharacterInValue
        case let other?: return .otherControlCharacterInValue(other)
        }
    }
}

extension RequestError: Discreet {}

extension RequestError {
    /// Runs a closure of the user's; what it throws becomes a ``hook(stage:message:)``, unless it is a request's error
    /// already.
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
        case .insecure:
            "is not encrypted, and http is allowed to local hosts only; NetworkClient.Options.insecureHTTP names others"
        case .downgrade(let origin):
            "is plain http, and belongs to \(origin.forMessage): https is not left for http; ask it with "
                + "APIConfiguration.server = .baseURL(...) if that is meant"
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
        let shown = before(UInt8(ascii: "?"))
        let cut = shown.count > 120 ? "\(shown.prefix(119))…" : String(shown)
        guard cut.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) else { return cut }
        return cut.unicodeScalars.map { $0.value < 32 || $0.value == 127 ? $0.escaped(asASCII: true) : String($0) }
            .joined()
    }
}
