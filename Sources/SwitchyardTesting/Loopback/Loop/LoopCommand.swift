import Foundation
import SwitchyardClient
import SwitchyardHTTP

/// The identity of an exchange.
///
/// A command for an exchange that has ended has no effect.
struct ExchangeID: Sendable, Hashable {
    let descriptor: Int32
    let number: Int
}

/// The identity of a group of ``Follower`` bytes on a connection.
///
/// A command for a closed connection has no effect.
struct FollowerID: Sendable, Hashable {
    let descriptor: Int32
    let connection: Int
    let number: Int
}

/// A command from another thread to the event loop.
enum LoopCommand: Sendable {
    /// The handler has returned a response.
    ///
    /// If the body is streamed, its chunks follow as ``write`` commands.
    case respond(ExchangeID, LoopbackResponse)
    /// A chunk of a streamed body.
    case write(ExchangeID, Data, Acknowledgement)
    /// The trailer fields of a streamed body have been set.
    case trailers(ExchangeID, HTTPHeaders)
    /// A streamed body is complete.
    case finish(ExchangeID)
    /// The handler failed before the response was complete.
    case fail(ExchangeID)
    /// The handler wants to read more of the request's body.
    case readMore(ExchangeID)
    /// The delay of ``Follower`` bytes has passed, so the bytes must be sent now.
    case follow(FollowerID, Data)
    /// The faults have changed.
    case applyFaults(Latch)
    /// All connections must be closed.
    case closeConnections(Latch)
    case stop

    /// Notifies the code that waits for the command that the command will not be executed.
    func drop() {
        switch self {
        case .write(_, _, let acknowledgement): acknowledgement.call(false)
        case .applyFaults(let latch), .closeConnections(let latch): latch.open()
        case .respond, .trailers, .finish, .fail, .readMore, .follow, .stop: break
        }
    }
}
