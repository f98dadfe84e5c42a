import Foundation
import SwitchyardClient
import SwitchyardHTTP

/// The state of a response that is being sent.
///
/// The value performs no I/O. It encodes the chunks of a body as bytes for the socket. If a fault requires it, the
/// value cuts, delays or falsifies these bytes.
struct Reply {
    /// The fate of the connection after the response.
    enum Ending: Equatable {
        case keepAlive
        case close
        case reset
    }

    /// Bytes for the socket, with an `ending` if they are the last bytes of the response.
    struct Output: Equatable {
        var bytes: Data
        var ending: Ending?
    }

    /// The number of bytes that ``Fault/drip(bytes:every:)`` sends at a time, and the interval; `nil` without this
    /// fault.
    let drip: (bytes: Int, interval: Duration)?
    var trailers: HTTPHeaders
    /// The unsolicited bytes that are sent after the response; empty if a fault cuts the response.
    let followers: [Follower]
    private let encoder: ResponseEncoder
    private let cutEnding: Ending?
    /// The number of body bytes that a cut response can still send.
    ///
    /// `nil` if there is no limit, or if the limit will be half of the first chunk and no chunk has been sent yet.
    private var allowance: Int?

    /// Creates the state of a response.
    ///
    /// The fault decides whether the response is cut, delayed or falsified.
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

    /// Whether the response has a body.
    var carriesBody: Bool { encoder.framing != .none }

    /// Returns the head.
    ///
    /// If the response has no body and must be cut, returns only half of the head.
    func opening() -> Output {
        guard let cutEnding, !carriesBody || allowance == -1 else { return Output(bytes: encoder.head) }
        return Output(bytes: encoder.head.prefix(encoder.head.count / 2), ending: cutEnding)
    }

    /// Returns the encoded bytes of a chunk of the body.
    mutating func body(_ piece: Data) -> Output {
        guard let cutEnding else { return Output(bytes: encoder.frame(piece)) }
        let allowed = allowance ?? piece.count / 2
        guard allowed < piece.count else {
            allowance = allowed - piece.count
            return Output(bytes: encoder.frame(piece))
        }
        return Output(bytes: encoder.frame(piece.prefix(allowed)), ending: cutEnding)
    }

    /// Returns the bytes after the last chunk.
    func end() -> Output {
        if let cutEnding { return Output(bytes: Data(), ending: cutEnding) }
        return Output(bytes: encoder.end(trailers: trailers), ending: encoder.keepsAlive ? .keepAlive : .close)
    }
}
