public import Foundation
import SwitchyardClient
public import SwitchyardHTTP
public import SwitchyardServices

/// The scripted behavior of a ``StubTransport`` for one request.
///
///     .json(#"{"id": 1}"#)
///     .failure(.connectionRefused)
///     .delayed(by: .seconds(2), on: clock, .status(503))
///     .chunks([Data("one".utf8), Data("two".utf8)], failing: TransportError(.truncated, message: "cut"))
public struct StubResponse: Sendable {
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

        /// Returns the pause shortened to the idle timeout `limit`, or `nil` if the pause does not exceed the limit.
        func shortened(to limit: Duration?) -> Pause? {
            limit.flatMap { $0 < duration ? Pause(duration: $0, time: time) : nil }
        }

        /// The error for a pause that exceeds the idle timeout.
        var timeout: TransportError {
            TransportError(.timeout, message: "no data arrived within \(duration)")
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
        case delayed(Pause, StubResponse)
    }

    let kind: Kind
}

extension StubResponse {
    /// Responds with `response`.
    public static func response(_ response: HTTPResponse) -> StubResponse {
        StubResponse(kind: .response(response))
    }

    /// Responds with a status, header fields and a body.
    public static func status(_ status: Int, headers: HTTPHeaders = [:], body: Data = Data()) -> StubResponse {
        response(HTTPResponse(status: status, headers: headers, body: .whole(body)))
    }

    /// Responds with JSON text, which is not validated.
    public static func json(_ text: String, status: Int = 200, headers: HTTPHeaders = [:]) -> StubResponse {
        let headers = HTTPHeaders([.contentType("application/json")]).overridden(by: headers)
        return self.status(status, headers: headers, body: Data(text.utf8))
    }

    /// Responds with a body that arrives in chunks.
    ///
    /// If the client requests a whole body, it receives the response when all chunks have arrived. If it requests a
    /// stream, it receives the head first.
    ///
    /// - Parameters:
    ///   - pieces: The chunks of the body. Empty chunks are skipped.
    ///   - status: The status code.
    ///   - headers: The header fields.
    ///   - interval: The pause before each chunk. The default is no pause.
    ///   - time: The clock of the pauses. If `nil`, there are no pauses.
    ///   - failure: The error with which the body ends after the last chunk. If it is `nil`, the body is complete.
    /// - Returns: The scripted response.
    public static func chunks(
        _ pieces: [Data],
        status: Int = 200,
        headers: HTTPHeaders = [:],
        every interval: Duration = .zero,
        on time: (any TimeSource)? = nil,
        failing failure: TransportError? = nil
    ) -> StubResponse {
        let pause = time.flatMap { interval > .zero ? Pause(duration: interval, time: $0) : nil }
        let filled = pieces.filter { !$0.isEmpty }
        let chunks = Chunks(status: status, headers: headers, pieces: filled, pause: pause, failure: failure)
        return StubResponse(kind: .chunks(chunks))
    }

    /// Fails with this error.
    public static func failure(_ error: TransportError) -> StubResponse {
        StubResponse(kind: .failure(error))
    }

    /// Fails with an error of this kind.
    ///
    /// For `connectionRefused`, `connectTimeout`, `dnsFailure`, `offline` and `resourcesExhausted`, the error states
    /// that nothing was sent.
    public static func failure(_ kind: TransportError.Kind) -> StubResponse {
        let certain: Set<TransportError.Kind> = [
            .connectionRefused, .connectTimeout, .dnsFailure, .offline, .resourcesExhausted,
        ]
        return failure(
            TransportError(kind, message: "stubbed \(kind.rawValue)", mayHaveBeenSent: !certain.contains(kind))
        )
    }

    /// Does not respond.
    ///
    /// The exchange ends only when it is cancelled, times out, or the transport is shut down.
    public static let never = StubResponse(kind: .never)

    /// Behaves like another scripted response, but after a delay.
    public static func delayed(by delay: Duration, on time: any TimeSource, _ answer: StubResponse) -> StubResponse {
        StubResponse(kind: .delayed(Pause(duration: delay, time: time), answer))
    }
}
