import Foundation
import SwitchyardClient
import SwitchyardHTTP

/// A response on its way: pure, turns pieces of a body into bytes for the socket, and cuts, slows or falsifies them
/// when a fault says so.
struct Reply {
    /// What becomes of the connection behind the response.
    enum Ending: Equatable {
        case keepAlive
        case close
        case reset
    }

    /// Bytes for the socket, and the ending when they are the last.
    struct Output: Equatable {
        var bytes: Data
        var ending: Ending?
    }

    /// The bytes of the drip fault at a time, and their interval.
    let drip: (bytes: Int, interval: Duration)?
    var trailers: HTTPHeaders
    /// What comes behind the response, unless that is cut.
    let followers: [Follower]
    private let encoder: ResponseEncoder
    private let cutEnding: Ending?
    /// Bytes of the body that may still be sent; `nil` is no limit, or not known before the first piece.
    private var allowance: Int?

    /// Starts a response under a fault.
    init(_ response: LoopbackResponse, to head: RequestHead?, closes: Bool, fault: FaultEffect?) {
        var lengthError = 0
        if case .wrongLength(let difference) = fault { lengthError = difference }
        encoder = ResponseEncoder(response, to: head, closes: closes, lengthError: lengthError)
        trailers = response.trailers
        if case .drip(let bytes, let interval) = fault { drip = (bytes, interval) } else { drip = nil }
        guard case .cut(let count, let byReset) = fault else {
            cutEnding = nil
            followers = response.followers
            return
        }
        followers = []
        cutEnding = byReset ? .reset : .close
        if let length = response.body.length {
            allowance = min(count ?? length / 2, max(0, length - 1))
        } else {
            allowance = count
        }
        if response.body.length == 0 { allowance = -1 }
    }

    /// Whether pieces of the body are sent at all.
    var carriesBody: Bool { encoder.framing != .none }

    /// The head, or half of it when a response without a body is to be cut.
    func opening() -> Output {
        guard let cutEnding, !carriesBody || allowance == -1 else { return Output(bytes: encoder.head) }
        return Output(bytes: encoder.head.prefix(encoder.head.count / 2), ending: cutEnding)
    }

    /// A piece of the body.
    mutating func body(_ piece: Data) -> Output {
        guard let cutEnding else { return Output(bytes: encoder.frame(piece)) }
        let allowed = allowance ?? piece.count / 2
        guard allowed < piece.count else {
            allowance = allowed - piece.count
            return Output(bytes: encoder.frame(piece))
        }
        return Output(bytes: encoder.frame(piece.prefix(allowed)), ending: cutEnding)
    }

    /// What follows the last piece.
    func end() -> Output {
        if let cutEnding { return Output(bytes: Data(), ending: cutEnding) }
        return Output(bytes: encoder.end(trailers: trailers), ending: encoder.keepsAlive ? .keepAlive : .close)
    }
}
