import SwitchyardHTTP
import SwitchyardServices

/// How far an upload has come, and what it has gone through: pure bookkeeping.
struct UploadState: Sendable {
    /// What is done next.
    enum Next: Sendable {
        case open
        case ask
        case send
    }

    /// Where an open upload is.
    struct Session: Sendable {
        /// Its own URL.
        var url: RequestURL
        /// The server that has it; `nil` when it is none of the service's.
        var server: Server.ID?
        /// Whether the others are asked for it.
        var isSought = false
    }

    var session: Session?
    var next = Next.open
    /// The most bytes of one piece, after a server refused longer ones; `nil` if none has.
    private(set) var pieceLimit: Int64?
    /// The bytes that the server is known to have.
    var offset: Int64 = 0
    /// The most bytes that were known to have arrived of the upload that is open.
    private var most: Int64 = 0
    /// How often in a row something broke without a byte more having arrived than before.
    var breaks = 0
    /// How often the upload began anew.
    var restarts = 0
    /// Servers that are not asked as long as there is another.
    var lost: [Server.ID] = []
    /// Requests sent, hedges and failovers included.
    var attempts = 0
    /// Whether one of them may have been executed without an answer that says so.
    var mayHaveBeenExecuted = false
    /// Whether the server may have got everything, and has not said since what it has.
    var mayBeWhole = false
    /// Whether the server has said that it has everything.
    var isComplete = false

    /// Takes note of how many bytes the server has.
    mutating func arrived(_ count: Int64) {
        // A server whose count goes back and forth takes nobody in.
        if count > most { breaks = 0 }
        most = max(most, count)
        offset = count
        mayBeWhole = false
        next = .send
    }

    /// Makes the pieces shorter, and has the server asked what has arrived of the one that was too long.
    mutating func shortenPieces(to length: Int64) {
        pieceLimit = length
        next = .ask
    }

    /// Forgets the upload that was open.
    mutating func startOver() {
        session = nil
        offset = 0
        most = 0
        mayBeWhole = false
        restarts += 1
        next = .open
    }
}
