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
/// The bytes are written to a hidden file beside the destination, and a small record beside it describes the content
/// that they belong to. If the download is interrupted (by the network, by cancellation, or by the end of the process)
/// and the same configuration is downloaded again, the download continues where it stopped, from any server, unless the
/// content has changed: the request carries `Range` and `If-Range` (RFC 9110 sections 13.1.5 and 14.2). The destination
/// itself changes in one step, when the file is complete.
///
/// ### Compression
/// The request asks for no compression, unless it has an `Accept-Encoding` of its own. If a server compresses the body
/// anyway, the file contains the bytes as the transport delivers them: compressed with `CurlTransport`, decompressed
/// with `URLSessionTransport`. Such a download cannot be resumed.
public struct DownloadConfiguration: Sendable {
    /// The request to send; GET unless set.
    ///
    /// If its `timeout` or the `timeout` of a rule is set, it limits the whole download. The client's default timeout
    /// does not apply because the duration of a download is unknown. `idleTimeout` limits each pause of the server; 60
    /// s if neither it nor the client's idle timeout is set. Response caching and the client's limit for bodies do not
    /// apply: see ``maximumLength``.
    public var request: APIConfiguration
    /// The destination of the file.
    public var destination: DownloadDestination
    /// The treatment of an existing file at the destination; the download is refused unless set.
    public var existingFile = ExistingFileRule.refuse
    /// Whether missing directories of the destination are created; `false` unless set.
    public var createsDirectories = false
    /// Whether an interrupted download can be resumed; `true` unless set.
    ///
    /// If `false`, the received bytes are removed when the download fails. They are always removed if they would be
    /// kept in the system's temporary directory, so ``DownloadDestination/temporary`` and
    /// ``DownloadDestination/custom(_:)`` need a ``partialDirectory`` to be resumable.
    public var isResumable = true
    /// The directory of the partial file until it is complete; the destination's directory unless set.
    ///
    /// If this directory is on the volume of the destination, the last step is a rename. If it is on another volume,
    /// the file is first copied to the destination's directory. The file is locked during the download. On Apple
    /// systems, an app that is suspended while it holds the lock is ended by the system if the file is in a folder of
    /// an app group (0xdead10cc), so use one of the app's own folders.
    public var partialDirectory: URL?
    /// The data to resume an earlier download from, taken from ``DownloadFailure/resumeData``.
    ///
    /// If the data is damaged, its file is missing, or it belongs to another content, it is ignored: the download
    /// starts over, and the bytes of the other content are kept.
    public var resumeData: Data?
    /// The name that identifies the content instead of path and query, so that two URLs that differ only in a signature
    /// identify the same content.
    public var contentName: String?
    /// The length in bytes of the largest file that is accepted; no limit unless set.
    public var maximumLength: Int64?
    /// The digest that the file must have; not checked unless set.
    ///
    /// The digest is computed incrementally, as the bytes arrive. A file with another digest is never moved to its
    /// destination. It is downloaded again from one server after the other until one sends the right content. If no
    /// server sends the right content, the download fails with
    /// ``DownloadFailure/Reason/digestMismatch(expected:actual:)`` or, if the last server refused the request, with
    /// that refusal. The received bytes are then removed.
    public var digest: ContentDigest?
    /// The maximum number of times that an interrupted body is continued within one call, counted for each part
    /// separately if the download uses several connections; 3 unless set.
    ///
    /// Another server of the service is preferred. If there is none, the same server is asked again after a pause. A
    /// server that cannot be reached yet, does not respond in time, or responds with 502, 503 or 504 is asked again
    /// after a longer pause, which counts as well. The pause is 0.2 s at first and doubles each time up to 5 s,
    /// shortened at random by up to a half. The response to a request that must not be repeated
    /// (`resendRule`) is not continued.
    public var maximumContinuations = 3
    /// The number of connections that share the download; 1 unless set, 16 at most.
    ///
    /// Several connections are used only if the file is not small and the server supports ranges and sends a length and
    /// a strong validator. Otherwise, one connection is used. If a download over several connections is interrupted, it
    /// starts over.
    public var connections = 1
    /// The number of bytes of an error response's body that are kept for the failure; 64 KiB unless set.
    public var errorBodyLimit = 65_536
    /// The monitor that shows the download in a Foundation progress, through which it can be cancelled and paused; none
    /// unless set.
    public var monitor: TransferMonitor?
    /// A closure that receives the events of the download, in order; none unless set.
    public var onEvent: (@Sendable (DownloadEvent) -> Void)?

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - destination: The destination of the file; unless given, a temporary file that the caller moves.
    public init(_ request: APIConfiguration, to destination: DownloadDestination = .temporary) {
        self.request = request
        self.destination = destination
    }

    /// Creates a configuration from a path and the parameters of an ``/SwitchyardClient/APIConfiguration``, in the same
    /// order.
    ///
    /// - Parameters:
    ///   - path: The path below the base URL, or an absolute URL.
    ///   - method: The method; GET unless given.
    ///   - query: The query parameters of the URL.
    ///   - body: The body; none unless given.
    ///   - headers: The header fields.
    ///   - destination: The destination of the file; unless given, a temporary file that the caller moves.
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
    /// The content begins to arrive from its first byte; `total` is `nil` while the length is unknown.
    case began(total: Int64?)
    /// The download resumes at this byte, after an earlier download was interrupted.
    case resumed(at: Int64, total: Int64?)
    /// The received bytes could not be used any more, so the download starts over; the text is the reason.
    case restarted(String)
    /// A server interrupted the body after this number of bytes, or cannot be asked for the rest yet.
    case interrupted(at: Int64, TransportError)
    /// The file is complete and at its destination.
    case moved(URL)
    /// The file is complete but could not be moved to its destination; the call fails.
    case moveFailed(FileFailure)
}

extension TransferSubject {
    /// Creates the subject of a download.
    init(_ download: DownloadConfiguration, service: String, environment: String) {
        self.init(download.request, named: download.contentName, service: service, environment: environment)
    }
}
