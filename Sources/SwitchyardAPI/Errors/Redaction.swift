import Foundation
import SwitchyardClient

/// Takes credentials out of what is going to be logged.
struct Redaction: Sendable {
    /// Names of header fields whose values are never shown, in lower case.
    var headerNames: Set<String>
    /// Names of parameters whose values are never shown, in lower case.
    var parameterNames: Set<String>

    /// What stands where a credential stood.
    static let mark = "<redacted>"

    static let standard = Redaction(
        headerNames: [
            "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "x-auth-token",
            "x-csrf-token", "www-authenticate", "authentication-info",
        ],
        parameterNames: [
            "access_token", "refresh_token", "id_token", "token", "auth", "authorization", "api_key", "apikey", "key",
            "secret", "client_secret", "password", "passwd", "pwd", "signature", "sign", "sig", "session", "sessionid",
            "code", "code_verifier", "otp", "pin",
        ]
    )

    /// The fields as `name: value`, without credentials.
    func headers(_ headers: HTTPHeaders) -> String {
        let fields = headers.map { field in
            let value = headerNames.contains(field.name.lowercased()) ? Self.mark : text(field.value)
            return "\(field.name): \(value)"
        }
        return "[" + fields.joined(separator: "; ") + "]"
    }

    /// Text in which URLs lose user and password, secret parameters lose their values, and line ends are shown as
    /// spaces, so that one entry of a log stays one line.
    func text(_ text: String) -> String {
        var result = text.replacing(/[\r\n]+/, with: " ")
        result = result.replacing(/:\/\/[^\/\s@]+@/, with: "://\(Self.mark)@")
        result = result.replacing(/(?i)\b(bearer|basic|digest)\s+[A-Za-z0-9+\/=._~\-]{6,}/) { match in
            "\(match.1) \(Self.mark)"
        }
        return result.replacing(/([?&;\s"'])([A-Za-z0-9_.\-]+)=([^&\s"',;]+)/) { match in
            parameterNames.contains(match.2.lowercased())
                ? "\(match.1)\(match.2)=\(Self.mark)" : String(match.0)
        }
    }
}
