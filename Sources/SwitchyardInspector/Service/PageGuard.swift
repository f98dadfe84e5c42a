import SwitchyardHTTP
import SwitchyardTesting

/// Admits only requests that contain the token and name this machine by one of its two host names.
///
/// Any web page can send requests to 127.0.0.1. A page whose host name resolves to 127.0.0.1 could also read the
/// responses, but then its requests name another host.
struct PageGuard: Sendable {
    private let token: String
    private let hosts: [String]

    init(token: String, port: UInt16) {
        self.token = token
        hosts = ["127.0.0.1:\(port)", "localhost:\(port)"]
    }

    /// Returns an unguessable token: 128 bits of the system's random numbers.
    static func makeToken() -> String {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Returns the requested path after the token, or `nil` and the status of the refusal if the request is not
    /// admitted.
    func place(of request: LoopbackRequest) -> (place: String?, status: Int) {
        let named = request.headers.values(of: "Host")
        guard named.count == 1, hosts.contains(named[0]), request.target.hasPrefix("/") else { return (nil, 403) }
        let parts = request.path.dropFirst().split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, Self.isSame(parts[0], token) else { return (nil, 404) }
        return (String(parts[1]), 200)
    }

    /// Whether a command comes from the page itself.
    ///
    /// Its origin, if present, must be the page's own, and it must have a header field that a form of another site
    /// cannot send.
    func isOwn(_ request: LoopbackRequest) -> Bool {
        guard request.headers.values(of: "X-Inspector") == ["1"] else { return false }
        return request.headers.values(of: "Origin").allSatisfy { origin in
            request.headers["Host"].map { origin == "http://\($0)" } ?? false
        }
    }

    /// Compares a text with the token in constant time, so the duration does not reveal how many characters match.
    private static func isSame(_ text: some StringProtocol, _ token: String) -> Bool {
        let (given, wanted) = (Array(text.utf8), Array(token.utf8))
        guard given.count == wanted.count else { return false }
        return zip(given, wanted).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
