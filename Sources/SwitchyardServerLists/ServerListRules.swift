package import Foundation
package import SwitchyardClient
import SwitchyardHTTP
package import SwitchyardServices

/// The rules that a signed list has to meet before it is applied.
package struct ServerListRules: Sendable {
    /// The service as it was built into the app.
    package let service: Service
    /// The keys of which one must have signed the list.
    package let keys: [ServerListKey]
    private let hosts: [HostPattern]
    private let insecureHTTP: InsecureHTTPRule
    private let grace: Duration
    private let builtInVersion: Int

    /// The tolerance for clocks that differ: the maximum time in seconds by which a list's issue time may be later than
    /// the current time.
    private static let clockDifference: TimeInterval = 86_400

    /// Creates the rules.
    ///
    /// - Throws: ``ServerListError`` if a key or a host pattern is invalid, or the system cannot verify signatures.
    package init(
        service: Service,
        keys: [ServerListKey],
        hosts: [String],
        insecureHTTP: InsecureHTTPRule,
        grace: Duration,
        builtInVersion: Int = 0
    ) throws(ServerListError) {
        guard !keys.isEmpty else { throw .noKeys }
        var names: Set<String> = []
        for key in keys where !names.insert(key.name).inserted { throw .duplicateKey(key.name) }
        guard !hosts.isEmpty else { throw .noHosts }
        var patterns: [HostPattern] = []
        for host in hosts { patterns.append(try HostPattern(host)) }
        do throws(Ed25519.Unavailable) {
            try Ed25519.check()
        } catch {
            throw .signaturesUnavailable(error.description)
        }
        self.service = service
        self.keys = keys
        self.hosts = patterns
        self.insecureHTTP = insecureHTTP
        self.grace = grace
        self.builtInVersion = builtInVersion
    }

    /// Checks a list whose signature is valid.
    ///
    /// The clock of the device is not read, because it may be wrong.
    ///
    /// - Parameters:
    ///   - list: The list.
    ///   - newest: The newest list that was accepted before, or `nil` if there is none.
    ///   - date: The time according to the server over TLS, or `nil` if it is unknown.
    /// - Throws: ``ServerListRefusal`` for the first rule that the list breaks.
    package func check(
        _ list: ServerListDocument,
        newest: ServerListDocument?,
        date: Date?
    ) throws(ServerListRefusal) {
        guard list.service == service.name else { throw .foreignService(list.service, expected: service.name) }
        try checkVersion(of: list, newest)
        try checkTime(of: list, newest, date)
        try checkService(of: list)
        for server in list.servers { try checkURLs(of: server) }
    }

    private func checkVersion(
        of list: ServerListDocument,
        _ newest: ServerListDocument?
    ) throws(ServerListRefusal) {
        let floor = max(newest?.version ?? 0, builtInVersion)
        guard list.version >= floor else { throw .outdated(version: list.version, newest: floor) }
        if let newest, list.version == newest.version, list.payload != newest.payload {
            throw .reusedVersion(list.version)
        }
    }

    private func checkTime(
        of list: ServerListDocument,
        _ newest: ServerListDocument?,
        _ date: Date?
    ) throws(ServerListRefusal) {
        guard let now = Self.now(newest, date) else { return }
        let grace = TimeInterval(grace / .seconds(1))
        guard now <= list.expires.addingTimeInterval(grace) else { throw .expired(list.expires, now: now) }
        if let date, list.issued > date.addingTimeInterval(Self.clockDifference) {
            throw .issuedInFuture(list.issued, now: date)
        }
    }

    /// Returns a time that has certainly been reached: the later of the server's date over TLS and the time at which
    /// the newest accepted list was issued.
    package static func now(_ newest: ServerListDocument?, _ date: Date?) -> Date? {
        [newest?.issued, date].compactMap(\.self).max()
    }

    private func checkService(of list: ServerListDocument) throws(ServerListRefusal) {
        let environments = Set(list.servers.flatMap(\.baseURLs.keys))
        for environment in service.environments where !environments.contains(environment) {
            throw .missingEnvironment(environment)
        }
        do throws(CatalogError) {
            _ = try Service(
                name: service.name,
                servers: list.servers,
                defaultEnvironment: service.defaultEnvironment,
                switching: service.switching
            )
        } catch {
            throw .invalidServers(error)
        }
    }

    private func checkURLs(of server: Server) throws(ServerListRefusal) {
        for url in Array(server.baseURLs.values) + Array(server.cdnURLs.values) {
            guard let origin = RequestURL(url.text)?.origin, insecureHTTP.permits(origin) else {
                throw .insecureURL(server: server.id, url: url.text)
            }
            guard hosts.contains(where: { $0.matches(url.host) }) else {
                throw .foreignHost(server: server.id, host: url.host)
            }
        }
    }
}
