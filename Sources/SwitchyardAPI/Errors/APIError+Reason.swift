public import SwitchyardClient
public import SwitchyardHTTP

extension APIError {
    /// The reason of an error, for decisions in code.
    public enum Reason: Sendable, Hashable {
        /// The exchange failed below HTTP, for example because the connection was lost.
        case transport(TransportError)
        /// The request was cancelled.
        case cancelled(Cancellation)
        /// The response has a status that the call does not accept.
        case status(Int)
        /// The body of the response is empty, incomplete, or has another type or content than the call expects.
        case body(BodyReason)
        /// The app's own API module treats the response as a failure.
        case module(ModuleFailure)
        /// A list is empty, has no further page, or cannot continue.
        case list(ListReason)
        /// The request cannot be built or sent as it was described.
        case configuration(ConfigurationReason)
        /// The credential of the call could not be refreshed, for a transient reason.
        ///
        /// The call was not executed and may be repeated.
        case tokenRefresh(TokenRefreshFailure)
        /// Security prevents the call.
        case security(SecurityReason)
        /// A limit that the app set was reached.
        case limited(LimitReason)
        /// The call requires a stored response, but no stored response can be used.
        case cache(CacheReason)
    }

    /// The origin of a cancellation.
    public enum Cancellation: Sendable, Hashable {
        /// The caller cancelled the request by its identifier, or cancelled the waiting task.
        case caller
        /// The manager that made the call was released.
        case ownerReleased
        /// A newer request or load has replaced this request or load, or the environment or user has changed.
        case superseded
    }

    /// The defect of a response body.
    public enum BodyReason: Sendable, Hashable {
        /// The call does not accept the content type. `received` is `nil` if there is no `Content-Type` field.
        case contentType(received: String?, acceptable: [String])
        /// The body is empty, but the call expects a value.
        case empty
        /// The server has executed the call, but the response with the value was lost.
        ///
        /// Another call may execute the request a second time.
        case responseLost
        /// The body ended before its announced end.
        case truncated
        /// The body is larger than the limit in bytes, which is `nil` if it is unknown.
        case tooLarge(limit: Int?)
        /// The body could not be decompressed.
        case compression
        /// The digest of the bytes differs from the expected digest.
        case digest
        /// The bytes are not valid text in this encoding.
        case text(encoding: String)
        /// The body could not be decoded.
        case decoding(DecodingFailure)
        /// The body does not have the shape that the call declared.
        case shape(ShapeViolation)
    }

    /// The reason why a list has no items to return.
    public enum ListReason: Sendable, Hashable {
        /// The first page is empty.
        case noData
        /// There is no page after the last loaded page.
        case noMoreData
        /// The next page was already loaded, so loading it again would repeat forever.
        case repeatedPosition
        /// The list has more pages than the limit of its ``PageRecorder``, which is the associated value.
        case pageLimit(Int)
    }

    /// A defect of a request that is found before the request is sent.
    ///
    /// An associated text describes the defect and its location for a log.
    public enum ConfigurationReason: Sendable, Hashable {
        /// The request cannot be built, because its URL, header fields, parameters or body are invalid.
        case request(RequestError)
        /// The transport rejected the request as malformed.
        case invalidRequest(String)
        /// The service, server or environment does not exist.
        case unknownServer(String)
        /// No server serves the request.
        case unserved(UnservedRequest)
        /// The transport does not support the request.
        case unsupported(String)
        /// The client was closed.
        case clientClosed
        /// The module's table of errors has two meanings for one number: see ``ModuleErrors/clash``.
        case moduleCodes(ModuleErrors.Clash)
        /// Another mistake that must be corrected in the program.
        case other(String)
    }

    /// The security reason that prevents a call.
    public enum SecurityReason: Sendable, Hashable {
        /// The TLS handshake failed.
        case handshake
        /// The server's certificate was rejected.
        case certificate
        /// A link leads to another origin (scheme, host, port).
        case foreignOrigin(String)
        /// The user has to log in, because there is no credential that can be sent.
        case loginRequired
        /// A rule of the app or the system forbids the call. The associated value names the rule.
        case forbidden(String)
    }

    /// The limit that was reached.
    public enum LimitReason: Sendable, Hashable {
        /// The time for the whole call, including all attempts, has passed.
        case deadline
        /// Too many calls were made in a short time. The associated value is the time to wait, or `nil` if it is
        /// unknown.
        case rate(retryAfter: Duration?)
        /// Too many requests are already waiting.
        case queue
        /// Every server is overloaded, so the call was not sent. A later call may succeed.
        case overload
    }
}

extension APIError {
    /// The reason why a stored response cannot be used.
    ///
    /// The numbers are those of YTKNetwork.
    public enum CacheReason: Int, Error, Sendable, Hashable {
        /// The stored response has expired, or was stored in the future.
        case expired = -1
        /// The stored response has another version (``CachePolicy/version``) than the call.
        case versionMismatch = -2
        /// The response was stored for another value of ``CachePolicy/sensitiveData``, such as another user.
        case sensitiveDataMismatch = -3
        /// The response was stored by another version of the app.
        case appVersionMismatch = -4
        /// The call has no lifetime, so no response is stored for it.
        case invalidLifetime = -5
        /// No response is stored, or its metadata cannot be read.
        case invalidMetadata = -6
        /// The stored response is damaged.
        case invalidData = -7
    }
}

/// A failure that is defined by one of the app's own API modules.
public struct ModuleFailure: Sendable, Hashable {
    /// The name of the module.
    public var module: String
    /// The module's own code, 1001 or above, or `nil` if the module's table does not contain the server's code.
    public var code: Int?
    /// The code that the server sent, or `nil` if the failure did not come from a server code.
    public var serverCode: BusinessCode?

    /// Creates a failure of a module.
    ///
    /// By default, there is no server code.
    public init(module: String, code: Int?, serverCode: BusinessCode? = nil) {
        self.module = module
        self.code = code
        self.serverCode = serverCode
    }
}

extension APIError {
    /// The stable code of an error.
    ///
    /// The meaning of a number never changes.
    public enum Code: Sendable, Hashable {
        /// 101: the server did not respond in time.
        case timeout
        /// 102: no connection to the network or to any server. ``APIError/message`` states which connection is missing.
        case notConnected
        /// 103: the request was cancelled.
        case cancelled
        /// 104: any other failure. ``APIError/reason`` has the details.
        case failed
        /// 105: the list is empty.
        case noData
        /// 106: the list has no further page.
        case noMoreData
        /// 1001 and above: the code of the app's own module.
        case module(Int)

        /// The numbers that are reserved for the codes of modules.
        package static let moduleNumbers = 1001...Int.max

        /// The codes that every module shares, in the order of their numbers.
        package static let common: [Code] = [.timeout, .notConnected, .cancelled, .failed, .noData, .noMoreData]

        /// The number of the code.
        public var number: Int {
            switch self {
            case .timeout: 101
            case .notConnected: 102
            case .cancelled: 103
            case .failed: 104
            case .noData: 105
            case .noMoreData: 106
            case .module(let number): number
            }
        }
    }
}

extension APIError.Code: CustomStringConvertible {
    /// The number of the code as text.
    public var description: String { String(number) }
}

extension APIError.Code {
    /// Creates the code of a reason.
    ///
    /// No other function maps reasons to codes.
    init(_ reason: APIError.Reason) {
        self =
            switch reason {
            case .transport(let error): Self(error.kind)
            case .cancelled: .cancelled
            case .limited(.deadline): .timeout
            case .list(.noData): .noData
            case .list(.noMoreData): .noMoreData
            case .module(let failure): failure.code.map(Self.module) ?? .failed
            case .status(408), .status(504): .timeout
            case .tokenRefresh(let outage): outage.isTimeout ? .timeout : .notConnected
            case .status, .body, .list, .configuration, .security, .limited, .cache: .failed
            }
    }

    /// Creates the code of a failure below HTTP.
    ///
    /// Every kind is listed, so that the compiler reports a missing kind.
    init(_ kind: TransportError.Kind) {
        self =
            switch kind {
            case .timeout, .connectTimeout: .timeout
            case .offline, .dnsFailure, .connectionRefused: .notConnected
            case .cancelled: .cancelled
            case .connectionReset, .truncated, .protocolViolation, .tlsFailure, .certificateRejected, .proxyFailure,
                .headersTooLarge, .bodyTooLarge, .requestBodyFailed, .decodingFailed, .invalidRequest, .unsupported,
                .closed, .resourcesExhausted, .other:
                .failed
            }
    }
}
