public import Foundation
public import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// The error of a call to the app's API.
///
/// The error has a reason for decisions in code and a message for the user.
///
/// ### Show it
/// ``userMessage`` is the text for the screen in the user's language. It is `nil` if the user cancelled.
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
    /// The circumstances of the error, such as the server, the path and the status.
    public var context: Context {
        get { details.value.context }
        set { details.value.context = newValue }
    }
    /// The message for the user that the server sent, or `nil` if it sent no message.
    public var serverMessage: String? {
        get { details.value.serverMessage }
        set { details.value.serverMessage = newValue }
    }
    /// The server's messages about single fields of the request, by field name.
    ///
    /// The module's ``ErrorBody`` defines where the messages are found. The dictionary is empty if the module has no
    /// error body or the response contains no such messages.
    public var fieldMessages: [String: [String]] {
        get { details.value.fieldMessages }
        set { details.value.fieldMessages = newValue }
    }
    /// The error code in the server's envelope (the outer JSON object) or in its ``ErrorBody``, or `nil` if the server
    /// sent no code.
    public var serverCode: BusinessCode? {
        get {
            if case .module(let failure) = reason, let code = failure.serverCode { return code }
            return details.value.serverCode
        }
        set { details.value.serverCode = newValue }
    }
    /// Whether the module's text for ``code`` is shown instead of ``serverMessage``, if the module has such a text.
    var prefersOwnText: Bool {
        get { details.value.prefersOwnText }
        set { details.value.prefersOwnText = newValue }
    }
    /// The messages for the user by code and language.
    ///
    /// A manager sets the messages of its module. By default, they are ``ErrorMessages/standard``.
    package var messages: ErrorMessages {
        get { details.value.messages }
        set { details.value.messages = newValue }
    }

    /// The error before a module added its meaning and messages, or `nil` if no module has changed the error.
    var plain: Boxed<APIError>? {
        get { details.value.plain }
        set { details.value.plain = newValue }
    }

    /// The error before a module changed it, with the original reason.
    package var unformatted: APIError { plain?.value ?? self }

    /// The details are stored behind one reference, because every function that may throw an error reserves space for
    /// the error.
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

    /// Creates an error, by default without known circumstances.
    public init(
        _ reason: Reason,
        context: Context = Context(),
        serverMessage: String? = nil,
        messages: ErrorMessages = .standard
    ) {
        self.reason = reason
        details = CopyOnWrite(Details(context: context, serverMessage: serverMessage, messages: messages))
    }

    /// The message for the user, which is never empty.
    public var message: String { messages.text(for: self) }

    /// The message to show to the user, or `nil` for a cancellation, which the user or the app caused.
    public var userMessage: String? { isCancellation ? nil : message }

    /// The stable code of the error.
    public var code: Code { Code(reason) }

    /// Whether the request was cancelled.
    ///
    /// A cancellation is not a failure.
    public var isCancellation: Bool { code == .cancelled }

    /// Returns the error's code as a code of the module, or `nil` if the error does not belong to that module.
    public func module<Module: ModuleErrorCode>(_ type: Module.Type) -> Module? {
        guard case .module(let failure) = reason, failure.module == Module.module else { return nil }
        return failure.code.flatMap(Module.init(rawValue:))
    }
}

// MARK: - Response

extension APIError {
    /// The status of the response, or `nil` if there was no response.
    public var status: Int? { context.status }

    /// The header fields of the response.
    ///
    /// If there was no response, there are no header fields.
    public var headers: HTTPHeaders { context.headers }

    /// The first 65,536 bytes of the response body, or `nil` if there was no response.
    public var data: Data? { context.status == nil ? nil : context.body }

    /// The body of the response as text in the charset of `Content-Type`.
    ///
    /// The value is `nil` if there was no response or the body is not text.
    public var text: String? {
        data.flatMap { HTTPResponse(status: 0, headers: headers, body: .whole($0)).text }
    }

    /// The time to wait before the next call, if the server or one of the app's limits asks for it, otherwise `nil`.
    ///
    /// For a response, it is the value of `Retry-After`, counted from the time of the error.
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
    /// Returns whether two errors have the same reason and the same server message.
    ///
    /// The context is ignored, because times and identifiers differ in every run. The library's own descriptions are
    /// ignored too.
    public static func == (left: APIError, right: APIError) -> Bool {
        left.reason == right.reason && left.serverMessage == right.serverMessage
    }
}

// MARK: - Trying again

extension APIError {
    /// Whether a server may have executed the call although no response confirms it.
    ///
    /// The value is `true` for a request that may change something (such as POST, PUT or DELETE) in these cases:
    /// - It was sent in any attempt, and there was no response or an inconclusive response (408, or a status from 500).
    /// - The server responded with 2xx, 302 or 303, but the call failed for another reason: a status outside the call's
    ///   rules, an unusable body, a code of the module, or a redirect that could not be followed.
    ///
    /// The value is `false` if the server certainly did not execute the request, for a request that only reads, and if
    /// nothing is known about the request. If the value is `true`, repeat the call only with its idempotency key, or
    /// after checking that no server has executed it.
    public var mayHaveBeenExecuted: Bool { context.mayHaveBeenExecuted }

    /// Whether the same call may succeed if it is repeated later.
    ///
    /// The value is `true` for transient failures below HTTP, for the library's own limits, and for responses with a
    /// transient status (`RetryPolicy.statuses`), whatever code the module or the server assigns to them. A
    /// ``/SwitchyardClient/RetryPolicy`` retries the same failures. The value does not state whether it is safe to send
    /// the call twice: see ``isSafeToRetry``.
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
    /// Use this property in a loop that repeats calls. If it is `false` although ``isRetryable`` is `true`, a server
    /// may have executed the call, which may change something. Repeat such a call only with its idempotency key, or
    /// after reading whether the change has been made.
    public var isSafeToRetry: Bool { isRetryable && !mayHaveBeenExecuted }

    /// The status of a response with which the server or the module rejected the call, or `nil` for any other failure.
    ///
    /// The status is 200 if only the envelope (the outer JSON object of the response) reports the failure.
    var refusedStatus: Int? {
        switch reason {
        case .status(let status): status
        case .module: context.status
        default: nil
        }
    }
}

extension APIError: LocalizedError {
    /// The value of ``message``.
    public var errorDescription: String? { message }
}

extension Result where Failure == APIError {
    /// Whether the call was cancelled.
    ///
    /// A cancellation is not a failure.
    public var isCancellation: Bool {
        if case .failure(let error) = self { error.isCancellation } else { false }
    }
}

extension APIError {
    /// The circumstances of an error.
    ///
    /// Unknown facts are `nil` or empty.
    public struct Context: Sendable {
        /// The name of the service that was called.
        public var service: String?
        /// The name of the environment of the call.
        public var environment: String?
        /// The server to which the last attempt was sent, or `nil` if no attempt was sent.
        public var server: String?
        /// The identifier of the request, which is the same for all its attempts.
        public var requestID: RequestID?
        /// The method of the request.
        public var method: HTTPMethod?
        /// The URL of the request, or the path of the call if no request could be built.
        public var path: String?
        /// The redirects that were followed, in order.
        ///
        /// The last redirect led to the URL in ``path``.
        public var redirects: [RedirectStep] = []
        /// The number of attempts that were sent.
        public var attempts: Int
        /// The attempts of the call, in order.
        var history = AttemptHistory.none
        /// Whether the request may have been executed: see ``APIError/mayHaveBeenExecuted``.
        public var mayHaveBeenExecuted = false
        /// The time from the dispatch of the request to its failure, or `nil` if no request was dispatched.
        public var elapsed: Duration?
        /// The wall clock time of the error.
        public var date: Date
        /// The response with at most 65,536 bytes of its body, or `nil` if there was none.
        private(set) var response: HTTPResponse?
        /// The size of the response's body in bytes.
        public private(set) var bodyLength: Int
        /// The underlying error, unchanged.
        public var underlying: (any Error)?

        /// The maximum number of body bytes that an error stores: 64 KiB, enough for any error model.
        package static let bodyLimit = 65_536

        /// Creates a context.
        ///
        /// Facts that are not given are unknown.
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
            bodyLength = 0
        }

        /// Stores the status, the header fields and the beginning of the body of a response.
        public mutating func keep(status: Int, headers: HTTPHeaders, body: Data) {
            keep(HTTPResponse(status: status, headers: headers, body: .whole(body)))
        }

        /// Stores the response with the beginning of its body.
        ///
        /// A streamed body is not stored.
        package mutating func keep(_ response: HTTPResponse) {
            let body = response.data ?? Data()
            bodyLength = body.count
            self.response = response
            guard response.data == nil || body.count > Self.bodyLimit else { return }
            self.response?.body = .whole(Data(body.prefix(Self.bodyLimit)))
        }

        /// The status of the response, or `nil` if there was none.
        public var status: Int? {
            get { response.flatMap { $0.status == 0 ? nil : $0.status } }
            set {
                response = response ?? HTTPResponse(status: 0)
                response?.status = newValue ?? 0
            }
        }
        /// The header fields of the response.
        public var headers: HTTPHeaders {
            get { response?.headers ?? HTTPHeaders() }
            set {
                response = response ?? HTTPResponse(status: 0)
                response?.headers = newValue
            }
        }
        /// The body of the response, at most 65,536 bytes of it.
        public var body: Data { response?.data ?? Data() }
    }
}
