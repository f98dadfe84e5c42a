public import SwitchyardClient
public import SwitchyardHTTP

extension APIError {
    /// The reason of an error, for the program.
    public enum Reason: Sendable, Hashable {
        /// The exchange failed below HTTP.
        case transport(TransportError)
        /// The request was cancelled.
        case cancelled(Cancellation)
        /// The response has a status that the call does not accept.
        case status(Int)
        /// The body of the response is not what the call expects.
        case body(BodyReason)
        /// The app's own module refused the response.
        case module(ModuleFailure)
        /// A list has nothing, nothing more, or cannot go on.
        case list(ListReason)
        /// The request cannot be built or sent as it was asked for.
        case configuration(ConfigurationReason)
        /// The credential of the call cannot be refreshed now; the call was not executed and may be repeated.
        case tokenRefresh(TokenRefreshFailure)
        /// Sending or accepting would not be safe.
        case security(SecurityReason)
        /// A limit that the app set was reached.
        case limited(LimitReason)
        /// The call requires a stored response, and none can be used.
        case cache(CacheReason)
    }

    /// The origin of a cancellation.
    public enum Cancellation: Sendable, Hashable {
        /// The caller: by request id, or by cancelling the task that waits.
        case caller
        /// The manager that asked is gone.
        case ownerReleased
        /// A newer load took its place.
        case superseded
    }

    /// The defect of a body.
    public enum BodyReason: Sendable, Hashable {
        /// The call does not accept the content type; `received` is `nil` if the header field is missing.
        case contentType(received: String?, acceptable: [String])
        /// The body is empty where a value was expected.
        case empty
        /// The server has carried the call out, and the response with the value was lost; making the call again may carry
        /// it out a second time.
        case responseLost
        /// The body ended before its announced end.
        case truncated
        /// The body is larger than the limit, in bytes; the limit is `nil` if it is unknown.
        case tooLarge(limit: Int?)
        /// The body could not be decompressed.
        case compression
        /// The digest of the bytes is not the expected one.
        case digest
        /// The bytes are not text in the encoding named.
        case text(encoding: String)
        /// The body could not be decoded.
        case decoding(DecodingFailure)
        /// The body does not have the shape that the call declared.
        case shape(ShapeViolation)
    }

    /// Why a list gave no items.
    public enum ListReason: Sendable, Hashable {
        /// The first page is empty.
        case noData
        /// There is no page after the last one loaded.
        case noMoreData
        /// The next page was already loaded, so following it would never end.
        case repeatedPosition
        /// More pages than the recorder allows.
        case pageLimit(Int)
    }

    /// A defect of a request that is found before it is sent; the text names it and its location, for a log.
    public enum ConfigurationReason: Sendable, Hashable {
        /// The request cannot be built: URL, header, parameter or body.
        case request(RequestError)
        /// The transport finds the request malformed.
        case invalidRequest(String)
        /// The service, server or environment does not exist.
        case unknownServer(String)
        /// The transport does not support the request.
        case unsupported(String)
        /// The client is closed.
        case clientClosed
        /// The module's table of errors has two meanings for one number: see ``ModuleErrors/clash``.
        case moduleCodes(ModuleCodeClash)
        /// Anything else that has to be put right in the program.
        case other(String)
    }

    /// Why it would not be safe.
    public enum SecurityReason: Sendable, Hashable {
        /// The TLS handshake failed.
        case handshake
        /// The server's certificate was refused.
        case certificate
        /// A link leads to another origin (scheme, host, port).
        case foreignOrigin(String)
        /// The user has to log in, because there is no credential that can be sent.
        case loginRequired
        /// A rule of the app or the system forbids the call; the text names the rule.
        case forbidden(String)
    }

    /// Which limit was reached.
    public enum LimitReason: Sendable, Hashable {
        /// The time for the whole call, over all attempts, has passed.
        case deadline
        /// Too many calls were made in a short time; the value is the time to wait if it is known.
        case rate(retryAfter: Duration?)
        /// Too many requests wait already.
        case queue
        /// Every server is overloaded, and the call was given up unsent to spare them; a later one may get through.
        case overload
    }
}

extension APIError {
    /// The reason why a stored response cannot be used; the numbers are those of YTKNetwork.
    public enum CacheReason: Int, Error, Sendable, Hashable {
        /// It has expired, or was stored in the future.
        case expired = -1
        /// It belongs to another version of the API.
        case versionMismatch = -2
        /// It belongs to other sensitive data, such as another user.
        case sensitiveDataMismatch = -3
        /// It was stored by another version of the app.
        case appVersionMismatch = -4
        /// The call has no lifetime, so that nothing is stored for it.
        case invalidLifetime = -5
        /// No response is stored, or its metadata cannot be read.
        case invalidMetadata = -6
        /// The stored response is damaged.
        case invalidData = -7
    }
}

/// A refusal by the rules of one of the app's modules.
public struct ModuleFailure: Sendable, Hashable {
    /// The module's name.
    public var module: String
    /// The module's own code, 1001 or above; `nil` when its table does not know the server's code.
    public var code: Int?
    /// The code that the server sent, when the failure came from one.
    public var serverCode: BusinessCode?

    /// Creates a failure.
    public init(module: String, code: Int?, serverCode: BusinessCode? = nil) {
        self.module = module
        self.code = code
        self.serverCode = serverCode
    }
}

extension APIError {
    /// The stable code of an error; its numbers never change their meaning.
    public enum Code: Sendable, Hashable {
        /// 101: no response in time.
        case timeout
        /// 102: no connection to the network or to any server; the message distinguishes the two.
        case notConnected
        /// 103: cancelled.
        case cancelled
        /// 104: any other failure; ``APIError/reason`` has the details.
        case failed
        /// 105: the list is empty.
        case noData
        /// 106: the list has no further page.
        case noMoreData
        /// 1001 and above: the code of the app's own module.
        case module(Int)

        /// The numbers from which modules take theirs.
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
    /// The number.
    public var description: String { String(number) }
}

extension APIError.Code {
    /// The one place in which a reason becomes a code.
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

    /// The code of a failure below HTTP; every kind is named, so that a new one cannot be forgotten.
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
