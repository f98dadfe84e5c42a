import Foundation
package import SwitchyardHTTP
import SwitchyardServices

/// The rule that determines to which hosts requests may be sent unencrypted.
///
/// Everyone on the network path can read and change plain http. By default, requests over http are therefore refused
/// unless the host is local. App Transport Security has the same rule if local networking is allowed. Here the rule
/// applies on every system.
public struct InsecureHTTPRule: Sendable, Hashable {
    private enum Kind: Hashable {
        case refused
        case local(Set<String>)
        case allowed
    }

    private let kind: Kind

    /// No host may be reached unencrypted, not even this machine.
    public static let refused = InsecureHTTPRule(kind: .refused)
    /// Only this machine and the local network may be reached unencrypted, which is the default.
    ///
    /// The local network is: loopback, link-local and private addresses (RFC 1918, RFC 3927, RFC 4193, RFC 4291), names
    /// without a dot, `.local` (RFC 6762), and the domains that cannot be registered: `.localhost`, `.test`, `.example`
    /// and `.invalid` (RFC 6761).
    public static let local = InsecureHTTPRule(kind: .local([]))
    /// All hosts may be reached unencrypted.
    public static let allowed = InsecureHTTPRule(kind: .allowed)

    /// Returns a rule that allows these hosts in addition to the hosts that ``local`` allows.
    ///
    /// A name with non-ASCII characters is converted to its ASCII form (RFC 5891).
    public static func hosts(_ names: Set<String>) -> InsecureHTTPRule {
        let hosts = names.map { name in
            let ascii = HostName.ascii(Array(name.utf8)[...]).map { String(decoding: $0, as: UTF8.self) }
            return (ascii ?? name).lowercased()
        }
        return InsecureHTTPRule(kind: .local(Set(hosts)))
    }

    /// Returns whether the rule allows unencrypted requests to an origin.
    package func permits(_ origin: RequestURL.Origin) -> Bool {
        guard origin.scheme == "http" else { return true }
        switch kind {
        case .refused: return false
        case .allowed: return true
        case .local(let names): return names.contains(origin.host) || LocalHost.contains(origin.host)
        }
    }

    /// Checks that the rule allows requests to a URL.
    ///
    /// - Throws: ``RequestError/URLReason/insecure``.
    func check(_ url: RequestURL) throws(RequestError) {
        guard kind != .allowed, !url.isSecure else { return }
        guard permits(url.origin) else { throw .url(text: url.text, reason: .insecure) }
    }
}

/// The check whether a host is this machine, on the local network, or in a domain that is reserved for tests.
private enum LocalHost {
    private static let domains: Set<Substring> = ["local", "localhost", "test", "example", "invalid"]

    static func contains(_ host: String) -> Bool {
        if host.hasPrefix("[") { return containsIPv6(Array(host.utf8)[...]) }
        let labels = host.split(separator: ".")
        let numbers = labels.compactMap { UInt8($0) }
        if labels.count == 4, numbers.count == 4 { return containsIPv4(numbers) }
        return labels.count < 2 || labels.last.map(domains.contains) ?? false
    }

    private static func containsIPv4(_ bytes: [UInt8]) -> Bool {
        switch (bytes[0], bytes[1]) {
        case (127, _), (10, _), (192, 168), (169, 254): true
        case (172, 16...31): true
        default: false
        }
    }

    private static func containsIPv6(_ bracketed: ArraySlice<UInt8>) -> Bool {
        guard let bytes = IPv6Address.bytes(of: IPv6Address.parts(of: bracketed).address) else { return false }
        let isLoopback = bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        let isLinkLocal = bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
        return isLoopback || isLinkLocal || bytes[0] & 0xFE == 0xFC
            || (isMapped && containsIPv4(Array(bytes[12...])))
    }
}
