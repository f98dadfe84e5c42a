public import SwitchyardHTTP

extension WebSocket {
    /// How a connection behaves.
    public struct Options: Sendable {
        /// The time between two pings; none are sent when `nil`, the default.
        ///
        /// A connection over which nothing comes from one ping to the next ends with
        /// ``/SwitchyardHTTP/TransportError/Kind/timeout``. Less than a second counts as one second.
        public var pingInterval: Duration?
        /// The longest time in which nothing comes from the server, pongs included; no limit when `nil`, the default.
        ///
        /// Then the connection ends with ``/SwitchyardHTTP/TransportError/Kind/timeout``. Less than a second counts as one
        /// second. On Apple systems only ``pingInterval`` finds a silent server.
        public var idleTimeout: Duration?
        /// How long the server may take to close the connection after a Close frame; 5 s by default.
        public var closeTimeout = Duration.seconds(5)
        /// The largest message in bytes that is accepted, decompressed; 1 MiB unless set.
        ///
        /// A larger one ends the connection with ``CloseCode/messageTooBig``.
        public var maximumMessageSize = 1 << 20
        /// The largest payload of a frame in bytes that is accepted; ``maximumMessageSize`` when `nil`, the default.
        ///
        /// Of no effect on Apple systems.
        public var maximumFrameSize: Int?
        /// The largest payload of a frame in bytes that is sent; 64 KiB unless set.
        ///
        /// A larger message goes out in several frames. Of no effect on Apple systems.
        public var fragmentSize = 64 << 10
        /// The subprotocols that are offered, the preferred one first; none unless set.
        ///
        /// The server may choose one of them (``WebSocket/subprotocol``) or none; the choice of another one fails the
        /// opening.
        public var subprotocols: [String] = []
        /// Whether compression is offered (permessage-deflate, RFC 7692); off unless set.
        ///
        /// Text that a secret stands in beside what others have a say in should not be compressed (RFC 7692 section 8).
        /// Apple systems decide by themselves.
        public var compression = false
        /// Whom the connection trusts; the system's trust unless set, and with a client the trust of its transport.
        ///
        /// What cannot be done is refused, never ignored; with pins so is a URL of the scheme http.
        public var tls = TLSConfiguration()

        /// Creates options; every one has a default.
        public init() {}

        /// The time between two pings that is kept to.
        var pingPause: Duration? { pingInterval.map { max($0, .seconds(1)) } }

        /// The longest silence that is kept to.
        var idlePause: Duration? { idleTimeout.map { max($0, .seconds(1)) } }
    }
}
