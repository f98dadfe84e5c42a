import Foundation
import SwitchyardClient
import SwitchyardHTTP

/// Names one exchange, so that a command which comes too late finds nothing.
struct ExchangeID: Sendable, Hashable {
    let descriptor: Int32
    let number: Int
}

/// Names bytes that follow a response on one connection, so that those which come too late find nothing.
struct FollowerID: Sendable, Hashable {
    let descriptor: Int32
    let connection: Int
    let number: Int
}

/// What other threads ask the loop to do.
enum LoopCommand: Sendable {
    /// The handler has answered; a streamed body follows.
    case respond(ExchangeID, LoopbackResponse)
    /// A piece of a streamed body.
    case write(ExchangeID, Data, Acknowledgement)
    /// The trailers of a streamed body.
    case trailers(ExchangeID, HTTPHeaders)
    /// A streamed body is complete.
    case finish(ExchangeID)
    /// The handler gave up in the middle.
    case fail(ExchangeID)
    /// The handler reads the request's body.
    case readMore(ExchangeID)
    /// Bytes that follow a response are due.
    case follow(FollowerID, Data)
    /// The faults have been changed.
    case applyFaults(Latch)
    /// All connections are to be closed.
    case closeConnections(Latch)
    case stop

    /// Tells whoever waits that the command will not be carried out.
    func drop() {
        switch self {
        case .write(_, _, let acknowledgement): acknowledgement.call(false)
        case .applyFaults(let latch), .closeConnections(let latch): latch.open()
        case .respond, .trailers, .finish, .fail, .readMore, .follow, .stop: break
        }
    }
}
