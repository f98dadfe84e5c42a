public import Foundation

/// One part of a ``MultipartForm``.
public struct MultipartPart: Sendable {
    /// What a part holds.
    public enum Content: Sendable {
        /// Bytes in memory.
        case data(Data)
        /// A file, read while it is sent; its length is taken when the request is built, and a change after that is an
        /// error.
        case file(URL)
        /// Bytes that are made while they are sent.
        case stream(HTTPBody.Stream)
        /// A form inside the form.
        case form(MultipartForm)
    }

    /// The name of the form's field; `nil` only in multiparts that are no form data.
    public var name: String?
    /// The name of the file; `nil` for a field that is none.
    public var fileName: String?
    /// The type of the content; `nil` for none, as fields have it.
    public var contentType: String?
    /// Further header fields; a `Content-Disposition` here takes the place of the one made from the names.
    public var headers: HTTPHeaders
    /// The content.
    public var content: Content

    /// Creates a part.
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
    /// Text in memory, in UTF-8.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - name: The name of the field.
    ///   - fileName: The name of the file; without one the part is an ordinary field.
    ///   - contentType: The type; with a file name it follows from its extension unless given.
    /// - Returns: The part.
    public static func text(
        _ text: String,
        name: String,
        fileName: String? = nil,
        contentType: String? = nil
    ) -> MultipartPart {
        .data(Data(text.utf8), name: name, fileName: fileName, contentType: contentType)
    }

    /// A field as a pair of name and text, as forms are written; `nil` is an empty field.
    public static func field(_ name: String, _ value: String?) -> MultipartPart {
        MultipartPart(name: name, content: .data(Data((value ?? "").utf8)))
    }

    /// Bytes in memory.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - name: The name of the field.
    ///   - fileName: The name of the file; without one the part is an ordinary field.
    ///   - contentType: The type; with a file name it follows from its extension unless given.
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

    /// A file on disk, never held in memory as a whole.
    ///
    /// - Parameters:
    ///   - url: The file; its directory is not sent.
    ///   - name: The name of the field.
    ///   - fileName: The name that is sent; the file's own unless given.
    ///   - contentType: The type; by the extension of the file, else of `fileName`, unless given.
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

    /// Bytes that are made while they are sent.
    ///
    /// - Parameters:
    ///   - stream: Gives the bytes; without a length the whole request is sent without one.
    ///   - name: The name of the field.
    ///   - fileName: The name of the file; without one the part is an ordinary field.
    ///   - contentType: The type; with a file name it follows from its extension unless given.
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

    /// A PNG image in memory.
    public static func png(_ data: Data, name: String, fileName: String = "image") -> MultipartPart {
        .data(data, name: name, fileName: fileName.withExtension("png"), contentType: "image/png")
    }

    /// A JPEG image in memory.
    public static func jpeg(_ data: Data, name: String, fileName: String = "image") -> MultipartPart {
        .data(data, name: name, fileName: fileName.withExtension("jpg"), contentType: "image/jpeg")
    }

    /// An MP3 recording in memory.
    public static func mp3(_ data: Data, name: String, fileName: String = "audio") -> MultipartPart {
        .data(data, name: name, fileName: fileName.withExtension("mp3"), contentType: "audio/mpeg")
    }
}

extension String {
    /// The file name with an extension, which is added only when it is not there.
    fileprivate func withExtension(_ pathExtension: String) -> String {
        let known = pathExtension == "jpg" ? ["jpg", "jpeg"] : [pathExtension]
        return known.contains { lowercased().hasSuffix(".\($0)") } ? self : "\(self).\(pathExtension)"
    }
}
