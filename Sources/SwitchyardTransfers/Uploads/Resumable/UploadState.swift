import SwitchyardHTTP
import SwitchyardServices

/// The progress and the history of an upload, without side effects.
struct UploadState: Sendable {
    /// The next step.
    enum Next: Sendable {
        case open
        case ask
        case send
    }

    /// The location of an open upload.
    struct Session: Sendable {
        /// The upload's own URL.
        var url: RequestURL
        /// The server that has the upload; `nil` if it does not belong to the service.
        var server: Server.ID?
        /// Whether other servers are asked for the upload.
        var isSought = false
    }

    var session: Session?
    var next = Next.open
    /// The maximum number of bytes of one piece, after a server refused longer pieces; `nil` if no server has.
    private(set) var pieceLimit: Int64?
    /// The number of bytes that the server is known to have.
    var offset: Int64 = 0
    /// The highest number of bytes that the server has reported for the current upload.
    private var most: Int64 = 0
    /// The number of consecutive interruptions without a new byte having arrived.
    var breaks = 0
    /// The number of times that the upload started over.
    var restarts = 0
    /// The servers that are not asked as long as there is another server.
    var lost: [Server.ID] = []
    /// The number of requests sent, including hedges and failovers.
    var attempts = 0
    /// Whether a request may have been executed although no response confirmed it.
    var mayHaveBeenExecuted = false
    /// Whether the server may have received all bytes and has not reported its offset since.
    var mayBeWhole = false
    /// Whether the server has reported that it has all bytes.
    var isComplete = false

    /// Records the number of bytes that the server has.
    mutating func arrived(_ count: Int64) {
        // Comparing with the highest number keeps a server whose count goes back and forth from resetting the counter
        // forever.
        if count > most { breaks = 0 }
        most = max(most, count)
        offset = count
        mayBeWhole = false
        next = .send
    }

    /// Shortens the pieces, and makes the next step ask the server how many bytes of the refused piece have arrived.
    mutating func shortenPieces(to length: Int64) {
        pieceLimit = length
        next = .ask
    }

    /// Discards the state of the open upload.
    mutating func startOver() {
        session = nil
        offset = 0
        most = 0
        mayBeWhole = false
        restarts += 1
        next = .open
    }
}
