public import Foundation
public import SwitchyardClient
public import SwitchyardServices

/// The reason why a server list was refused.
///
/// A refused list changes nothing, neither in the client nor on disk.
public enum ServerListRefusal: Error, Sendable, Hashable {
    /// The document is larger than ``ServerList/maximumSize``.
    case tooLarge
    /// The document is not JSON, or a member is missing, unknown or of the wrong type. The value describes the problem.
    case malformed(String)
    /// None of the app's keys has signed the list. The value contains the names of the keys that signed it.
    case unknownKey([String])
    /// The signature of one of the app's keys does not match the list, and no other key has signed it. The value is the
    /// name of the key.
    case badSignature(key: String)
    /// The list belongs to another service.
    case foreignService(String, expected: String)
    /// The list is older than a list that the app has already accepted, or than ``ServerList/Options/builtInVersion``.
    case outdated(version: Int, newest: Int)
    /// The list has the version of the newest list that the app has accepted, but its content differs.
    case reusedVersion(Int)
    /// The list expired longer ago than ``ServerList/Options/grace`` allows.
    case expired(Date, now: Date)
    /// The list was issued more than a day after the current time.
    case issuedInFuture(Date, now: Date)
    /// The servers of the list are invalid, for example because a key is unknown or two servers have the same name.
    case invalidServers(CatalogError)
    /// The list has more servers than a service can have.
    case tooManyServers(Int, maximum: Int)
    /// The service has an environment in which the list has no server.
    case missingEnvironment(ServiceEnvironment)
    /// The URL of a server is plain http, and its host is not one to which the client may send unencrypted requests.
    case insecureURL(server: Server.ID, url: String)
    /// The host of a server matches none of the app's host patterns.
    case foreignHost(server: Server.ID, host: String)
    /// The client refused the servers.
    case unusable(ClientError)
    /// The system has no implementation of Ed25519. The value is the reason.
    case signaturesUnavailable(String)
}

extension ServerListRefusal: CustomStringConvertible {
    /// The mistake, the value, and what is allowed, on one line.
    public var description: String {
        switch self {
        case .tooLarge: "the list is too large: must have at most \(ServerList.maximumSize) bytes"
        case .malformed(let problem): "the list is malformed: \(problem)"
        case .unknownKey(let names):
            names.isEmpty
                ? "the list has no signature" : "the list is signed by unknown keys: \(names.joined(separator: ", "))"
        case .badSignature(let key): "the signature of the key \(key) does not match the list"
        case .foreignService(let name, let expected):
            "the list is for the service \(name): must be for the service \(expected)"
        case .outdated(let version, let newest): "the version of the list is \(version): must be at least \(newest)"
        case .reusedVersion(let version):
            "the list has version \(version), which an earlier list with other content already had"
        case .expired(let date, let now): "the list expired at \(date.iso8601), and the time is \(now.iso8601)"
        case .issuedInFuture(let date, let now):
            "the list was issued at \(date.iso8601), but the time is only \(now.iso8601)"
        case .invalidServers(let error): "the servers of the list are invalid: \(error)"
        case .tooManyServers(let count, let maximum): "the list has \(count) servers: must have at most \(maximum)"
        case .missingEnvironment(let environment): "the list has no server in the environment \(environment)"
        case .insecureURL(let server, let url): "the URL \(url) of the server \(server) is not encrypted: must be https"
        case .foreignHost(let server, let host): "the host \(host) of the server \(server) matches no host pattern"
        case .unusable(let error): "the client refused the servers: \(error)"
        case .signaturesUnavailable(let reason): "this system cannot verify signatures: \(reason)"
        }
    }
}
