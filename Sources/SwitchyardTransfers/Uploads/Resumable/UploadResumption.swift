public import Foundation
public import SwitchyardHTTP

/// How an upload goes on where it was cut, in place of being sent once more as a whole.
///
/// ### Use
///
///     var upload = UploadConfiguration(path: "files", from: .file(film, contentType: "video/quicktime"))
///     upload.resumption = .tus(metadata: ["filename": "film.mov"])
///     upload.resumption?.directory = caches
///     let answer = try await client.upload(upload)
///
/// ### What it takes
/// A server that speaks one of two protocols. The upload is opened first, which gives it a URL of its own, and then sent
/// there, as a whole or in pieces. After a break the server is asked how many bytes it has, and gets the rest. A server
/// that does not answer any more is left: the next one of the service is asked whether it knows the upload, which it does
/// where servers share what they store, and goes on with it; else the upload begins anew there. A server that may have got
/// all bytes is not left for another upload, which would be a second copy: it is asked again, and the upload ends as one
/// that may have been executed. An idempotency key, or `mayBeRepeated`, allows the second copy.
///
/// The length of the source has to be known: a stream without one is refused with
/// ``/SwitchyardHTTP/RequestError/BodyReason/unknownLength``.
public struct UploadResumption: Sendable {
    enum Dialect: Sendable {
        case tus(metadata: [String: String])
        case contentRange(opening: RequestBody)
    }

    let dialect: Dialect
    /// Whether the caller needs the body of the last response; then the record stays if that response was lost.
    var needsResponse = false

    /// The most bytes of one request; all that are left unless set.
    ///
    /// What is below one is one. Smaller pieces are for proxies that limit bodies; Google's servers take multiples of
    /// 256 KiB only. If a server refuses a piece as too large (413), the following pieces of the upload have half its
    /// length; if the shortest one is refused too, that response is the upload's response.
    public var pieceLength: Int64?
    /// How often in a row, without a byte more having arrived, a break is survived; 3 unless set.
    ///
    /// It bounds as well how often the upload begins anew within one call.
    public var maximumContinuations = 3
    /// Where a small record of an upload that was cut is kept, so that the same configuration goes on with it in a later
    /// call, also of another process; nowhere unless set.
    ///
    /// It is kept for files that have not changed since, until the upload is complete or the server says that it does not
    /// know the upload (404, 410). It holds the URL of the upload, which may be all that is needed
    /// to write there, so others than the file's owner cannot read it. Credentials are not kept: where users take turns,
    /// name them to the client (`NetworkClient.Options.user`), or give each a directory. Then an upload waits for the
    /// user who has begun it, and what was begun while nobody was logged in is that of the first who goes on with it.
    public var directory: URL?
    /// Told about what happens on the way, in order; nobody unless set.
    public var onEvent: (@Sendable (UploadEvent) -> Void)?

    /// The tus protocol 1.0.0, with its extension Creation: POST opens, HEAD asks, PATCH sends.
    ///
    /// The answer of the upload is that to the last PATCH; its context's `url` is that of the upload. If that response is
    /// lost, the response to a HEAD which says that all bytes are there takes its place. A source's content type is not
    /// sent unless `metadata` has it.
    ///
    /// - Parameter metadata: What the server is told about the upload, sent as `Upload-Metadata`; keys are ASCII without
    ///   spaces and commas.
    /// - Returns: The protocol.
    public static func tus(metadata: [String: String] = [:]) -> UploadResumption {
        UploadResumption(dialect: .tus(metadata: metadata))
    }

    /// Sessions with `Content-Range`, as Google's storage services have them: POST opens, PUT sends, PUT of nothing asks.
    ///
    /// The server answers 308 with `Range` as long as bytes are missing. The answer of the upload is that to the PUT which
    /// has completed it.
    ///
    /// - Parameter opening: The body of the request that opens the session, often what is known about the file as JSON.
    /// - Returns: The protocol.
    public static func contentRange(opening: RequestBody = .none) -> UploadResumption {
        UploadResumption(dialect: .contentRange(opening: opening))
    }
}

/// What happens on the way of an upload that can go on where it was cut.
public enum UploadEvent: Sendable, Hashable {
    /// A server has opened the upload, and takes it at this URL from its first byte.
    case began(RequestURL)
    /// The upload goes on at this byte, there.
    case resumed(at: Int64, RequestURL)
    /// What was sent from this byte on was not answered as it should be; the server is asked what it has.
    case interrupted(at: Int64, reason: String)
    /// A server refused a piece as too large (413); the following pieces have at most this many bytes.
    case shortened(to: Int64)
    /// The upload begins anew; the text says why.
    case restarted(String)
}
