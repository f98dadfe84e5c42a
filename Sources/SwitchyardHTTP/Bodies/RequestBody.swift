public import Foundation

/// The body of an API request, before it is encoded.
///
/// ### Use
///
///     configuration.body = .json(newTopic)                     // any Encodable
///     configuration.body = .json(["title": title])             // parameters
///     configuration.body = .form(["user": name, "page": 2])
///     configuration.body = .file(url, contentType: "image/png")
///
/// The body is encoded when the request is built. If encoding fails, the call fails with a ``RequestError``. The
/// `Content-Type` header field is set to the body's content type, unless the request already has a `Content-Type`
/// field.
public struct RequestBody: Sendable {
    package enum Kind: Sendable {
        case none
        // Large payloads are indirect because configurations are copied often and most have no body.
        indirect case form(Parameters, ParameterEncodingOptions?)
        indirect case parameters(ParameterValue, JSONBodyOptions?)
        indirect case json(any Encodable & Sendable, JSONEncoder?)
        indirect case text(String, String.Encoding, contentType: String)
        indirect case propertyList(any Encodable & Sendable, PropertyListSerialization.PropertyListFormat)
        case data(Data)
        case file(URL)
        indirect case stream(HTTPBody.Stream)
        indirect case multipart(MultipartForm)
        case custom(@Sendable () throws -> HTTPBody)
    }

    package let kind: Kind
    /// The content type of the body.
    ///
    /// If `nil`, no `Content-Type` field is set.
    public let contentType: String?

    init(_ kind: Kind, contentType: String?) {
        self.kind = kind
        self.contentType = contentType
    }

    /// No body.
    public static let none = RequestBody(.none, contentType: nil)

    /// Whether there is no body.
    package var isNone: Bool {
        if case .none = kind { return true }
        return false
    }

    /// Returns a body with the parameters as a web form (`application/x-www-form-urlencoded`), in the character set of
    /// `options`.
    ///
    /// - Parameters:
    ///   - parameters: The form fields.
    ///   - options: The encoding options. If `nil`, `RequestGenerator.formOptions` applies.
    /// - Returns: The body.
    public static func form(_ parameters: Parameters, options: ParameterEncodingOptions? = nil) -> RequestBody {
        RequestBody(.form(parameters, options), contentType: formType(in: options?.characterSet ?? .utf8))
    }

    /// Returns the content type of a form.
    ///
    /// If the character set has no registered name, the `charset` parameter is omitted.
    private static func formType(in encoding: String.Encoding) -> String {
        guard encoding != .utf8 else { return "application/x-www-form-urlencoded; charset=utf-8" }
        return "application/x-www-form-urlencoded\(encoding.registeredName.map { "; charset=\($0)" } ?? "")"
    }

    /// Returns the content type of the encoded body.
    ///
    /// If a form has no options of its own, the options in `context` determine its character set.
    package func contentType(in context: BodyEncodingContext) -> String? {
        guard case .form(_, nil) = kind else { return contentType }
        return Self.formType(in: context.form.characterSet)
    }

    /// Returns a body with the parameters as a JSON object, `application/json`.
    ///
    /// - Parameters:
    ///   - parameters: The members of the object. A repeated name is an error.
    ///   - options: The encoding options. If `nil`, `RequestGenerator.jsonOptions` applies.
    /// - Returns: The body.
    public static func json(_ parameters: Parameters, options: JSONBodyOptions? = nil) -> RequestBody {
        json(ParameterValue.dictionary(parameters), options: options)
    }

    /// Returns a body with a tree of parameter values as JSON, `application/json`.
    ///
    /// - Parameters:
    ///   - value: The value. It may be a dictionary, a list or a single value.
    ///   - options: The encoding options. If `nil`, `RequestGenerator.jsonOptions` applies.
    /// - Returns: The body.
    public static func json(_ value: ParameterValue, options: JSONBodyOptions? = nil) -> RequestBody {
        RequestBody(.parameters(value, options), contentType: "application/json")
    }

    /// Returns a body with an encodable value as JSON, `application/json`.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - encoder: The encoder, which must not be changed later. If `nil`, `RequestGenerator.jsonEncoder` is used.
    /// - Returns: The body.
    public static func json(_ value: some Encodable & Sendable, encoder: JSONEncoder? = nil) -> RequestBody {
        RequestBody(.json(value, encoder), contentType: "application/json")
    }

    /// Returns a body with text, `text/plain`.
    ///
    /// - Parameters:
    ///   - text: The text. If the character set cannot represent it, encoding fails.
    ///   - encoding: The character set; UTF-8 by default.
    ///   - contentType: The content type. If `nil`, it is `text/plain` with the registered name of the character set.
    /// - Returns: The body.
    public static func text(
        _ text: String,
        encoding: String.Encoding = .utf8,
        contentType: String? = nil
    ) -> RequestBody {
        let type = contentType ?? "text/plain\(encoding.registeredName.map { "; charset=\($0)" } ?? "")"
        return RequestBody(.text(text, encoding, contentType: type), contentType: type)
    }

    /// Returns a body with an encodable value as a property list, `application/x-plist`.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - format: The format of the property list; XML by default.
    /// - Returns: The body.
    public static func propertyList(
        _ value: some Encodable & Sendable,
        format: PropertyListSerialization.PropertyListFormat = .xml
    ) -> RequestBody {
        RequestBody(.propertyList(value, format), contentType: "application/x-plist")
    }

    /// Returns a body with bytes, which are sent unchanged.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - contentType: The content type; `application/octet-stream` by default. If `nil`, no `Content-Type` field is
    ///     set.
    /// - Returns: The body.
    public static func data(_ data: Data, contentType: String? = "application/octet-stream") -> RequestBody {
        RequestBody(.data(data), contentType: contentType)
    }

    /// Returns a body with the contents of a file, which is read while it is sent.
    ///
    /// - Parameters:
    ///   - url: The URL of the file. If the file is missing, unreadable or a directory, building the request fails.
    ///   - contentType: The content type; `application/octet-stream` by default. If `nil`, no `Content-Type` field is
    ///     set.
    /// - Returns: The body.
    public static func file(_ url: URL, contentType: String? = "application/octet-stream") -> RequestBody {
        RequestBody(.file(url), contentType: contentType)
    }

    /// Returns a body with bytes that are produced while they are sent.
    ///
    /// - Parameters:
    ///   - stream: The source of the bytes. A new reader is created for every attempt.
    ///   - contentType: The content type; `application/octet-stream` by default. If `nil`, no `Content-Type` field is
    ///     set.
    /// - Returns: The body.
    public static func stream(
        _ stream: HTTPBody.Stream,
        contentType: String? = "application/octet-stream"
    ) -> RequestBody {
        RequestBody(.stream(stream), contentType: contentType)
    }

    /// Returns a body that a closure creates for every attempt.
    ///
    /// - Parameters:
    ///   - contentType: The content type. If `nil`, no `Content-Type` field is set.
    ///   - make: The closure that creates the body. If it throws an error, the call fails with this error.
    /// - Returns: The body.
    public static func custom(
        contentType: String?,
        make: @escaping @Sendable () throws -> HTTPBody
    ) -> RequestBody {
        RequestBody(.custom(make), contentType: contentType)
    }
}

extension String.Encoding {
    /// The name of the character set in IANA's registry.
    ///
    /// The value is `nil` for character sets that text bodies do not commonly use.
    var registeredName: String? {
        switch self {
        case .utf8: "utf-8"
        case .ascii: "us-ascii"
        case .isoLatin1: "iso-8859-1"
        case .isoLatin2: "iso-8859-2"
        case .utf16: "utf-16"
        case .utf16BigEndian: "utf-16be"
        case .utf16LittleEndian: "utf-16le"
        case .utf32: "utf-32"
        case .windowsCP1250: "windows-1250"
        case .windowsCP1251: "windows-1251"
        case .windowsCP1252: "windows-1252"
        case .shiftJIS: "shift_jis"
        case .japaneseEUC: "euc-jp"
        case .iso2022JP: "iso-2022-jp"
        default: nil
        }
    }
}

extension RequestBody {
    /// Returns a body with a multipart form, whose files are read while they are sent.
    ///
    /// The length of the body is known in advance unless a part is a stream of unknown length.
    ///
    /// If the request has a `Content-Type` field with a boundary, the form uses that boundary.
    public static func multipart(_ form: MultipartForm) -> RequestBody {
        RequestBody(.multipart(form), contentType: form.contentType)
    }
}

/// The options and the encoder with which a `RequestGenerator` encodes bodies.
package struct BodyEncodingContext: Sendable {
    var form: ParameterEncodingOptions
    var json: JSONBodyOptions
    var encoder: JSONEncoder

    package init(form: ParameterEncodingOptions, json: JSONBodyOptions, encoder: JSONEncoder) {
        self.form = form
        self.json = json
        self.encoder = encoder
    }
}

extension RequestBody {
    package func encoded(in context: BodyEncodingContext) throws(RequestError) -> HTTPBody {
        switch kind {
        case .none: .none
        case .form(let parameters, let options): try Self.form(parameters, options ?? context.form)
        case .parameters(let value, let options): try Self.json(value, options ?? context.json)
        case .json(let value, let encoder): try Self.json(value, encoder ?? context.encoder)
        case .text(let text, let encoding, _): try Self.text(text, encoding)
        case .propertyList(let value, let format): try Self.propertyList(value, format)
        case .data(let data): .data(data)
        case .file(let url): try Self.file(url)
        case .stream(let stream): .stream(stream)
        case .multipart(let form): try form.body()
        case .custom(let make): try RequestError.running("custom body", make)
        }
    }

    private static func form(
        _ parameters: Parameters,
        _ options: ParameterEncodingOptions
    ) throws(RequestError) -> HTTPBody {
        var output = ByteBuffer(capacity: 256)
        var serializer = ParameterSerializer(ParameterSerializerPlan(options))
        try serializer.write(parameters, to: &output)
        return .data(output.data())
    }

    private static func json(_ value: ParameterValue, _ options: JSONBodyOptions) throws(RequestError) -> HTTPBody {
        var output = ByteBuffer(capacity: 256)
        var writer = ParameterJSONWriter(options: options)
        try writer.write(value, to: &output)
        return .data(output.data())
    }

    private static func json(_ value: any Encodable, _ encoder: JSONEncoder) throws(RequestError) -> HTTPBody {
        do {
            return .data(try encoder.encode(value))
        } catch {
            throw .body(kind: "JSON", reason: .encodingFailed(describe(error)))
        }
    }

    private static func text(_ text: String, _ encoding: String.Encoding) throws(RequestError) -> HTTPBody {
        guard let data = text.data(using: encoding) else { throw .body(kind: "text", reason: .notInCharacterSet) }
        return .data(data)
    }

    private static func propertyList(
        _ value: any Encodable,
        _ format: PropertyListSerialization.PropertyListFormat
    ) throws(RequestError) -> HTTPBody {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        do {
            return .data(try encoder.encode(value))
        } catch {
            throw .body(kind: "property list", reason: .encodingFailed(describe(error)))
        }
    }

    private static func file(_ url: URL) throws(RequestError) -> HTTPBody {
        _ = try FileBody.length(of: url)
        return .file(url)
    }

    private static func describe(_ error: any Error) -> String {
        guard case EncodingError.invalidValue(_, let context) = error else { return "\(error)" }
        let path = context.codingPath.parameterPath
        return path.isEmpty ? context.debugDescription : "\(path): \(context.debugDescription)"
    }
}
