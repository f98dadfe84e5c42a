public import Foundation
public import SwitchyardClient
public import SwitchyardHTTP

/// The description of one download to a file.
///
/// ### Use
///
///     var download = DownloadConfiguration(path: "films/7.mov", to: .file(films.appending(path: "7.mov")))
///     download.existingFile = .replace
///     let film = try await client.download(download) { progress in show(progress.fraction) }
///
/// ### Interruptions
/// The received bytes are written to a hidden partial file beside the destination. A small record beside the partial
/// file describes the content. A download can be interrupted by the network, by cancellation, or by the end of the
/// process. If the same configuration is then downloaded again, the download continues where it stopped, from any
/// server. If the content has changed, the download starts over: the request carries `Range` and `If-Range` (RFC 9110
/// sections 13.1.5 and 14.2). The file at the destination changes in one step, when the download is complete.
///
/// ### Compression
/// The request asks for no compression, unless the app sets `Accept-Encoding`. If a server compresses the body anyway,
/// the file contains the bytes as the transport delivers them: compressed with `CurlTransport`, decompressed with
/// `URLSessionTransport`. Such a download cannot be resumed.
public struct DownloadConfiguration: Sendable {
    /// The request to send; GET unless set.
    ///
    /// If the request's `timeout` or the `timeout` of a rule is set, it limits the whole download. The client's default
    /// timeout does not apply because the duration of a download is unknown. `idleTimeout` limits the time during which
    /// the server sends nothing. If neither the request nor the client sets an idle timeout, the limit is 60 s.
    /// Response caching and the client's limit for response bodies do not apply; see ``maximumLength``.
    public var request: APIConfiguration
    /// The destination of the file.
    public var destination: DownloadDestination
    /// The treatment of an existing file at the destination.
    ///
    /// By default, the download is refused if the file exists.
    public var existingFile = ExistingFileRule.refuse
    /// Whether missing directories of the destination are created; `false` unless set.
    public var createsDirectories = false
    /// Whether an interrupted download can be resumed; `true` unless set.
    ///
    /// If `false`, the received bytes are removed when the download fails. A partial file in the system's temporary
    /// directory is always removed, so ``DownloadDestination/temporary`` and ``DownloadDestination/custom(_:)`` need a
    /// ``partialDirectory`` to be resumable.
    public var isResumable = true
    /// The directory in which the partial file is kept until the download is complete; the destination's directory
    /// unless set.
    ///
    /// If this directory is on the volume of the destination, the complete file is renamed into place. If this
    /// directory is on another volume, the file is first copied to the destination's directory. The partial file is
    /// locked during the download. On Apple systems, the system ends an app that is suspended while it holds a lock on
    /// a file in an app group's folder (0xdead10cc), so use one of the app's own folders.
    public var partialDirectory: URL?
    /// The data to resume an earlier download from, taken from ``DownloadFailure/resumeData``.
    ///
    /// The data is ignored if the data is damaged, belongs to other content, or names a partial file that is missing.
    /// The download then starts over. The partial file of the other content is kept.
    public var resumeData: Data?
    /// The name that identifies the content instead of the URL's path and query, or `nil` unless set.
    ///
    /// With a name, two URLs that differ only in a signature identify the same content.
    public var contentName: String?
    /// The largest file length to accept, in bytes.
    ///
    /// A longer file ends the download with an error. No limit unless set.
    public var maximumLength: Int64?
    /// The digest that the file must have; not checked unless set.
    ///
    /// The digest is computed as the bytes arrive. A file with another digest is never moved to its destination. The
    /// content is then downloaded again from the other servers, one after the other, until a server sends content with
    /// the expected digest. If no server does, the download fails with
    /// ``DownloadFailure/Reason/digestMismatch(expected:actual:)``, or with the error status if the last server
    /// rejected the request. The received bytes are then removed.
    public var digest: ContentDigest?
    /// The maximum number of times that an interrupted body is continued within one call; 3 unless set.
    ///
    /// If the download uses several connections, each part has its own count.
    ///
    /// The download continues on another server if the service has several. Otherwise, it continues on the same server
    /// after a pause. If that server cannot be reached, does not respond in time, or responds with 502, 503 or 504,
    /// this counts as another continuation. The pause is 0.2 s before the first continuation and doubles with each
    /// further one, up to 5 s. It is shortened at random by up to a half. A `Retry-After` of such a response lengthens
    /// it, up to 60 s. If the request must not be repeated (`resendRule`), its response is not continued.
    public var maximumContinuations = 3
    /// The number of connections that share the download; 1 unless set, 16 at most.
    ///
    /// Several connections are used only if the file is not small and the server supports ranges and sends a length and
    /// a strong validator. Otherwise, the download uses one connection. If a download over several connections is
    /// interrupted, it starts over in the next call.
    public var connections = 1
    /// The number of bytes of an error response's body that are kept for the failure; 64 KiB unless set.
    public var errorBodyLimit = 65_536
    /// The monitor that shows the download as a Foundation `Progress` object.
    ///
    /// The app can cancel and pause the download through that object. No monitor unless set.
    public var monitor: TransferMonitor?
    /// A closure that receives the events of the download, in order; none unless set.
    public var onEvent: (@Sendable (DownloadEvent) -> Void)?

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - destination: The destination of the file; a temporary file unless given, which the app must move or remove.
    public init(_ request: APIConfiguration, to destination: DownloadDestination = .temporary) {
        self.request = request
        self.destination = destination
    }

    /// Creates a configuration from a path.
    ///
    /// The parameters have the same names and order as in ``/SwitchyardClient/APIConfiguration``.
    ///
    /// - Parameters:
    ///   - path: The path below the base URL, or an absolute URL.
    ///   - method: The method; GET unless given.
    ///   - query: The query parameters of the URL.
    ///   - body: The body; none unless given.
    ///   - headers: The header fields.
    ///   - destination: The destination of the file; a temporary file unless given, which the app must move or remove.
    public init(
        path: String,
        method: HTTPMethod = .get,
        query: Parameters = [:],
        body: RequestBody = .none,
        headers: HTTPHeaders = [:],
        to destination: DownloadDestination = .temporary
    ) {
        let request = APIConfiguration(path: path, method: method, query: query, body: body, headers: headers)
        self.init(request, to: destination)
    }
}

/// An event during a download.
public enum DownloadEvent: Sendable, Hashable {
    /// The download starts from the first byte of the content.
    ///
    /// `total` is the length in bytes, or `nil` if it is unknown.
    case began(total: Int64?)
    /// The download continues an earlier, interrupted download at this byte offset.
    case resumed(at: Int64, total: Int64?)
    /// The received bytes can no longer be used, so the download starts over. The associated value is the reason.
    case restarted(String)
    /// The body was interrupted after this number of bytes, or no server was available to send the rest.
    case interrupted(at: Int64, TransportError)
    /// The file is complete and at its destination.
    case moved(URL)
    /// The file is complete but could not be moved to its destination, so the call fails.
    case moveFailed(FileFailure)
}

extension TransferSubject {
    /// Creates the value that identifies what is downloaded: the request or, if set, `contentName`.
    init(_ download: DownloadConfiguration, service: String, environment: String) {
        self.init(download.request, named: download.contentName, service: service, environment: environment)
    }
}
