public import Foundation
public import SwitchyardClient
public import SwitchyardHTTP

extension APIError {
    /// Where and how an error happened; what is not known is `nil` or empty.
    public struct Context: Sendable {
        /// The service that was called.
        public var service: String?
        /// The environment of the call.
        public var environment: String?
        /// The server that got the last attempt; `nil` when none did.
        public var server: String?
        /// The id of the request, the same over all its attempts.
        public var requestID: RequestID?
        /// The method of the request.
        public var method: HTTPMethod?
        /// The path as it was asked for, or the URL as it was sent.
        public var path: String?
        /// The redirects that were followed, in order; ``path`` is where they led.
        public var redirects: [RedirectStep] = []
        /// How many times the request was sent.
        public var attempts: Int
        /// Whether the request may have been executed: see ``APIError/mayHaveBeenExecuted``.
        public var mayHaveBeenExecuted = false
        /// The time from dispatch to failure; `nil` when nothing was dispatched.
        public var elapsed: Duration?
        /// When it happened, by the wall clock.
        public var date: Date
        /// The status of the answer; `nil` when none came.
        public var status: Int?
        /// The header fields of the answer.
        public var headers: HTTPHeaders
        /// The body of the answer, at most ``bodyLimit`` bytes of it.
        public private(set) var body: Data
        /// How many bytes the body of the answer has.
        public private(set) var bodyLength: Int
        /// The error underneath, as it came.
        public var underlying: (any Error)?

        /// The most bytes of a body that an error keeps: 64 KiB, enough for any error model.
        public static let bodyLimit = 65_536

        /// Creates a context in which nothing is known.
        public init(
            service: String? = nil,
            environment: String? = nil,
            server: String? = nil,
            attempts: Int = 0,
            underlying: (any Error)? = nil
        ) {
            self.service = service
            self.environment = environment
            self.server = server
            self.attempts = attempts
            self.underlying = underlying
            date = Date()
            headers = HTTPHeaders()
            body = Data()
            bodyLength = 0
        }

        /// Keeps the answer: status, header fields and the beginning of the body.
        public mutating func keep(status: Int, headers: HTTPHeaders, body: Data) {
            self.status = status
            self.headers = headers
            self.body = body.count > Self.bodyLimit ? Data(body.prefix(Self.bodyLimit)) : body
            bodyLength = body.count
        }
    }
}
