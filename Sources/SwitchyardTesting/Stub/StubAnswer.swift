public import Foundation
import SwitchyardClient
public import SwitchyardHTTP
public import SwitchyardServices

/// What a ``StubTransport`` does with a request.
///
///     .json(#"{"id": 1}"#)
///     .failure(.connectionRefused)
///     .delayed(by: .seconds(2), on: clock, .status(503))
///     .chunks([Data("one".utf8), Data("two".utf8)], failing: TransportError(.truncated, message: "cut"))
public struct StubAnswer: Sendable {
    struct Chunks: Sendable {
        var status: Int
        var headers: HTTPHeaders
        var pieces: [Data]
        var pause: Pause?
        var failure: TransportError?
    }

    struct Pause: Sendable {
        let duration: Duration
        let time: any TimeSource

        /// The pause that an idle timeout allows in place of this one; `nil` when this one is short enough.
        func shortened(to limit: Duration?) -> Pause? {
            limit.flatMap { $0 < duration ? Pause(duration: $0, time: time) : nil }
        }

        /// The failure at the end of a pause that was too long.
        var timeout: TransportError {
            TransportError(.timeout, message: "nothing came within \(duration)")
        }

        func start(_ action: @escaping @Sendable () -> Void) -> any ScheduledTimer {
            time.schedule(at: time.now.advanced(by: duration), action)
        }
    }

    indirect enum Kind: Sendable {
        case response(HTTPResponse)
        case chunks(Chunks)
        case failure(TransportError)
        case never
        case delayed(Pause, StubAnswer)
    }

    let kind: Kind
}

extension StubAnswer {
    /// A response, as it is.
    public static func response(_ response: HTTPResponse) -> StubAnswer {
        StubAnswer(kind: .response(response))
    }

    /// A response of a status, header fields and a body.
    public static func status(_ status: Int, headers: HTTPHeaders = [:], body: Data = Data()) -> StubAnswer {
        response(HTTPResponse(status: status, headers: headers, body: .whole(body)))
    }

    /// A response of JSON text, which is not checked.
    public static func json(_ text: String, status: Int = 200, headers: HTTPHeaders = [:]) -> StubAnswer {
        let headers = HTTPHeaders([.contentType("application/json")]).overridden(by: headers)
        return self.status(status, headers: headers, body: Data(text.utf8))
    }

    /// A response whose body comes in pieces.
    ///
    /// A request that asks for the whole body gets it when all pieces are there; one that asks for a stream gets the
    /// head first.
    ///
    /// - Parameters:
    ///   - pieces: The pieces; empty ones are left out.
    ///   - status: The status.
    ///   - headers: The header fields.
    ///   - interval: The pause before each piece; none unless given.
    ///   - time: The clock of the pauses; without it there are none.
    ///   - failure: What ends the body behind the last piece; `nil` is a complete body.
    /// - Returns: The answer.
    public static func chunks(
        _ pieces: [Data],
        status: Int = 200,
        headers: HTTPHeaders = [:],
        every interval: Duration = .zero,
        on time: (any TimeSource)? = nil,
        failing failure: TransportError? = nil
    ) -> StubAnswer {
        let pause = time.flatMap { interval > .zero ? Pause(duration: interval, time: $0) : nil }
        let filled = pieces.filter { !$0.isEmpty }
        let chunks = Chunks(status: status, headers: headers, pieces: filled, pause: pause, failure: failure)
        return StubAnswer(kind: .chunks(chunks))
    }

    /// A failure.
    public static func failure(_ error: TransportError) -> StubAnswer {
        StubAnswer(kind: .failure(error))
    }

    /// A failure of a kind; nothing was sent if the connection was refused, not established or not found.
    public static func failure(_ kind: TransportError.Kind) -> StubAnswer {
        let certain: Set<TransportError.Kind> = [
            .connectionRefused, .connectTimeout, .dnsFailure, .offline, .resourcesExhausted,
        ]
        return failure(
            TransportError(kind, message: "stubbed \(kind.rawValue)", mayHaveBeenSent: !certain.contains(kind))
        )
    }

    /// No answer, until the exchange is cancelled, times out or the transport is shut down.
    public static let never = StubAnswer(kind: .never)

    /// An answer that comes later.
    public static func delayed(by delay: Duration, on time: any TimeSource, _ answer: StubAnswer) -> StubAnswer {
        StubAnswer(kind: .delayed(Pause(duration: delay, time: time), answer))
    }
}
