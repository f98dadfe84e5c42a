import SwitchyardHTTP

extension WebSocket {
    /// The code with which a connection was closed (RFC 6455 section 7.4).
    public struct CloseCode: RawRepresentable, Sendable, Hashable {
        /// The number.
        public var rawValue: UInt16

        /// Creates a code.
        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// 1000: the purpose of the connection is fulfilled, so it closes normally.
        public static let normal = Self(rawValue: 1000)
        /// 1001: the server is going down, or the app is leaving.
        public static let goingAway = Self(rawValue: 1001)
        /// 1002: a protocol violation.
        public static let protocolError = Self(rawValue: 1002)
        /// 1003: a message of this type is not accepted.
        public static let unsupportedData = Self(rawValue: 1003)
        /// 1005: the received Close frame has no code. (Code 1005 is never sent.)
        public static let noStatus = Self(rawValue: 1005)
        /// 1006: the connection ended without a Close frame. (Code 1006 is never sent.)
        public static let abnormal = Self(rawValue: 1006)
        /// 1007: the content of a message does not match its type, such as a text message that is not valid UTF-8.
        public static let invalidPayload = Self(rawValue: 1007)
        /// 1008: a message violates a policy of the receiver.
        public static let policyViolation = Self(rawValue: 1008)
        /// 1009: a message is too large.
        public static let messageTooBig = Self(rawValue: 1009)
        /// 1010: the server has not accepted an extension that the client requires.
        public static let missingExtension = Self(rawValue: 1010)
        /// 1011: the server has encountered an error.
        public static let internalError = Self(rawValue: 1011)
        /// 1012: the server restarts.
        public static let serviceRestart = Self(rawValue: 1012)
        /// 1013: the server is overloaded.
        public static let tryAgainLater = Self(rawValue: 1013)

        /// Whether a Close frame may have the code: 1000 to 1003, 1007 to 1014, and 3000 to 4999.
        public var isSendable: Bool {
            switch rawValue {
            case 1000...1003, 1007...1014, 3000...4999: true
            default: false
            }
        }
    }

    /// A description of how a connection ended.
    public struct Closure: Sendable, Hashable {
        /// The code of the Close frame.
        ///
        /// ``CloseCode/noStatus`` if the frame has no code, and ``CloseCode/abnormal`` if there was no Close frame.
        public var code: CloseCode
        /// The reason in the Close frame; empty if it has none.
        public var reason: String
        /// Whether the server started the closing handshake.
        public var isByServer: Bool
        /// Whether both sides have sent a Close frame.
        public var isClean: Bool

        /// Creates a closure.
        public init(code: CloseCode, reason: String = "", isByServer: Bool, isClean: Bool) {
            self.code = code
            self.reason = reason
            self.isByServer = isByServer
            self.isClean = isClean
        }

        /// Whether the connection was closed without a problem: with the code 1000, 1001 or 1005, and with Close frames
        /// from both sides.
        public var isNormal: Bool { isClean && [.normal, .goingAway, .noStatus].contains(code) }

        /// The transport error with which pending calls fail after this closure.
        var error: TransportError {
            let who = isByServer ? "the server" : "this side"
            let said = code == .noStatus ? "" : ": \(code.rawValue)"
            let why = reason.isEmpty ? "" : " (\(reason))"
            return TransportError(.closed, message: "\(who) closed the WebSocket\(said)\(why)")
        }
    }
}
