public import Foundation
public import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// The error of a call of the app's API: a reason for the program and a message for the user.
///
/// ### Show it
/// ``userMessage`` is the text for the screen in the user's language; it is `nil` if the user cancelled.
///
/// ### Decide on it
/// Switch over ``code`` for the stable numbers and over ``reason`` for the details, and call ``module(_:)`` for the
/// error of the app's own module. Show the login if `reason == .security(.loginRequired)`.
///
/// ### Log it
/// ``description`` contains every useful fact and no credential.
public struct APIError: Error, Sendable {
    /// The reason of the error.
    public var reason: Reason
    /// Where and how it happened.
    public var context: Context {
        get { details.value.context }
        set { details.value.context = newValue }
    }
    /// The words that the server itself gave for the user, when there are any.
    public var serverMessage: String? {
        get { details.value.serverMessage }
        set { details.value.serverMessage = newValue }
    }
    /// The server's messages about single fields of the request, by field name; empty if there are none.
    ///
    /// The module's ``ErrorBody`` reads them; without one the dictionary is empty.
    public var fieldMessages: [String: [String]] {
        get { details.value.fieldMessages }
        set { details.value.fieldMessages = newValue }
    }
    /// The error code that the server sent in its envelope or its ``ErrorBody``; `nil` if it sent none.
    public var serverCode: BusinessCode? {
        get {
            if case .module(let failure) = reason, let code = failure.serverCode { return code }
            return details.value.serverCode
        }
        set { details.value.serverCode = newValue }
    }
    /// Whether the text for ``code`` comes before ``serverMessage``, if there is one.
    var prefersOwnText: Bool {
        get { details.value.prefersOwnText }
        set { details.value.prefersOwnText = newValue }
    }
    /// The words for the user by code and language.
    ///
    /// A manager puts its module's in; default is ``ErrorMessages/standard``.
    package var messages: ErrorMessages {
        get { details.value.messages }
        set { details.value.messages = newValue }
    }

    /// The error before a module put its meaning and words in; `nil` when none has.
    var plain: Boxed<APIError>? {
        get { details.value.plain }
        set { details.value.plain = newValue }
    }

    /// The error before the app's formatting, with the original reason.
    package var unformatted: APIError { plain?.value ?? self }

    /// The details behind one reference, because every function that may throw an error reserves room for one.
    private var details: CopyOnWrite<Details>

    private struct Details {
        var context: Context
        var serverMessage: String?
        var fieldMessages: [String: [String]] = [:]
        var serverCode: BusinessCode?
        var prefersOwnText = false
        var messages: ErrorMessages
        var plain: Boxed<APIError>?
    }

    /// Creates an error.
    public init(
        _ reason: Reason,
        context: Context = Context(),
        serverMessage: String? = nil,
        messages: ErrorMessages = .standard
    ) {
        self.reason = reason
        details = CopyOnWrite(Details(context: context, serverMessage: serverMessage, messages: messages))
    }

    /// The message for the user; never empty.
    public var message: String { messages.text(for: self) }

    /// The message to show to the user; `nil` for a cancellation, which the user or the app caused.
    public var userMessage: String? { isCancellation ? nil : message }

    /// The stable code.
    public var code: Code { Code(reason) }

    /// Whether the request was cancelled, which is an outcome of its own and no failure.
    public var isCancellation: Bool { code == .cancelled }

    /// The code of a module, typed; `nil` when the error is not one of that module.
    public func module<Module: ModuleErrorCode>(_ type: Module.Type) -> Module? {
        guard case .module(let failure) = reason, failure.module == Module.module else { return nil }
        return failure.code.flatMap(Module.init(rawValue:))
    }
}

// MARK: - Response

extension APIError {
    /// The status of the response; `nil` if there was none.
    public var status: Int? { context.status }

    /// The header fields of the response; empty if there was none.
    public var headers: HTTPHeaders { context.headers }

    /// The body of the response, at most 65,536 bytes of it; `nil` if there was no response.
    public var data: Data? { context.status == nil ? nil : context.body }

    /// The body of the response as text, by the charset of `Content-Type`; `nil` if there was no response or the body
    /// is not text.
    public var text: String? {
        data.flatMap { HTTPResponse(status: 0, headers: headers, body: .whole($0)).text }
    }

    /// The time to wait before the next call, as the server or one of the app's limits asks; `nil` if there is none.
    ///
    /// For a response it is the value of `Retry-After`, counted from the time of the error.
    public var retryAfter: Duration? {
        switch reason {
        case .limited(.rate(let pause)): pause
        case .tokenRefresh(let outage): outage.retryAfter
        default: RetryAfter.duration(in: headers, now: context.date)
        }
    }
}

// MARK: - Comparing

extension APIError: Equatable {
    /// Whether two errors have the same reason and the same message of the server.
    ///
    /// The context is ignored, because times and identifiers differ in every run. The library's own texts are ignored
    /// too.
    public static func == (left: APIError, right: APIError) -> Bool {
        left.reason == right.reason && left.serverMessage == right.serverMessage
    }
}

// MARK: - Trying again

extension APIError {
    /// Whether a server may have executed the call although no response confirms it.
    ///
    /// It is `true` for a write that was sent in any attempt and got no response or an inconclusive one (408, or a
    /// status from 500). It is also `true` for a write whose server responded with 2xx, 302 or 303 and that fails for
    /// another cause: a status outside the call's rules, an unusable body, a code of the module, or a redirect that
    /// leads nowhere. It is `false` if the server certainly did nothing, for a call that only reads, and if nothing is
    /// known about the request. Repeat such a call only if the server executes it once: with an idempotency key, or
    /// after checking whether it was executed.
    public var mayHaveBeenExecuted: Bool { context.mayHaveBeenExecuted }

    /// Whether the same call may succeed if it is repeated later.
    ///
    /// It is `true` for transient failures below HTTP, for responses with a transient status
    /// (`RetryPolicy.statuses`), whatever code the module or the server gives them, and for the library's own
    /// limits. A ``/SwitchyardClient/RetryPolicy`` retries the same failures. It does not state whether sending the
    /// call twice is safe: see ``isSafeToRetry``.
    public var isRetryable: Bool {
        switch reason {
        case .transport(let error): Transience(error.kind) == .transient
        case .security(.handshake): Transience(.tlsFailure) == .transient
        case .body(.truncated): Transience(.truncated) == .transient
        case .status(let status): Transience(status: status) == .transient
        case .module, .body: context.status.map { Transience(status: $0) == .transient } ?? false
        case .limited, .tokenRefresh: true
        case .cancelled, .list, .configuration, .security, .cache: false
        }
    }

    /// Whether the same call may succeed later and no server may have executed it.
    ///
    /// A loop that repeats calls tests this property. If it is `false` although ``isRetryable`` is `true`, the call is a
    /// write that a server may have executed: repeat the write only with its idempotency key, or after reading what is
    /// stored.
    public var isSafeToRetry: Bool { isRetryable && !mayHaveBeenExecuted }

    /// The status of a response by which the server or the module refused the call; `nil` for all other failures.
    ///
    /// It is 200 if only the server's envelope reports the failure.
    var refusedStatus: Int? {
        switch reason {
        case .status(let status): status
        case .module: context.status
        default: nil
        }
    }
}

extension APIError: LocalizedError {
    /// The message for the user: ``message``.
    public var errorDescription: String? { message }
}

extension Result where Failure == APIError {
    /// Whether the call was cancelled, which is an outcome of its own and no failure.
    public var isCancellation: Bool {
        if case .failure(let error) = self { error.isCancellation } else { false }
    }
}

extension APIError {
    /// The circumstances of an error; unknown facts are `nil` or empty.
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
        /// The status of the response; `nil` if there was none.
        public var status: Int?
        /// The header fields of the response.
        public var headers: HTTPHeaders
        /// The body of the response, at most 65,536 bytes of it.
        public private(set) var body: Data
        /// The size of the response's body in bytes.
        public private(set) var bodyLength: Int
        /// The error underneath, as it came.
        public var underlying: (any Error)?

        /// The most bytes of a body that an error keeps: 64 KiB, enough for any error model.
        package static let bodyLimit = 65_536

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

        /// Stores the response: status, header fields and the beginning of the body.
        public mutating func keep(status: Int, headers: HTTPHeaders, body: Data) {
            self.status = status
            self.headers = headers
            self.body = body.count > Self.bodyLimit ? Data(body.prefix(Self.bodyLimit)) : body
            bodyLength = body.count
        }
    }
}
