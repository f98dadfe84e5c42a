public import SwitchyardHTTP

extension WebSocket {
    /// The options of a connection.
    public struct Options: Sendable {
        /// The time between two pings; no pings are sent unless set.
        ///
        /// A connection that receives nothing between two pings ends with
        /// ``/SwitchyardServices/WireFailure/timeout``. A value below one second counts as one second.
        public var pingInterval: Duration?
        /// The maximum time without any data from the server, including pongs; no limit unless set.
        ///
        /// After this time, the connection ends with ``/SwitchyardServices/WireFailure/timeout``. A value below one
        /// second counts as one second. On Apple systems, only ``pingInterval`` detects a silent server.
        public var idleTimeout: Duration?
        /// The time that the server may take to close the connection after a Close frame; 5 s by default.
        public var closeTimeout = Duration.seconds(5)
        /// The maximum size in bytes of a received message after decompression; 1 MiB unless set.
        ///
        /// A larger message ends the connection with ``CloseCode/messageTooBig``.
        public var maximumMessageSize = 1 << 20
        /// The maximum payload in bytes of a received frame; ``maximumMessageSize`` unless set.
        ///
        /// This option has no effect on Apple systems.
        public var maximumFrameSize: Int?
        /// The maximum payload in bytes of a sent frame; 64 KiB unless set.
        ///
        /// A larger message is sent in several frames. This option has no effect on Apple systems.
        public var fragmentSize = 64 << 10
        /// The subprotocols that are offered to the server, in order of preference; none unless set.
        ///
        /// The server may choose an offered subprotocol (``WebSocket/subprotocol``), or none. If the server chooses a
        /// subprotocol that was not offered, the opening fails.
        public var subprotocols: [String] = []
        /// Whether compression is offered (permessage-deflate, RFC 7692); `false` unless set.
        ///
        /// Do not compress messages that combine a secret with text that an attacker can influence (RFC 7692 section
        /// 8). On Apple systems, the system decides whether messages are compressed.
        public var compression = false
        /// The trust settings of the connection; the system's trust unless set.
        ///
        /// If a client opens the connection and this option is not set, the trust settings of the client's transport
        /// apply. Settings that the system does not support are refused, never ignored. If keys are pinned, a URL with
        /// the scheme http is refused as well.
        public var tls = TLSConfiguration()

        /// Creates options with default values.
        public init() {}

        /// The effective time between two pings, at least 1 s.
        var pingPause: Duration? { pingInterval.map { max($0, .seconds(1)) } }

        /// The effective idle timeout, at least 1 s.
        var idlePause: Duration? { idleTimeout.map { max($0, .seconds(1)) } }
    }
}
