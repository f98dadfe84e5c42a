/// A mistake in the settings of a ``ServerList``, or a system that cannot verify signatures.
///
/// The client is unchanged.
public enum ServerListError: Error, Sendable, Hashable {
    /// There are no URLs, or more than ``ServerList/maximumURLs``. The value is their number.
    case invalidURLCount(Int)
    /// A URL of the list is invalid, or it is plain http to a host for which the client requires https.
    case invalidURL(String)
    /// There are no keys.
    case noKeys
    /// Two keys have this name.
    case duplicateKey(String)
    /// The key with this name is invalid.
    case invalidKey(String, reason: String)
    /// There are no host patterns.
    case noHosts
    /// A host pattern is neither a host nor `*.` followed by a domain of at least two labels.
    case invalidHost(String)
    /// A duration of the options is out of range. The values are its name and a description of the allowed range.
    case invalidOption(String, allowed: String)
    /// The system has no implementation of Ed25519. The value is the reason.
    case signaturesUnavailable(String)
}

extension ServerListError: CustomStringConvertible {
    /// The mistake, the value, and what is allowed.
    public var description: String {
        switch self {
        case .invalidURLCount(let count):
            "The server list has \(count) URLs: must have 1 to \(ServerList.maximumURLs)."
        case .invalidURL(let url):
            "The URL \(url) of the server list is invalid: must be an absolute https URL, or an http URL with a host to "
                + "which the client may send unencrypted requests."
        case .noKeys: "The server list has no public keys: must have at least one."
        case .duplicateKey(let name): "The key \(name) of the server list occurs twice: must occur once."
        case .invalidKey(let name, let reason): "The key \"\(name)\" of the server list is invalid: \(reason)."
        case .noHosts: "The server list has no host patterns: must have at least one."
        case .invalidHost(let host):
            "The host pattern \"\(host)\" is invalid: must be a host, or *. and a domain, such as *.example.com."
        case .invalidOption(let name, let allowed): "The option \(name) is invalid: must be \(allowed)."
        case .signaturesUnavailable(let reason): "This system cannot verify signatures of server lists: \(reason)"
        }
    }
}
