import Switchyard

extension SwitchPolicy {
    /// The names that `--policy` accepts.
    static let names = ["recommended", "single", "published", "errorRatio", "consecutiveFailures", "off"]

    /// Returns the policy with this name and its default parameters.
    static func named(_ name: String) -> SwitchPolicy? {
        switch name {
        case "recommended": .recommended
        case "single": .smallFleet
        case "published": .stickyErrorRatio
        case "errorRatio": .errorRatio()
        case "consecutiveFailures": .consecutiveFailures(5)
        case "off": .off
        default: nil
        }
    }
}

extension Arguments {
    /// Returns the policy that `--policy` names, or `nil` if the option was not given.
    func policy() throws(UsageError) -> SwitchPolicy? {
        guard let text = text("policy") else { return nil }
        guard let policy = SwitchPolicy.named(text) else {
            throw UsageError.unknown(text, for: "policy", known: SwitchPolicy.names)
        }
        return policy
    }
}

extension UsageError {
    /// Returns the error for an option with an unknown value.
    static func unknown(_ text: String, for name: String, known: [String]) -> UsageError {
        UsageError("--\(name) requires one of " + known.joined(separator: ", ") + ", found \"\(text)\"")
    }
}

/// The transports that `--transport` accepts.
enum TransportChoice {
    static func make(_ name: String?) throws(UsageError) -> any Transport {
        do throws(TransportError) {
            switch name {
            case nil: return try Transports.systemDefault()
            case "urlsession": return try URLSessionTransport()
            #if os(Linux)
                case "curl": return try CurlTransport()
            #endif
            default: throw TransportError(.unsupported, message: "expected curl or urlsession, found \"\(name ?? "")\"")
            }
        } catch {
            throw UsageError("--transport: \(error.message)")
        }
    }
}
