public import Foundation
public import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// A write that waits in an ``Outbox``.
public struct OutboxEntry: Codable, Sendable, Hashable, Identifiable {
    /// Its number; later ones have larger numbers.
    public internal(set) var id: UInt64
    /// The key by which the server recognises it, the same in every attempt and after a relaunch.
    public let idempotencyKey: String
    /// The name of the environment that it was stored in, the only one it is sent to; `nil` in what an older version has
    /// stored, which goes wherever the client is.
    public let environment: String?
    /// The user who was logged in when it was stored (`NetworkClient.Options.user`), the only one it is sent for;
    /// `nil` where there was none, and in what an older version has stored, which goes whoever is logged in.
    public let user: String?
    /// When it was stored, by the wall clock, which outlives the app.
    public let storedAt: Date
    /// The method.
    public let method: String
    /// The path, with its query.
    public let path: String
    /// The version of the API where the call named its own; `nil` for the client's.
    public let apiVersion: String?
    /// The header fields, name and value by turns.
    public let headers: [String]
    /// The body; `nil` when there is none.
    public let body: Data?
    /// The content type of the body.
    public let contentType: String?
    /// The key by which a newer write replaces this one (``Outbox/store(_:replacementKey:)``); `nil` where there is none.
    public let replacementKey: String?
    /// Whether a server may have carried it out although no answer says so (`RequestFailure.mayHaveBeenExecuted`), in
    /// any attempt so far; also for one that was on its way when the app was ended.
    ///
    /// A write that is dropped (``OutboxEvent/expired(_:)``, ``OutboxEvent/rejected(_:_:)``,
    /// ``OutboxEvent/replaced(_:by:)``, ``Outbox/remove(_:)``) may have been done all the same then.
    public internal(set) var mayHaveBeenExecuted = false
    /// Whether the file says that it was on its way; `nil` as long as it does not.
    var hasBegun: Bool?
    /// The seconds that had passed for the outbox when it was stored; `nil` in what an older version has stored.
    var elapsed: Double?
    /// The content types that its call asks for, where its header fields name none.
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

    /// What only one write at a time may wait for.
    struct Slot: Hashable {
        var key: String
        var environment: String?
        var user: String?
    }

    /// Its place among the writes that replace one another; `nil` without a key.
    var slot: Slot? { replacementKey.map { Slot(key: $0, environment: environment, user: user) } }

    /// Whether JSON is what it has in its body, or asks for.
    var expectsJSON: Bool {
        let accepted = configuration.headers["Accept"] ?? acceptedTypes ?? ""
        return [contentType ?? "", accepted].contains { $0.lowercased().contains("json") }
    }

    /// Whether it may be sent while the client is in an environment.
    func belongs(to environment: ServiceEnvironment) -> Bool {
        self.environment.map { $0 == environment.rawValue } ?? true
    }

    /// Whether it may be sent while a user is logged in, or nobody.
    func belongs(toUser user: String?) -> Bool { self.user == nil || self.user == user }
}

/// Why a write cannot be put into an ``Outbox``, or the outbox cannot be opened.
public enum OutboxError: Error, Sendable, Hashable {
    /// The file cannot be read or written; the text says what and where.
    case file(String)
    /// The file is no outbox of ours, or one of a newer version.
    case foreignFile
    /// Another outbox has the file, in this process or another: let go of that one, or ``Outbox/close()`` it.
    case busy
    /// The outbox was closed.
    case closed
    /// As many writes wait as may.
    case full(limit: Int)
    /// The body cannot be stored: it is a file, a stream or a form of parts, or larger than some 48 MB.
    case unstorableBody
    /// The call is a `APIConfiguration.prebuiltRequest`, in place of everything that could be stored.
    case unstorableRequest
    /// The call has a header field with credentials, which must not be stored; the client's credentials are added when
    /// it is sent.
    case holdsCredentials(header: String)
    /// The call cannot be built.
    case invalid(RequestError)
}

extension OutboxError: CustomStringConvertible {
    /// What is in the way, without any value of a header.
    public var description: String {
        switch self {
        case .file(let text): text
        case .foreignFile: "the file is no outbox, or one of a newer version"
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

/// What became of a write in an ``Outbox``.
public enum OutboxEvent: Sendable {
    /// It is stored, whatever happens to the app from now on.
    case stored(OutboxEntry)
    /// The server has accepted it: its response is one that ``Outbox/Options/accepts`` accepts.
    case sent(OutboxEntry, ServiceResponse)
    /// The response does not show that the server has accepted it; it stays, and is sent again with the same key.
    ///
    /// It may come from a login page, or from the portal of a network, that stands in front of the server. Where a server
    /// accepts writes with such a response, set ``Outbox/Options/accepts``.
    case unconfirmed(OutboxEntry, ServiceResponse, reason: OutboxDoubt, pause: Duration)
    /// The server will never take it: it answered with a status from 400 up that no later attempt changes.
    case rejected(OutboxEntry, ServiceResponse)
    /// It cannot be sent: the request is malformed, or asks for what the transport cannot do.
    case unsendable(OutboxEntry, RequestFailure)
    /// It could not be sent now; it and those behind it wait.
    case postponed(OutboxEntry, pause: Duration)
    /// It was older than allowed and has been dropped: see ``Outbox/Options/maximumAge``.
    case expired(OutboxEntry)
    /// A newer write with the same key (``OutboxEntry/replacementKey``) has taken its place, and it has been dropped.
    case replaced(OutboxEntry, by: OutboxEntry)
}

extension OutboxEntry: CustomStringConvertible {
    /// The write's number and what it asks, in one line, without header fields and body; credentials are hidden.
    public var description: String { "write \(id) (\(method) \(Redaction.standard.url(path)))" }
}

extension OutboxEntry {
    /// What a line says of a write that may have been executed.
    fileprivate var remark: String { mayHaveBeenExecuted ? .mayHaveBeenExecuted : "" }
}

extension OutboxEvent: CustomStringConvertible {
    /// Which write it is and what became of it, in one line, without header fields and body; credentials are hidden.
    public var description: String {
        switch self {
        case .stored(let entry): "\(entry) stored"
        case .sent(let entry, let answer): "\(entry) sent, answered with \(answer.status)"
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

extension OutboxEntry: Discreet {}
extension OutboxEvent: Discreet {}

extension OutboxEntry {
    /// Makes an entry of a call: what it says about the request itself, apart from server, deadline and the like.
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
            // What all calls have in common is added when it is sent.
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
