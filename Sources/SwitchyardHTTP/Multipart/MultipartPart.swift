public import Foundation

/// One part of a ``MultipartForm``.
public struct MultipartPart: Sendable {
    /// The content of a part.
    public enum Content: Sendable {
        /// Bytes in memory.
        case data(Data)
        /// A file that is read while it is sent.
        ///
        /// Its length is determined when the request is built, and a later change is an error.
        case file(URL)
        /// Bytes that are produced while they are sent.
        case stream(HTTPBody.Stream)
        /// A nested form.
        case form(MultipartForm)
    }

    /// The name of the form field.
    ///
    /// It may be `nil` only if the form is not `multipart/form-data`.
    public var name: String?
    /// The file name, or `nil` for a plain field.
    public var fileName: String?
    /// The content type.
    ///
    /// If `nil`, the part has no `Content-Type` field, as is usual for plain fields.
    public var contentType: String?
    /// Additional header fields.
    ///
    /// If there is a `Content-Disposition` field, it replaces the generated field.
    public var headers: HTTPHeaders
    /// The content.
    public var content: Content

    /// Creates a part, by default a plain field without further header fields.
    public init(
        name: String?,
        fileName: String? = nil,
        contentType: String? = nil,
        headers: HTTPHeaders = [:],
        content: Content
    ) {
        self.name = name
        self.fileName = fileName
        self.contentType = contentType
        self.headers = headers
        self.content = content
    }
}

// MARK: - Parts by kind

extension MultipartPart {
    /// Returns a part with text in UTF-8.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - name: The name of the field.
    ///   - fileName: The file name, or `nil` for a plain field.
    ///   - contentType: The content type. If `nil`, the type follows from the extension of the file name, if there is
    ///     one.
    /// - Returns: The part.
    public static func text(
        _ text: String,
        name: String,
        fileName: String? = nil,
        contentType: String? = nil
    ) -> MultipartPart {
        .data(Data(text.utf8), name: name, fileName: fileName, contentType: contentType)
    }

    /// Returns a plain field with a name and a text.
    ///
    /// If the text is `nil`, the field is empty.
    public static func field(_ name: String, _ value: String?) -> MultipartPart {
        MultipartPart(name: name, content: .data(Data((value ?? "").utf8)))
    }

    /// Returns a part with bytes in memory.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - name: The name of the field.
    ///   - fileName: The file name, or `nil` for a plain field.
    ///   - contentType: The content type. If `nil`, the type follows from the extension of the file name, if there is
    ///     one.
    /// - Returns: The part.
    public static func data(
        _ data: Data,
        name: String,
        fileName: String? = nil,
        contentType: String? = nil
    ) -> MultipartPart {
        let type = contentType ?? fileName.map(MediaTypes.type(ofFile:))
        return MultipartPart(name: name, fileName: fileName, contentType: type, content: .data(data))
    }

    /// Returns a part with a file on disk, which is never completely loaded into memory.
    ///
    /// - Parameters:
    ///   - url: The file. The path of its directory is not sent.
    ///   - name: The name of the field.
    ///   - fileName: The file name to send. If `nil`, the file's own name is sent.
    ///   - contentType: The content type. If `nil`, it follows from the extension of the file, or otherwise from the
    ///     extension of `fileName`.
    /// - Returns: The part.
    public static func file(
        _ url: URL,
        name: String,
        fileName: String? = nil,
        contentType: String? = nil
    ) -> MultipartPart {
        let sentName = fileName ?? url.lastPathComponent
        let type = contentType ?? MediaTypes.known(forExtension: url.pathExtension) ?? MediaTypes.type(ofFile: sentName)
        return MultipartPart(name: name, fileName: sentName, contentType: type, content: .file(url))
    }

    /// Returns a part with bytes that are produced while they are sent.
    ///
    /// - Parameters:
    ///   - stream: The source of the bytes. If its length is unknown, the request is sent without a length.
    ///   - name: The name of the field.
    ///   - fileName: The file name, or `nil` for a plain field.
    ///   - contentType: The content type. If `nil`, the type follows from the extension of the file name, if there is
    ///     one.
    /// - Returns: The part.
    public static func stream(
        _ stream: HTTPBody.Stream,
        name: String,
        fileName: String? = nil,
        contentType: String? = nil
    ) -> MultipartPart {
        let type = contentType ?? fileName.map(MediaTypes.type(ofFile:))
        return MultipartPart(name: name, fileName: fileName, contentType: type, content: .stream(stream))
    }
}
