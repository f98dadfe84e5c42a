public import Foundation
public import SwitchyardClient
public import SwitchyardHTTP

/// The description of one upload.
///
///     var upload = UploadConfiguration(path: "films", from: .file(film, contentType: "video/quicktime"))
///     upload.request.idempotencyKey = .automatic
///     let answer = try await client.upload(upload) { progress in show(progress.fraction) }
///
/// The bytes are read while they are sent and are never held in memory as a whole. If the source fails, the upload ends
/// with the source's error before the server has received a body that looks complete. A file fails if it is missing,
/// unreadable, or changes while it is sent. A stream fails if it throws or delivers more or fewer bytes than it
/// announced.
public struct UploadConfiguration: Sendable {
    /// The request to send, including its headers; POST unless set.
    ///
    /// The request's `body` is ignored, even if the configuration contains a `prebuiltRequest`. If the request's
    /// `timeout` or the `timeout` of a rule is set, it limits the whole upload. The client's default timeout does not
    /// apply because the duration of an upload is unknown. `idleTimeout` limits the time during which the server
    /// accepts no bytes and sends no response. If neither the request nor the client sets an idle timeout, the limit is
    /// 60 s.
    public var request: APIConfiguration
    /// The source of the bytes.
    public var source: UploadSource
    /// The algorithm of the digest that is sent as `Content-Digest` (RFC 9530); no digest is sent unless set.
    ///
    /// To compute the digest, the source is read once more, in chunks, whenever the request is about to be sent. A
    /// stream is opened again for this purpose. The digest replaces a `Content-Digest` field that the app has set. A
    /// `RequestCompressor` does not compress such a request.
    public var digest: ContentDigest.Algorithm?
    /// The settings for continuing an interrupted upload; if `nil`, the upload is one request and cannot be continued.
    ///
    /// If set, the request opens the upload, and the following requests go to the URL that the server names, with the
    /// same header fields. Credentials (`HTTPHeaders.sensitiveNames`) are removed if that URL belongs neither to one of
    /// the service's servers nor to the requested host. A ``digest`` covers the bytes of each single request. A
    /// `prebuiltRequest` in the configuration opens the upload with its own body. If the user who started the upload is
    /// no longer logged in (`NetworkClient.Options.user`), no further request is sent, and the upload ends with
    /// ``/SwitchyardClient/RequestFailure/Reason/cancelled``.
    public var resumption: UploadResumption?
    /// The monitor that shows the upload as a Foundation `Progress` object.
    ///
    /// The app can cancel and pause the upload through that object. No monitor unless set.
    public var monitor: TransferMonitor?

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - source: The source of the bytes.
    public init(_ request: APIConfiguration, from source: UploadSource) {
        self.request = request
        self.source = source
    }

    /// Creates a configuration from a path.
    ///
    /// The parameters have the same names and order as in ``/SwitchyardClient/APIConfiguration``.
    ///
    /// - Parameters:
    ///   - path: The path below the base URL, or an absolute URL.
    ///   - method: The method; POST unless given.
    ///   - query: The query parameters of the URL.
    ///   - headers: The header fields.
    ///   - source: The source of the bytes.
    public init(
        path: String,
        method: HTTPMethod = .post,
        query: Parameters = [:],
        headers: HTTPHeaders = [:],
        from source: UploadSource
    ) {
        self.init(APIConfiguration(path: path, method: method, query: query, headers: headers), from: source)
    }
}

/// The source of an upload's bytes.
public struct UploadSource: Sendable {
    enum Kind: Sendable {
        case data(Data)
        case file(URL)
        case stream(HTTPBody.Stream)
        case form(MultipartForm)
    }

    let kind: Kind
    /// The content type; if `nil`, no `Content-Type` is sent.
    public let contentType: String?

    /// Creates a source from bytes in memory.
    public static func data(_ data: Data, contentType: String? = "application/octet-stream") -> UploadSource {
        UploadSource(kind: .data(data), contentType: contentType)
    }

    /// Creates a source from a file, which is read while it is sent.
    public static func file(_ url: URL, contentType: String? = "application/octet-stream") -> UploadSource {
        UploadSource(kind: .file(url), contentType: contentType)
    }

    /// Creates a source from a stream.
    ///
    /// The bytes are generated while they are sent, and the stream starts again for every attempt.
    public static func stream(
        _ stream: HTTPBody.Stream,
        contentType: String? = "application/octet-stream"
    ) -> UploadSource {
        UploadSource(kind: .stream(stream), contentType: contentType)
    }

    /// Creates a source from a multipart form, whose files are read while they are sent.
    public static func form(_ form: MultipartForm) -> UploadSource {
        UploadSource(kind: .form(form), contentType: form.contentType)
    }
}
