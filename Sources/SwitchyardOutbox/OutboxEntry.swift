public import Foundation
public import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// A write that is stored in an ``Outbox``.
public struct OutboxEntry: Codable, Sendable, Hashable, Identifiable {
    /// The number of the write, which is larger for later writes.
    public internal(set) var id: UInt64
    /// The key by which the server recognises the write, the same in every attempt and after a relaunch.
    public let idempotencyKey: String
    /// The name of the environment in which the write was stored, the only one it is sent to.
    ///
    /// The value is `nil` for a write that an older version has stored, which is sent regardless of the client's
    /// environment.
    public let environment: String?
    /// The user who was logged in when the write was stored (`NetworkClient.Options.user`), the only user it is sent
    /// for.
    ///
    /// The value is `nil` if there was no user, and for a write that an older version has stored. A write without a
    /// user is sent regardless of the user who is logged in.
    public let user: String?
    /// The wall clock time at which the write was stored, which is comparable across runs of the app.
    public let storedAt: Date
    /// The method.
    public let method: String
    /// The path, with its query.
    public let path: String
    /// The API version that the call set, or `nil` if the client's version applies.
    public let apiVersion: String?
    /// The header fields, as alternating names and values.
    public let headers: [String]
    /// The body, or `nil` if there is none.
    public let body: Data?
    /// The content type of the body.
    public let contentType: String?
    /// The key by which a newer write replaces this one (``Outbox/store(_:replacementKey:)``), or `nil` if there is
    /// none.
    public let replacementKey: String?
    /// Whether a server may have executed the write in any attempt so far, although no response confirms it
    /// (`RequestFailure.mayHaveBeenExecuted`).
    ///
    /// The value is also `true` for a write that was in flight when the app was killed. If such a write is dropped
    /// (``OutboxEvent/expired(_:)``, ``OutboxEvent/rejected(_:_:)``, ``OutboxEvent/replaced(_:by:)``,
    /// ``Outbox/remove(_:)``), it may still have been executed.
    public internal(set) var mayHaveBeenExecuted = false
    /// Whether the file has recorded that the write was in flight, or `nil` if it has not.
    var hasBegun: Bool?
    /// The time in seconds that had passed for the outbox when the write was stored, or `nil` if an older version has
    /// stored it.
    var elapsed: Double?
    /// The media types that the call accepts if its header fields contain no `Accept`.
    var acceptedTypes: String?

    private enum CodingKeys: String, CodingKey {
        case id, idempotencyKey, environment, user, storedAt, method, path, apiVersion, headers, body, contentType
        case replacementKey, hasBegun, elapsed, acceptedTypes
    }

    /// The call as it is sent.
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

    /// The slot of a replacement key, in which only one write waits at a time.
    struct Slot: Hashable {
        var key: String
        var environment: String?
        var user: String?
    }

    /// The slot of the write, or `nil` if it has no replacement key.
    var slot: Slot? { replacementKey.map { Slot(key: $0, environment: environment, user: user) } }

    /// Whether the write has a JSON body or accepts JSON.
    var expectsJSON: Bool {
        let accepted = configuration.headers["Accept"] ?? acceptedTypes ?? ""
        return [contentType ?? "", accepted].contains { $0.lowercased().contains("json") }
    }

    /// Returns whether the write may be sent while the client is in an environment.
    func belongs(to environment: ServiceEnvironment) -> Bool {
        self.environment.map { $0 == environment.rawValue } ?? true
    }

    /// Returns whether the write may be sent while a user, or no user, is logged in.
    func belongs(toUser user: String?) -> Bool { self.user == nil || self.user == user }
}

/// The reason why a write cannot be stored in an ``Outbox``, or the outbox cannot be opened.
public enum OutboxError: Error, Sendable, Hashable {
    /// The file cannot be read or written; the text contains the problem and the path.
    case file(String)
    /// The file is not an outbox, or it was written by a newer version.
    case foreignFile
    /// Another outbox has the file open, in this process or another, and must be released or closed first
    /// (``Outbox/close()``).
    case busy
    /// The outbox was closed.
    case closed
    /// The maximum number of writes is already stored.
    case full(limit: Int)
    /// The body cannot be stored, because it is a file, a stream or a multipart form, or is larger than about 48 MB.
    case unstorableBody
    /// The call is an `APIConfiguration.prebuiltRequest`, which cannot be stored.
    case unstorableRequest
    /// The call has a header field with credentials, which must not be stored because the client adds its credentials
    /// when the write is sent.
    case holdsCredentials(header: String)
    /// The call cannot be built.
    case invalid(RequestError)
}

extension OutboxError: CustomStringConvertible {
    /// The error as text, without any header value.
    public var description: String {
        switch self {
        case .file(let text): text
        case .foreignFile: "the file is not an outbox, or is one of a newer version"
        case .busy: "another outbox has the file"
        case .closed: "the outbox is closed"
        case .full(let limit): "\(limit) writes wait already"
        case .unstorableBody: "a body of this kind, or of this size, cannot be stored"
        case .unstorableRequest: "a prebuilt request cannot be stored"
        case .holdsCredentials(let header): "the header field \(header) holds credentials, which are not stored"
        case .invalid(let error): error.description
        }
    }
}

/// An event of a write in an ``Outbox``.
public enum OutboxEvent: Sendable {
    /// The write is stored, and survives a crash of the app from now on.
    case stored(OutboxEntry)
    /// The server has accepted the write, with a response that ``Outbox/Options/accepts`` accepts.
    case sent(OutboxEntry, ServiceResponse)
    /// The response does not show that the server has accepted the write, so the write stays stored and is sent again
    /// with the same key.
    ///
    /// The response may come from a login page, or from the portal of a network, in front of the server. If the server
    /// accepts writes with such a response, set ``Outbox/Options/accepts``.
    case unconfirmed(OutboxEntry, ServiceResponse, reason: OutboxDoubt, pause: Duration)
    /// The server has rejected the write with a status of 400 or above that no later attempt would change.
    case rejected(OutboxEntry, ServiceResponse)
    /// The write cannot be sent, because the request is malformed or needs something that the transport does not
    /// support.
    case unsendable(OutboxEntry, RequestFailure)
    /// The write could not be sent now; it and the writes after it wait.
    case postponed(OutboxEntry, pause: Duration)
    /// The write was older than allowed and has been dropped: see ``Outbox/Options/maximumAge``.
    case expired(OutboxEntry)
    /// A newer write with the same key (``OutboxEntry/replacementKey``) has replaced the write, which has been dropped.
    case replaced(OutboxEntry, by: OutboxEntry)
}

extension OutboxEntry: CustomStringConvertible {
    /// The write's number, method and path on one line, without header fields and body, and with credentials redacted.
    public var description: String { "write \(id) (\(method) \(Redaction.standard.url(path)))" }
}

extension OutboxEntry {
    /// The remark in a description about a write that may have been executed.
    fileprivate var remark: String { mayHaveBeenExecuted ? .mayHaveBeenExecuted : "" }
}

extension OutboxEvent: CustomStringConvertible {
    /// The write and its event on one line, without header fields and body, and with credentials redacted.
    public var description: String {
        switch self {
        case .stored(let entry): "\(entry) stored"
        case .sent(let entry, let answer): "\(entry) sent, response \(answer.status)"
        case .rejected(let entry, let answer): "\(entry) rejected with \(answer.status)\(entry.remark)"
        case .unsendable(let entry, let failure): "\(entry) cannot be sent: \(failure)"
        case .postponed(let entry, let pause): "\(entry) waits, next try in \(pause)\(entry.remark)"
        case .expired(let entry): "\(entry) expired\(entry.remark)"
        case .unconfirmed(let entry, _, let reason, let pause):
            "\(entry) unconfirmed (\(reason)), next try in \(pause)\(entry.remark)"
        case .replaced(let entry, let newer): "\(entry) replaced by write \(newer.id)\(entry.remark)"
        }
    }
}

extension OutboxEntry: RedactedDescribable {}
extension OutboxEvent: RedactedDescribable {}

extension OutboxEntry {
    /// Creates an entry from a call, with the values that describe the request itself, but without server, deadline and
    /// similar settings.
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
            // Values that are common to all calls are added when the write is sent.
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
