import Foundation
package import SwitchyardAPI
public import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// The reason why a WebSocket could not be opened.
public enum WebSocketFailure: Error, Sendable {
    /// The request failed or was cancelled.
    case request(RequestFailure)
    /// The server responded with a status other than 101 (Switching Protocols); the response has no body.
    case refused(ServiceResponse)
    /// The server responded with 101, but violated RFC 6455 section 4.1.
    ///
    /// The second associated value describes the violation.
    case handshake(ServiceResponse, String)
    /// The connection was closed, and no new connection will be opened.
    ///
    /// Only ``ReconnectingWebSocket`` reports this failure.
    case closed(WebSocket.Closure)
}

extension NetworkClient {
    /// Opens a WebSocket (RFC 6455) under the rules of the client.
    ///
    /// The opening request is a GET like any other request. The client chooses a server. If that server is down,
    /// refuses the connection or violates the handshake, the client tries the next server and counts the failure
    /// against the first server. Header fields, credentials and their refresh, cookies, interceptors and retries apply,
    /// and redirects are followed according to ``/SwitchyardClient/APIConfiguration/redirects``.
    /// ``cancel(_:)-(RequestID)``, releasing the client and ``shutdown()`` end the connection.
    ///
    /// If the configuration itself sets a `timeout`, it limits the whole lifetime of the connection. Other timeouts
    /// limit only the time until the connection is open.
    ///
    /// - Parameters:
    ///   - configuration: The opening request.
    ///   - options: The options of the connection.
    ///   - id: The identifier with which another task can cancel the connection.
    /// - Returns: The open connection.
    /// - Throws: ``/SwitchyardStreams/WebSocketFailure``.
    public nonisolated(nonsending) func webSocket(
        _ configuration: APIConfiguration,
        options: WebSocket.Options = WebSocket.Options(),
        id: RequestID = RequestID()
    ) async throws(WebSocketFailure) -> WebSocket {
        let transfer = Transfer(id: id, client: self, hasEnd: false)
        let opening = WebSocketOpening(configuration, options, transfer)
        try opening.begin()
        do throws(WebSocketFailure) {
            return try await opening.open()
        } catch {
            transfer.end()
            throw error
        }
    }
}

/// The opening of WebSocket connections under the rules of a client.
struct WebSocketOpening: Sendable {
    private let configuration: APIConfiguration
    private let options: WebSocket.Options
    /// The transfer, with which the client can cancel the open connection: by identifier, or together with all requests
    /// that were sent through the same client.
    private let transfer: Transfer
    /// Whether the transfer ends when the connection ends.
    private let endsTransfer: Bool
    /// The handshakes of the attempts, each with its own `Sec-WebSocket-Key`.
    private let handshakes: HandshakeList

    init(
        _ configuration: APIConfiguration,
        _ options: WebSocket.Options,
        _ transfer: Transfer,
        endsTransfer: Bool = true
    ) {
        let handshakes = HandshakeList(options)
        self.handshakes = handshakes
        self.options = options
        self.transfer = transfer
        self.endsTransfer = endsTransfer
        self.configuration = Self.opening(configuration, options, handshakes)
    }

    /// Returns the configuration of the opening request.
    private static func opening(
        _ configuration: APIConfiguration,
        _ options: WebSocket.Options,
        _ handshakes: HandshakeList
    ) -> APIConfiguration {
        // The snapshot fixes the idempotency key, so that all attempts send the same key.
        var opening = configuration.snapshot()
        if opening.tls == nil, options.tls != TLSConfiguration() { opening.tls = options.tls }
        let modifier = opening.modifier
        opening.modifier = { request in
            try modifier?(&request)
            request.prepare(for: handshakes.make())
        }
        return opening
    }

    /// Adds the transfer to the client's table of transfers.
    ///
    /// From then on, the connection ends when the client that opened it is released.
    func begin() throws(WebSocketFailure) {
        do throws(RequestFailure.Reason) {
            try transfer.begin(configuration)
        } catch {
            throw .request(RequestFailure(error, id: transfer.id, context: transfer.context(of: configuration)))
        }
    }

    /// Opens the connection.
    ///
    /// - Parameter first: The servers that get a request only if no other server is available.
    /// - Returns: The open connection.
    /// - Throws: ``/SwitchyardStreams/WebSocketFailure``.
    func open(avoiding first: [Server.ID] = []) async throws(WebSocketFailure) -> WebSocket {
        var avoided = first
        handshakes.forget()
        while true {
            let response = try await request(avoiding: avoided)
            guard response.status == 101 else { throw .refused(response.withoutBody) }
            guard case .stream(let stream) = response.response.body, let connection = stream.connection else {
                response.discardBody()
                throw .request(failure(.transport(.noConnection), of: response))
            }
            do throws(Handshake.Refusal) {
                return try socket(over: connection, response)
            } catch {
                response.discardBody()
                charge(response)
                guard let server = response.context.server, !avoided.contains(server), transfer.pool.hasAlternatives
                else { throw .handshake(response.withoutBody, error.message) }
                avoided.append(server)
            }
        }
    }

    private func request(avoiding avoided: [Server.ID]) async throws(WebSocketFailure) -> ServiceResponse {
        do throws(RequestFailure) {
            return try await transfer.open(configuration, avoiding: avoided, endsByHandle: true)
        } catch {
            throw .request(error)
        }
    }

    /// Counts a handshake violation as a failure of the server.
    private func charge(_ response: ServiceResponse) {
        guard let attempt = response.context.attempt else { return }
        transfer.charge(Transfer.Break(attempt: attempt, outcome: AttemptOutcome(.protocolViolation)))
    }

    private func failure(_ reason: RequestFailure.Reason, of response: ServiceResponse) -> RequestFailure {
        RequestFailure(reason, id: transfer.id, context: response.context)
    }

    private func socket(
        over connection: any OpenedConnection,
        _ response: ServiceResponse
    ) throws(Handshake.Refusal) -> WebSocket {
        #if canImport(Darwin)
            if let socket = connection as? URLSessionSocket, let task = socket.task {
                return try system(task, of: socket, response)
            }
        #endif
        guard let connection = connection as? any ByteConnection else {
            throw Handshake.Refusal(message: TransportError.noConnection.message)
        }
        let agreement = try handshakes.agreement(in: response.headers)
        let link = ClientLink(body: LiveBody(transfer, response, endsTransfer: endsTransfer), connection: connection)
        let engine = FramedWebSocket(
            over: link,
            options: options,
            compression: agreement.compression,
            time: transfer.core.time
        )
        return socket(engine, agreement.subprotocol, response)
    }

    #if canImport(Darwin)
        private func system(
            _ task: URLSessionWebSocketTask,
            of socket: URLSessionSocket,
            _ response: ServiceResponse
        ) throws(Handshake.Refusal) -> WebSocket {
            let subprotocol = try handshakes.make().subprotocol(in: response.headers)
            let body = LiveBody(transfer, response, endsTransfer: endsTransfer)
            let engine = SystemWebSocket(task, of: socket, options) { failure in
                if let failure { body.charge(failure) }
                body.end()
            }
            // A `SystemWebSocket` does not receive its messages through the body, so no other code reads the body. The
            // body ends when the connection ends, and this read then reports the result to the client.
            Task { _ = try? await body.next() }
            return self.socket(engine, subprotocol, response)
        }
    #endif

    private func socket(
        _ engine: any WebSocketEngine,
        _ subprotocol: String?,
        _ response: ServiceResponse
    ) -> WebSocket {
        let reporter = transfer.messageReporter().map { SocketReporter($0) }
        return WebSocket(engine, subprotocol: subprotocol, context: response.context, reporter: reporter) {
            [handle = transfer.handle] in
            handle.refusal.map { TransportError($0) }
        }
    }
}

/// The handshakes of one ``WebSocketOpening``, one for each attempt.
final class HandshakeList: Sendable {
    private let options: WebSocket.Options
    private let made = Locked<[Handshake]>([])

    init(_ options: WebSocket.Options) {
        self.options = options
    }

    /// Creates the handshake of an attempt.
    func make() -> Handshake {
        let new = Handshake(subprotocols: options.subprotocols, offersCompression: options.compression)
        made.withLock { $0.append(new) }
        return new
    }

    func forget() {
        made.withLock { $0 = [] }
    }

    /// Checks the header fields of a response against the handshake of the attempt that received the response.
    func agreement(in headers: HTTPHeaders) throws(Handshake.Refusal) -> Handshake.Agreement {
        let accept = headers["Sec-WebSocket-Accept"]
        let attempts = made.withLock { $0 }
        let own = attempts.first { $0.accept == accept } ?? attempts.last ?? make()
        return try own.agreement(in: headers)
    }
}

extension ServiceResponse {
    /// The response with an empty body; the original body is cancelled.
    fileprivate var withoutBody: ServiceResponse {
        discardBody()
        var response = self
        response.response.body = .whole(Data())
        return response
    }
}

extension WebSocketFailure: RedactedDescribable {
    /// The reason for the failure, with credentials redacted.
    public var description: String {
        switch self {
        case .request(let failure): "\(failure)"
        case .refused(let response): "the server responded with status \(response.status), expected 101"
        case .handshake(_, let message): message
        case .closed(let closure): closure.error.message
        }
    }
}

extension WebSocketFailure: APIErrorConvertible {
    package func apiError(in context: APIError.Context) -> APIError {
        switch self {
        case .request(let failure): return APIError(failure)
        case .refused(let answer): return error(.status(answer.status), of: answer)
        case .closed(let closure):
            return APIError(closure.error, context: context)
        case .handshake(let answer, let message):
            var failure = RequestFailure(
                .transport(TransportError(.protocolViolation, message: message)),
                id: answer.id,
                context: answer.context
            )
            failure.context.mayHaveBeenExecuted = false
            return APIError(failure)
        }
    }

    private func error(_ reason: APIError.Reason, of answer: ServiceResponse) -> APIError {
        var context = APIError.Context(answer.context)
        context.requestID = answer.id
        context.underlying = self
        context.keep(status: answer.status, headers: answer.headers, body: Data())
        return APIError(reason, context: context)
    }
}
