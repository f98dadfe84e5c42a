public import Foundation
public import SwitchyardClient
public import SwitchyardHTTP

/// Everything that describes one upload.
///
///     var upload = UploadConfiguration(path: "films", from: .file(film, contentType: "video/quicktime"))
///     upload.request.idempotencyKey = .automatic
///     let answer = try await client.upload(upload) { progress in show(progress.fraction) }
///
/// The bytes are read while they are sent, never held in memory as a whole. What goes wrong with them ends the upload
/// with the error of its source, before the server has got a body that looks complete: a file that is missing,
/// unreadable, or changes while it is sent; a stream that throws, or gives more or fewer bytes than it announced.
public struct UploadConfiguration: Sendable {
    /// Where and how to send, headers included; POST unless set.
    ///
    /// Its `body` is not looked at, nor that of a request made by hand. Its `timeout`, or that of a rule, bounds the
    /// whole upload, when it is set; the client's default does not, since nobody knows how long an upload takes.
    /// `idleTimeout` bounds each pause of the server, in taking bytes and in answering; 60 s when neither it nor the
    /// client's is set.
    public var request: APIConfiguration
    /// What is sent.
    public var source: UploadSource
    /// How the digest is taken that is sent as `Content-Digest` (RFC 9530); none is sent unless set.
    ///
    /// The source is read once more for it, piece by piece, before each round in which it is sent; of a stream a reader of
    /// its own is made. It takes the place of a field of the caller's. A `RequestCompressor` leaves such a request as it
    /// is.
    public var digest: ContentDigest.Algorithm?
    /// How the upload goes on where it was cut; it is one request, and not gone on with, unless set.
    ///
    /// The request opens the upload then, those that follow go to the URL that the server names, with the same header
    /// fields; without credentials (`HTTPHeaders.sensitiveNames`) where that is neither one of the service's servers nor
    /// the host that was asked. A ``digest`` is that of each request's own bytes. A request made by hand opens with the
    /// body that it has. Where its user is not the one who is logged in any more (`NetworkClient.Options.user`), none
    /// of them is sent, and the upload ends as ``/SwitchyardClient/RequestFailure/Reason/cancelled``.
    public var resumption: UploadResumption?
    /// Shows the upload in a Foundation progress, through which it can be cancelled and paused; nowhere unless set.
    public var monitor: TransferMonitor?

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - request: Where and how to send.
    ///   - source: What is sent.
    public init(_ request: APIConfiguration, from source: UploadSource) {
        self.request = request
        self.source = source
    }

    /// Creates a configuration of a path, with what an ``/SwitchyardClient/APIConfiguration`` takes in the same order.
    ///
    /// - Parameters:
    ///   - path: The path below the base URL, or an absolute URL.
    ///   - method: The method; POST unless given.
    ///   - query: Parameters of the URL.
    ///   - headers: Header fields.
    ///   - source: What is sent.
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

/// What an upload sends.
public struct UploadSource: Sendable {
    enum Kind: Sendable {
        case data(Data)
        case file(URL)
        case stream(HTTPBody.Stream)
        case form(MultipartForm)
    }

    let kind: Kind
    /// The content type; `nil` for no header.
    public let contentType: String?

    /// Bytes in memory.
    public static func data(_ data: Data, contentType: String? = "application/octet-stream") -> UploadSource {
        UploadSource(kind: .data(data), contentType: contentType)
    }

    /// A file, read while it is sent.
    public static func file(_ url: URL, contentType: String? = "application/octet-stream") -> UploadSource {
        UploadSource(kind: .file(url), contentType: contentType)
    }

    /// Bytes that are made while they are sent; the stream starts anew for every attempt.
    public static func stream(
        _ stream: HTTPBody.Stream,
        contentType: String? = "application/octet-stream"
    ) -> UploadSource {
        UploadSource(kind: .stream(stream), contentType: contentType)
    }

    /// A multipart form, its files read while they are sent.
    public static func form(_ form: MultipartForm) -> UploadSource {
        UploadSource(kind: .form(form), contentType: form.contentType)
    }
}
