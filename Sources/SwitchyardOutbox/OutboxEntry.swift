public import Foundation
public import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// A request that is stored in an ``Outbox``.
public struct OutboxEntry: Codable, Sendable, Hashable, Identifiable {
    /// The sequence number of the request.
    ///
    /// Requests that are stored later have larger numbers.
    public internal(set) var id: UInt64
    /// The idempotency key by which the server recognizes the request.
    ///
    /// It is the same in every attempt and after a relaunch.
    public let idempotencyKey: String
    /// The name of the environment in which the request was stored.
    ///
    /// The request is sent only to this environment.
    ///
    /// The value is `nil` for a request that an older version of the library has stored. Such a request is sent
    /// regardless of the client's environment.
    public let environment: String?
    /// The user who was logged in when the request was stored (`NetworkClient.Options.user`).
    ///
    /// The request is sent only for this user.
    ///
    /// The value is `nil` if there was no user, and for a request that an older version of the library has stored. A
    /// request without a user is sent regardless of the user who is logged in.
    public let user: String?
    /// The wall clock time at which the request was stored.
    public let storedAt: Date
    /// The HTTP method.
    public let method: String
    /// The path, with its query.
    public let path: String
    /// The API version of the call, or `nil` if the client's version applies.
    public let apiVersion: String?
    /// The header fields, as alternating names and values.
    public let headers: [String]
    /// The body, or `nil` if there is none.
    public let body: Data?
    /// The content type of the body.
    public let contentType: String?
    /// The replacement key, or `nil` if there is none.
    ///
    /// A newer request with the same replacement key replaces this request (``Outbox/store(_:replacementKey:)``).
    public let replacementKey: String?
    /// Whether a server may have executed the request in any attempt so far, although no response confirms it
    /// (`RequestFailure.mayHaveBeenExecuted`).
    ///
    /// The value is also `true` for a request that was in flight when the app was killed. If the value is `true`, a
    /// request that is dropped (``OutboxEvent/expired(_:)``, ``OutboxEvent/rejected(_:_:)``,
    /// ``OutboxEvent/replaced(_:by:)``, ``Outbox/remove(_:)``) may still have been executed.
    public internal(set) var mayHaveBeenExecuted = false
    /// `true` if the file records that the request has been in flight, otherwise `nil`.
    var hasBegun: Bool?
    /// The elapsed time of the ``OutboxTimeline`` in seconds when the request was stored.
    ///
    /// The value is `nil` for a request that an older version of the library has stored.
    var elapsed: Double?
    /// The value of the `Accept` field, unless the header fields of the call contain one.
    var acceptedTypes: String?

    private enum CodingKeys: String, CodingKey {
        case id, idempotencyKey, environment, user, storedAt, method, path, apiVersion, headers, body, contentType
        case replacementKey, hasBegun, elapsed, acceptedTypes
    }

    /// The stored request as a call.
    public var configuration: APIConfiguration {
        var configuration = APIConfiguration(path: path, method: HTTPMethod(method) ?? .post)
        for index in stride(from: 0, to: headers.count - 1, by: 2) {
            configuration.headers.add(headers[index], headers[index + 1])
        }
        if let body { configuration.body = .data(body, contentType: contentType) }
        if let apiVersion { configuration.apiVersion = apiVersion }
        configuration.idempotencyKey = .given(idempotencyKey)
        return configuration
    }

    /// A replacement key with its environment and user.
    ///
    /// At most one request per slot waits to be sent.
    struct Slot: Hashable {
        var key: String
        var environment: String?
        var user: String?
    }

    /// The slot of the request, or `nil` if it has no replacement key.
    var slot: Slot? { replacementKey.map { Slot(key: $0, environment: environment, user: user) } }

    /// Whether the request has a JSON body or accepts JSON.
    var expectsJSON: Bool {
        let accepted = configuration.headers["Accept"] ?? acceptedTypes ?? ""
        return [contentType ?? "", accepted].contains { $0.lowercased().contains("json") }
    }

    /// Returns whether the request may be sent while the client is in an environment.
    func belongs(to environment: ServiceEnvironment) -> Bool {
        self.environment.map { $0 == environment.rawValue } ?? true
    }

    /// Returns whether the request may be sent while a user is logged in, or, for `nil`, while no user is logged in.
    func belongs(toUser user: String?) -> Bool { self.user == nil || self.user == user }
}

/// The reason why a request cannot be stored in an ``Outbox``, or why the outbox cannot be opened.
public enum OutboxError: Error, Sendable, Hashable {
    /// The file cannot be read or written. The associated value contains the problem and the path.
    case file(String)
    /// The file is not an outbox, or it was written by a newer version.
    case foreignFile
    /// Another outbox has the file open, in this process or another process.
    ///
    /// That outbox must be released or closed first (``Outbox/close()``).
    case busy
    /// The outbox was closed.
    case closed
    /// The outbox already contains the maximum number of requests.
    case full(limit: Int)
    /// The body cannot be stored, because it is a file, a stream or a multipart form, or is larger than about 48 MB.
    case unstorableBody
    /// The call is an `APIConfiguration.prebuiltRequest`, which cannot be stored.
    case unstorableRequest
    /// The call has a header field with credentials.
    ///
    /// Credentials must not be stored. The client adds its credentials when the request is sent.
    case holdsCredentials(header: String)
    /// The call cannot be built.
    case invalid(RequestError)
}

extension OutboxError: CustomStringConvertible {
    /// A description of the error without any header value.
    public var description: String {
        switch self {
        case .file(let text): text
        case .foreignFile: "the file is not an outbox, or was written by a newer version of this library"
        case .busy: "another outbox has the file open: close that outbox first"
        case .closed: "the outbox is closed"
        case .full(let limit): "the outbox is full: \(limit) writes are waiting"
        case .unstorableBody:
            "the body cannot be stored: it is a file, a stream or a multipart form, or larger than 48 MB"
        case .unstorableRequest: "a call with a `prebuiltRequest` cannot be stored in an outbox"
        case .holdsCredentials(let header):
            "the header field \(header) must not be stored, because it contains credentials"
        case .invalid(let error): error.description
        }
    }
}

/// An event of a stored request in an ``Outbox``.
public enum OutboxEvent: Sendable {
    /// The request is stored, and now survives a crash of the app.
    case stored(OutboxEntry)
    /// The server has accepted the request: ``Outbox/Options/accepts`` accepts its response.
    case sent(OutboxEntry, ServiceResponse)
    /// The response does not show that the server has accepted the request, so the request stays stored and is sent
    /// again with the same idempotency key.
    ///
    /// The response may come from a login page, or from the captive portal of a network, instead of the server. If your
    /// server accepts requests with such a response, set ``Outbox/Options/accepts``.
    case unconfirmed(OutboxEntry, ServiceResponse, reason: OutboxDoubt, pause: Duration)
    /// The server has rejected the request with a status of 400 or above that no later attempt would change.
    case rejected(OutboxEntry, ServiceResponse)
    /// The request cannot be sent, because it is malformed or needs something that the transport does not support.
    case unsendable(OutboxEntry, RequestFailure)
    /// The request could not be sent now. This request and the requests after it wait.
    case postponed(OutboxEntry, pause: Duration)
    /// The request exceeded ``Outbox/Options/maximumAge`` and has been dropped.
    case expired(OutboxEntry)
    /// A newer request with the same replacement key (``OutboxEntry/replacementKey``) has replaced the request, which
    /// has been dropped.
    case replaced(OutboxEntry, by: OutboxEntry)
}

extension OutboxEntry: CustomStringConvertible {
    /// The number, method and path of the request on one line, without header fields and body, and with credentials
    /// redacted.
    public var description: String { "write \(id) (\(method) \(Redaction.standard.url(path)))" }
}

extension OutboxEntry {
    /// The remark in a description that the request may have been executed, or an empty text.
    fileprivate var remark: String { mayHaveBeenExecuted ? .mayHaveBeenExecuted : "" }
}

extension OutboxEvent: CustomStringConvertible {
    /// The event and its request on one line, without header fields and body, and with credentials redacted.
    public var description: String {
        switch self {
        case .stored(let entry): "\(entry) stored"
        case .sent(let entry, let answer): "\(entry) sent, response with status \(answer.status)"
        case .rejected(let entry, let answer): "\(entry) rejected with status \(answer.status)\(entry.remark)"
        case .unsendable(let entry, let failure): "\(entry) cannot be sent: \(failure)"
        case .postponed(let entry, let pause): "\(entry) waits, next attempt in \(pause)\(entry.remark)"
        case .expired(let entry): "\(entry) expired\(entry.remark)"
        case .unconfirmed(let entry, _, let reason, let pause):
            "\(entry) unconfirmed (\(reason)), next attempt in \(pause)\(entry.remark)"
        case .replaced(let entry, let newer): "\(entry) replaced by write \(newer.id)\(entry.remark)"
        }
    }
}

extension OutboxEntry: RedactedDescribable {}
extension OutboxEvent: RedactedDescribable {}

extension OutboxEntry {
    /// Creates an entry from a call.
    ///
    /// Server, deadline and similar settings of the call are not stored.
    init(
        _ configuration: APIConfiguration,
        id: UInt64,
        date: Date,
        environment: ServiceEnvironment,
        user: String? = nil,
        replacementKey: String? = nil,
        generator: RequestGenerator
    ) throws(OutboxError) {
        guard configuration.prebuiltRequest == nil else { throw .unstorableRequest }
        for field in configuration.headers.fields where HTTPHeaders.sensitiveNames.contains(field.name.lowercased()) {
            throw .holdsCredentials(header: field.name)
        }
        let content: (body: HTTPBody, contentType: String?)
        do throws(RequestError) {
            // Values that are common to all calls are added when the request is sent.
            (path, content) = try generator.ownContent(of: configuration)
        } catch {
            throw .invalid(error)
        }
        switch content.body {
        case .none: body = nil
        case .data(let data): body = data
        case .file, .stream: throw .unstorableBody
        }
        contentType = content.contentType
        self.id = id
        idempotencyKey = configuration.idempotencyKey.value ?? UUID().uuidString
        self.environment = environment.rawValue
        self.user = user
        self.replacementKey = replacementKey
        acceptedTypes = configuration.acceptedTypes ?? generator.common.headers["Accept"]
        storedAt = date
        method = configuration.method.name
        apiVersion = configuration.apiVersion
        headers = configuration.headers.fields.flatMap { [$0.name, $0.value] }
    }
}
