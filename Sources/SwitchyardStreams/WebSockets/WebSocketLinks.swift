import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// The byte connection of a WebSocket that was opened without a client.
struct PlainLink: WebSocketLink {
    private let body: HTTPBodyStream
    private let connection: any ByteConnection

    init(_ body: HTTPBodyStream, _ connection: any ByteConnection) {
        self.body = body
        self.connection = connection
    }

    func receive() async throws(TransportError) -> Data? {
        var pieces = body.makeAsyncIterator()
        return try await pieces.next()
    }

    func send(_ bytes: Data) async throws(TransportError) {
        try await connection.send(bytes)
    }

    func end(_ failure: TransportError?) {
        body.cancel()
    }

    /// Returns the WebSocket connection from a response with the status 101.
    ///
    /// - Throws: ``TransportError`` if the server has violated the handshake, or the transport has provided no
    ///   connection.
    static func engine(
        of response: HTTPResponse,
        _ handshake: Handshake,
        _ options: WebSocket.Options
    ) throws(TransportError) -> (any WebSocketEngine, subprotocol: String?) {
        guard case .stream(let body) = response.body, let connection = body.connection else { throw .noConnection }
        do throws(Handshake.Refusal) {
            return try engine(over: connection, body, response.headers, handshake, options)
        } catch {
            body.cancel()
            throw TransportError(.protocolViolation, message: error.message)
        }
    }

    private static func engine(
        over connection: any OpenedConnection,
        _ body: HTTPBodyStream,
        _ headers: HTTPHeaders,
        _ handshake: Handshake,
        _ options: WebSocket.Options
    ) throws(Handshake.Refusal) -> (any WebSocketEngine, subprotocol: String?) {
        #if canImport(Darwin)
            if let socket = connection as? URLSessionSocket, let task = socket.task {
                let subprotocol = try handshake.subprotocol(in: headers)
                return (SystemWebSocket(task, of: socket, options) { _ in body.cancel() }, subprotocol)
            }
        #endif
        guard let connection = connection as? any ByteConnection else {
            throw Handshake.Refusal(message: TransportError.noConnection.message)
        }
        let agreement = try handshake.agreement(in: headers)
        let engine = FramedWebSocket(
            over: PlainLink(body, connection),
            options: options,
            compression: agreement.compression,
            time: SystemTime.shared
        )
        return (engine, agreement.subprotocol)
    }
}

/// The byte connection of a WebSocket that a client has opened.
///
/// The client can cancel it, and a break of the connection counts as a failure of the server.
struct ClientLink: WebSocketLink {
    let body: LiveBody
    let connection: any ByteConnection

    func receive() async throws(TransportError) -> Data? {
        do throws(RequestFailure) { return try await body.next() } catch { throw TransportError(error.reason) }
    }

    func send(_ bytes: Data) async throws(TransportError) {
        try await connection.send(bytes)
    }

    func end(_ failure: TransportError?) {
        if let failure { body.charge(failure) }
        body.end()
    }
}

extension TransportError {
    static let noConnection = TransportError(
        .unsupported,
        message: "the transport does not support connection upgrades, which a WebSocket needs",
        mayHaveBeenSent: false
    )

    /// Creates the transport error that the calls of a WebSocket throw after its request ended for this reason.
    init(_ reason: RequestFailure.Reason) {
        switch reason {
        case .transport(let error): self = error
        case .cancelled: self.init(.cancelled, message: "the WebSocket was cancelled")
        case .closed: self.init(.closed, message: "the client has been shut down")
        case .deadlineExceeded: self.init(.timeout, message: "the WebSocket took longer than its timeout")
        default: self.init(.other, message: "\(reason)")
        }
    }
}
