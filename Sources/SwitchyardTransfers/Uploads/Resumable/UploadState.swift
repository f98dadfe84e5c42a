import SwitchyardHTTP
import SwitchyardServices

/// The progress and the history of an upload, as a value without side effects.
struct UploadState: Sendable {
    /// The next step of the upload: open it, ask for the server's offset, or send a part of the source.
    enum Next: Sendable {
        case open
        case ask
        case send
    }

    /// An upload that a server has opened.
    struct Session: Sendable {
        /// The URL that the server named for the upload.
        var url: RequestURL
        /// The server that opened the upload, or `nil` if that server does not belong to the service.
        var server: Server.ID?
        /// Whether the upload is being looked for on other servers.
        var isSought = false
    }

    var session: Session?
    var next = Next.open
    /// The maximum number of bytes in a request, after a server rejected a larger request, or `nil` if no request was
    /// rejected.
    private(set) var pieceLimit: Int64?
    /// The number of bytes that the server is known to have.
    var offset: Int64 = 0
    /// The highest number of bytes that the server has reported for the current upload.
    private var most: Int64 = 0
    /// The number of consecutive interruptions during which no new byte arrived.
    var breaks = 0
    /// The number of times that the upload started over.
    var restarts = 0
    /// The servers that are not asked as long as another server is available.
    var lost: [Server.ID] = []
    /// The number of requests sent, including failovers and hedges (second requests while the first is slow).
    var attempts = 0
    /// Whether a server may have processed a request, although no response confirmed it.
    var mayHaveBeenExecuted = false
    /// Whether the server may have received all bytes and has not reported its offset since.
    var mayBeWhole = false
    /// Whether the server has reported that it has all bytes.
    var isComplete = false

    /// Records the number of bytes that the server has.
    mutating func arrived(_ count: Int64) {
        // The count is compared with the highest count so far, because otherwise a server that alternately reports a
        // smaller and a larger count would reset the number of interruptions forever.
        if count > most { breaks = 0 }
        most = max(most, count)
        offset = count
        mayBeWhole = false
        next = .send
    }

    /// Limits the number of bytes in each request, because the server rejected a request as too large.
    ///
    /// Before more bytes are sent, the server is asked how many bytes of the rejected request it has.
    mutating func shortenPieces(to length: Int64) {
        pieceLimit = length
        next = .ask
    }

    /// Resets everything that describes the open upload.
    mutating func startOver() {
        session = nil
        offset = 0
        most = 0
        mayBeWhole = false
        restarts += 1
        next = .open
    }
}
