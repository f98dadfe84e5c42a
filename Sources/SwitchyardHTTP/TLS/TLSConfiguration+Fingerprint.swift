import Foundation

extension TLSConfiguration {
    /// What tells this configuration from every other, the same in every run; its secrets cannot be read from it.
    package var fingerprint: String {
        let parts =
            [trustRoots.text, revocation.text, "\(minimumVersion)", maximumVersion.map { "\($0)" } ?? "newest"]
            + (clientIdentity?.texts ?? ["nobody"])
            + pins.map { "\($0.subject) \($0.base64)" }.sorted()
        return MessageDigest.sha256(parts.map(\.framed).joined().utf8).hexText
    }
}

extension TLSConfiguration.TrustRoots {
    fileprivate var text: String {
        switch self {
        case .system: "system"
        case .file(let url): "file \(url.absoluteString)"
        case .pem(let data): "pem \(data.base64EncodedString())"
        }
    }
}

extension TLSConfiguration.Revocation {
    fileprivate var text: String {
        switch self {
        case .system: "system"
        case .list(let url): "list \(url.absoluteString)"
        case .stapled: "stapled"
        }
    }
}

extension TLSConfiguration.ClientIdentity {
    fileprivate var texts: [String] {
        [certificate.text, privateKey.text, password.map { "password \($0)" } ?? "no password"]
    }
}

extension TLSConfiguration.ClientIdentity.Source {
    fileprivate var text: String {
        switch self {
        case .file(let url): "file \(url.absoluteString)"
        case .pem(let data): "pem \(data.base64EncodedString())"
        }
    }
}

extension TLSConfiguration.ClientIdentity: Discreet {
    /// Where the certificate comes from, without key and password.
    public var description: String {
        switch certificate {
        case .file(let url): "identity of \(url.lastPathComponent)"
        case .pem(let data): "identity of \(data.count) bytes of PEM"
        }
    }
}
