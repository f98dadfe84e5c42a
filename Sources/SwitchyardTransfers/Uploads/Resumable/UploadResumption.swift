public import Foundation
public import SwitchyardHTTP

/// The settings for continuing an interrupted upload where it stopped, instead of sending it again as a whole.
///
/// ### Use
///
///     var upload = UploadConfiguration(path: "files", from: .file(film, contentType: "video/quicktime"))
///     upload.resumption = .tus(metadata: ["filename": "film.mov"])
///     upload.resumption?.directory = caches
///     let answer = try await client.upload(upload)
///
/// ### Requirements
/// The server supports one of two protocols. The first request opens the upload, and the server names a URL for it. The
/// source is then sent to that URL, in one request or in several. After an interruption, the client asks the server for
/// its offset (the number of bytes it has) and sends the rest. If the server no longer responds, the next server of the
/// service is asked for the upload. If the servers share their storage, the upload continues there; otherwise, it
/// starts over there.
///
/// If the server may have received all bytes, the upload does not start over, because that could create a second copy.
/// The same server is asked again, and if it still does not respond, the call fails with `mayHaveBeenExecuted` set.
/// With an idempotency key or `mayBeRepeated`, the upload starts over even then.
///
/// The length of the source must be known: a stream of unknown length is refused with
/// ``/SwitchyardHTTP/RequestError/BodyReason/unknownLength``.
public struct UploadResumption: Sendable {
    enum Dialect: Sendable {
        case tus(metadata: [String: String])
        case contentRange(opening: RequestBody)
    }

    let dialect: Dialect
    /// Whether the app needs the body of the last response.
    ///
    /// If `true`, the record is kept when that response is lost.
    var needsResponse = false

    /// The maximum number of bytes in one request; all remaining bytes unless set.
    ///
    /// A value below 1 counts as 1. Set a small number if a proxy limits the size of bodies. Google's servers accept
    /// only multiples of 256 KiB. If a server rejects a request as too large (413), the following requests have about
    /// half as many bytes. If the smallest request is rejected as well, that response becomes the upload's response.
    public var pieceLength: Int64?
    /// The maximum number of consecutive interruptions during which no new byte arrives; 3 unless set.
    ///
    /// The same number limits how often the upload starts over within one call.
    public var maximumContinuations = 3
    /// The directory in which a small record of an interrupted upload is kept; no record is kept unless set.
    ///
    /// With the record, a later call with the same configuration continues the upload, even in another process.
    ///
    /// A record is kept only for a file, and is used only if the file has not changed. The record is removed when the
    /// upload is complete or the server does not know the upload (404, 410). The record contains the URL of the upload.
    /// Knowing this URL may be sufficient to write to the upload, so the file permissions let only the system user of
    /// the process read the record. Credentials are not stored. If several users share the app, set the current user on
    /// the client (`NetworkClient.Options.user`), or use a directory per user. An interrupted upload then waits for the
    /// user who started it. An upload that was started without a logged-in user belongs to the first user who continues
    /// it.
    public var directory: URL?
    /// A closure that receives the events of the upload, in order; none unless set.
    public var onEvent: (@Sendable (UploadEvent) -> Void)?

    /// Returns the tus protocol 1.0.0 with its extension Creation: POST opens the upload, HEAD asks for the offset,
    /// PATCH sends bytes.
    ///
    /// The upload's response is the response to the last PATCH request, and its context's `url` is the URL of the
    /// upload. If that response is lost, the upload returns the response to a HEAD request that reports all bytes. The
    /// source's content type is not sent unless `metadata` contains it.
    ///
    /// - Parameter metadata: The metadata of the upload, sent as `Upload-Metadata`; keys are ASCII without spaces and
    ///   commas.
    /// - Returns: The protocol.
    public static func tus(metadata: [String: String] = [:]) -> UploadResumption {
        UploadResumption(dialect: .tus(metadata: metadata))
    }

    /// Returns the protocol of sessions with `Content-Range`, as in Google's storage services: POST opens the session,
    /// PUT sends bytes, and an empty PUT asks for the offset.
    ///
    /// The server responds with 308 and `Range` as long as bytes are missing. The upload's response is the response to
    /// the PUT request that completed it.
    ///
    /// - Parameter opening: The body of the request that opens the session, often a JSON description of the file.
    /// - Returns: The protocol.
    public static func contentRange(opening: RequestBody = .none) -> UploadResumption {
        UploadResumption(dialect: .contentRange(opening: opening))
    }
}

/// An event during a resumable upload.
public enum UploadEvent: Sendable, Hashable {
    /// A server has opened the upload and accepts its bytes at this URL, from the first byte.
    case began(RequestURL)
    /// The upload resumes at this byte, at this URL.
    case resumed(at: Int64, RequestURL)
    /// No valid response arrived for the bytes that were sent from this offset on, so the server is asked how many
    /// bytes it has.
    case interrupted(at: Int64, reason: String)
    /// A server rejected a request as too large (413).
    ///
    /// The following requests have at most this many bytes.
    case shortened(to: Int64)
    /// The upload starts over. The associated value is the reason.
    case restarted(String)
}
