#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The hosts that are reached without a proxy, in the format of `no_proxy`.
///
/// Entries are separated by commas or spaces. An entry has one of these forms:
///
/// - a name, with or without a leading dot, which also matches its subdomains
/// - an IP address
/// - a network in CIDR notation, such as `10.0.0.0/8`
/// - `*` for every host
struct ProxyExceptions: Sendable {
    private enum Entry: Sendable {
        case everything
        case name(String)
        case network([UInt8], bits: Int)
    }

    private let entries: [Entry]

    init(_ lists: [String]) {
        entries = lists.flatMap { $0.split { $0 == "," || $0.isWhitespace } }.compactMap { Self.entry(String($0)) }
    }

    /// Returns whether a host is reached without the proxy.
    ///
    /// An IPv6 address may be in brackets.
    func contains(_ host: String) -> Bool {
        guard !entries.isEmpty else { return false }
        let host = Self.bare(host)
        let address = Self.address(host)
        return entries.contains { entry in
            switch entry {
            case .everything: true
            case .name(let name): address == nil && (host == name || host.hasSuffix("." + name))
            case .network(let network, let bits): address.map { Self.shares(bits, of: network, $0) } ?? false
            }
        }
    }

    private static func entry(_ text: String) -> Entry? {
        guard text != "*" else { return .everything }
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        if let address = address(bare(String(parts[0]))) {
            guard parts.count == 2 else { return .network(address, bits: address.count * 8) }
            guard let bits = Int(parts[1]), (0...address.count * 8).contains(bits) else { return nil }
            return .network(address, bits: bits)
        }
        let name = bare(String((text.hasPrefix("*.") ? text.dropFirst() : text[...]).drop { $0 == "." }))
        return name.isEmpty || parts.count == 2 ? nil : .name(name)
    }

    /// Returns a host in lower case, without brackets, zone and trailing dot.
    private static func bare(_ host: String) -> String {
        var host = host.lowercased()
        if host.hasPrefix("["), let end = host.firstIndex(of: "]") {
            host = String(host[host.index(after: host.startIndex)..<end])
        }
        if host.contains(":"), let zone = host.firstIndex(of: "%") { host = String(host[..<zone]) }
        return host.hasSuffix(".") ? String(host.dropLast()) : host
    }

    /// Returns the bytes of an IP address.
    ///
    /// An IPv4-mapped IPv6 address is converted to IPv4.
    private static func address(_ text: String) -> [UInt8]? {
        var short = in_addr()
        if inet_pton(AF_INET, text, &short) == 1 { return withUnsafeBytes(of: &short) { Array($0) } }
        var long = in6_addr()
        guard inet_pton(AF_INET6, text, &long) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: &long) { Array($0) }
        let mapped = [UInt8](repeating: 0, count: 10) + [0xff, 0xff]
        return bytes.starts(with: mapped) ? Array(bytes.suffix(4)) : bytes
    }

    private static func shares(_ bits: Int, of network: [UInt8], _ address: [UInt8]) -> Bool {
        guard network.count == address.count, network.prefix(bits / 8) == address.prefix(bits / 8) else { return false }
        let rest = bits % 8
        return rest == 0 || (network[bits / 8] ^ address[bits / 8]) >> UInt8(8 - rest) == 0
    }
}
