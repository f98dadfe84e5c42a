public import Foundation
public import SwitchyardClient
public import SwitchyardHTTP

/// Everything that describes one download to a file.
///
/// ### Use
///
///     var download = DownloadConfiguration(path: "films/7.mov", to: .file(films.appending(path: "7.mov")))
///     download.existingFile = .replace
///     let film = try await client.download(download) { progress in show(progress.fraction) }
///
/// ### Interruptions
/// The bytes are written to a hidden file beside the destination, and a small record beside that says what they are
/// part of. A download that was cut (by the network, by a cancel, by the end of the process) goes on where it stopped
/// when the same configuration is downloaded again, from whichever server, if the content has not changed: the request
/// carries `Range` and `If-Range` (RFC 9110 sections 13.1.5 and 14.2). The destination itself changes in one step, when
/// everything is there.
///
/// ### Compression
/// None is asked for, unless the request has an `Accept-Encoding` of its own. What a server compresses nevertheless is
/// written as the transport gives it: as it came with `CurlTransport`, decompressed with `URLSessionTransport`. It is
/// not gone on with.
public struct DownloadConfiguration: Sendable {
    /// What to ask; GET unless set.
    ///
    /// Its `timeout`, or that of a rule, bounds the whole download, when it is set; the client's default does not, since
    /// nobody knows how long a download takes. `idleTimeout` bounds each pause of the server; 60 s when neither it nor the
    /// client's is set. Response caching plays no part, and the client's limit for bodies neither: see ``maximumLength``.
    public var request: APIConfiguration
    /// Where the file goes.
    public var destination: DownloadDestination
    /// What becomes of a file that stands there already; the download is refused unless set.
    public var existingFile = ExistingFileRule.refuse
    /// Whether missing directories of the destination are created; off unless set.
    public var createsDirectories = false
    /// Whether a download that was cut can be taken up again; on unless set.
    ///
    /// Off, what has come is removed when the download fails. So it is, in any case, where the place for it would be the
    /// system's temporary directory: with ``DownloadDestination/temporary`` and ``DownloadDestination/custom(_:)`` a
    /// ``partialDirectory`` is needed.
    public var isResumable = true
    /// Where the bytes are kept until the file is whole; beside the destination unless set.
    ///
    /// On the volume of the destination the last step is a rename, on another one the file is copied beside it first.
    /// The file is locked while it is loaded: on Apple systems an app that is suspended meanwhile is ended by the
    /// system if it lies in a folder of an app group (0xdead10cc), so keep it in one of the app's own.
    public var partialDirectory: URL?
    /// Resumes a download of which only this is left: see ``DownloadFailure/resumeData``.
    ///
    /// Data that is damaged, whose file is gone, or that is of another content, is as good as none: the download starts
    /// over, and the other content's bytes stay.
    public var resumeData: Data?
    /// What names the content, in place of path and query: the same for two URLs that differ in a signature only.
    public var contentName: String?
    /// The largest file in bytes that is accepted; no limit unless set.
    public var maximumLength: Int64?
    /// The digest that the file must have; not looked at unless set.
    ///
    /// It is taken piece by piece, as the bytes come. A content of another digest is never put in place: it is loaded
    /// anew, from one server after the other if each has another one or refuses. If none has the right one the download
    /// fails with ``DownloadFailure/Reason/digestMismatch(expected:actual:)``, or as the last one refused. What has come
    /// is removed then.
    public var digest: ContentDigest?
    /// How often a body that broke off is continued within one call, each part by itself where several connections share
    /// the work; 3 unless set.
    ///
    /// Another server of the service is asked first; where there is none, the same one after a pause. One that cannot be
    /// reached yet, does not answer in time, or answers with 502, 503 or 504, is asked again after a longer one, which
    /// counts as well: 0.2 s at first, twice as long each time up to 5 s, shortened at random by up to a half. The answer
    /// to a request that must not be repeated (``/SwitchyardClient/APIConfiguration/resendRule``) is not continued.
    public var maximumContinuations = 3
    /// How many connections share the work; 1 unless set, 16 at most.
    ///
    /// More than one takes a server that supports ranges and says a length and a strong validator; else, and for a small
    /// file, there is one. A download over several connections starts over when it is cut.
    public var connections = 1
    /// Bytes of a refusing answer's body that are kept for the failure; 64 KiB unless set.
    public var errorBodyLimit = 65_536
    /// Shows the download in a Foundation progress, through which it can be cancelled and paused; nowhere unless set.
    public var monitor: TransferMonitor?
    /// Told about what happens on the way, in order; nobody unless set.
    public var onEvent: (@Sendable (DownloadEvent) -> Void)?

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - request: What to ask.
    ///   - destination: Where the file goes; a temporary file, for the caller to move, unless given.
    public init(_ request: APIConfiguration, to destination: DownloadDestination = .temporary) {
        self.request = request
        self.destination = destination
    }

    /// Creates a configuration of a path, with what an ``/SwitchyardClient/APIConfiguration`` takes in the same order.
    ///
    /// - Parameters:
    ///   - path: The path below the base URL, or an absolute URL.
    ///   - method: The method; GET unless given.
    ///   - query: Parameters of the URL.
    ///   - body: The body; none unless given.
    ///   - headers: Header fields.
    ///   - destination: Where the file goes; a temporary file, for the caller to move, unless given.
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

/// What happens on the way of a download.
public enum DownloadEvent: Sendable, Hashable {
    /// The content begins to arrive from its first byte; the total is `nil` while unknown.
    case began(total: Int64?)
    /// The download goes on at this byte, after an earlier one that was cut.
    case resumed(at: Int64, total: Int64?)
    /// What had arrived could not be used any more, and the download starts over; the text says why.
    case restarted(String)
    /// A server broke the body off after so many bytes, or cannot be asked for the rest yet.
    case interrupted(at: Int64, TransportError)
    /// The file is whole and in its place.
    case moved(URL)
    /// The file is whole but could not be put in its place; the call fails.
    case moveFailed(FileFailure)
}

extension TransferSubject {
    /// What a download asks for.
    init(_ download: DownloadConfiguration, service: String, environment: String) {
        self.init(download.request, named: download.contentName, service: service, environment: environment)
    }
}
