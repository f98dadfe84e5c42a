import SwitchyardServices

/// A host, or `*.` and a domain, which matches every host below the domain but not the domain itself.
struct HostPattern: Sendable, Hashable {
    private let host: String
    private let isOpen: Bool

    init(_ text: String) throws(ServerListError) {
        isOpen = text.hasPrefix("*.")
        let name = isOpen ? String(text.dropFirst(2)) : text
        let bytes = Array(name.utf8)[...]
        let ascii = HostName.ascii(bytes).map { String(decoding: $0, as: UTF8.self) } ?? name
        host = ascii.lowercased()
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        let isAddress = !isOpen && IPv6Address.bytes(of: Array(host.utf8)[...]) != nil
        let isName =
            labels.allSatisfy { !$0.isEmpty } && host.utf8.allSatisfy { HostName.isNameByte($0) && $0 != 0x2A }
        // `*.com` would trust every host of a top-level domain.
        guard isAddress || isName && (!isOpen || labels.count > 1) else { throw .invalidHost(text) }
    }

    /// Whether a host in lowercase ASCII matches.
    func matches(_ other: String) -> Bool {
        isOpen ? other.hasSuffix(".\(host)") : other == host
    }
}
