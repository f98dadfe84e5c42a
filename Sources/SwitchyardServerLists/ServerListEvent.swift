public import Foundation
public import SwitchyardHTTP
public import SwitchyardServices

/// An event of a ``ServerList``.
public enum ServerListEvent: Sendable, Hashable {
    /// The client now uses the servers of this list.
    case applied(version: Int, ServerListDifference)
    /// A URL responded that it has no list newer than the one in use, which has this version.
    case unchanged(version: Int)
    /// A list was refused, and nothing has changed. `source` is its URL.
    ///
    /// If the stored list is refused, ``ServerListStatus/refusal`` has the reason after the initializer of
    /// ``ServerList``, because the list is refused before an app can read events.
    case refused(ServerListRefusal, source: String)
    /// A URL did not respond with a list, for this reason. Nothing has changed.
    case unreachable(String, source: String)
    /// The list in use has expired, and no newer one was found. The list stays in use.
    case expired(version: Int, Date)
    /// The list in use could not be stored, so the next launch starts with the list before it.
    ///
    /// The next fetch tries to store it again.
    case notStored(FileFailure)
}

/// The difference between the servers of a client before and after a list was applied.
public struct ServerListDifference: Sendable, Hashable {
    /// The names of the servers that only the new list has.
    public var added: [Server.ID]
    /// The names of the servers that the new list lacks.
    public var removed: [Server.ID]
    /// The names of the servers in both lists whose URLs or other properties differ.
    public var changed: [Server.ID]
    /// Whether the two lists rank their servers in a different order.
    public var isReordered: Bool

    /// Compares two lists of servers.
    package init(from old: [Server], to new: [Server]) {
        let (oldNames, newNames) = (old.map(\.name), new.map(\.name))
        added = newNames.filter { !oldNames.contains($0) }
        removed = oldNames.filter { !newNames.contains($0) }
        changed = new.filter { server in old.contains { $0.name == server.name && $0 != server } }.map(\.name)
        isReordered = oldNames.filter(newNames.contains) != newNames.filter(oldNames.contains)
    }
}

/// The list that a client uses.
public struct ServerListStatus: Sendable, Hashable {
    /// The version of the list in use, or `nil` if the client uses the servers that are built into the app.
    public var version: Int?
    /// The time at which the list in use expires, or `nil` if the client uses the built-in servers.
    public var expires: Date?
    /// Whether the list in use has expired.
    ///
    /// The value is `false` until a server has reported a time after ``expires`` over TLS. It is then `true` until a
    /// newer list is accepted. The clock of the device does not count.
    public var isExpired = false
    /// The reason why a list was refused last, or `nil` if a later list was accepted or none was refused.
    public var refusal: ServerListRefusal?
}

extension ServerListStatus: CustomStringConvertible {
    /// The list in use and the last refusal on one line.
    public var description: String {
        let list = version.map { "server list \($0) is in use" } ?? "the built-in servers are in use"
        let expiry = expires.map { ", \(isExpired ? "expired" : "expires") \($0.iso8601)" } ?? ""
        return list + expiry + (refusal.map { "; last refusal: \($0)" } ?? "")
    }
}

extension ServerListEvent: CustomStringConvertible {
    /// The event on one line.
    public var description: String {
        switch self {
        case .applied(let version, let difference): "applied server list \(version): \(difference)"
        case .unchanged(let version): "server list \(version) is still the newest"
        case .refused(let refusal, let source): "refused the server list from \(source): \(refusal)"
        case .unreachable(let reason, let source): "could not load a server list from \(source): \(reason)"
        case .expired(let version, let date): "server list \(version) expired at \(date.iso8601) and stays in use"
        case .notStored(let failure): "the server list could not be stored: \(failure)"
        }
    }
}

extension ServerListDifference: CustomStringConvertible {
    /// The difference on one line.
    public var description: String {
        let names = [("added", added), ("removed", removed), ("changed", changed)].filter { !$0.1.isEmpty }
        let parts = names.map { "\($0.0) \($0.1.joined(separator: ", "))" } + (isReordered ? ["reordered"] : [])
        return parts.isEmpty ? "no difference" : parts.joined(separator: "; ")
    }
}
