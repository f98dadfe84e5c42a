import SwitchyardHTTP
import SwitchyardTesting

/// A guard that admits only requests that contain the inspector's secret token and name this machine as their host:
/// `127.0.0.1` or `localhost`.
///
/// The host is checked because any web page can send requests to 127.0.0.1. If the host name of a page resolves to
/// 127.0.0.1, that page could also read the responses, but its requests name that host.
struct PageGuard: Sendable {
    private let token: String
    private let hosts: [String]

    init(token: String, port: UInt16) {
        self.token = token
        hosts = ["127.0.0.1:\(port)", "localhost:\(port)"]
    }

    /// Returns a secret token that cannot be guessed: 128 bits of the system's random numbers.
    static func makeToken() -> String {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Returns the part of the requested path after the secret token.
    ///
    /// If the request is not admitted, returns `nil` and the status of the error response.
    func place(of request: LoopbackRequest) -> (place: String?, status: Int) {
        let named = request.headers.values(of: "Host")
        guard named.count == 1, hosts.contains(named[0]), request.target.hasPrefix("/") else { return (nil, 403) }
        let parts = request.path.dropFirst().split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, Self.isSame(parts[0], token) else { return (nil, 404) }
        return (String(parts[1]), 200)
    }

    /// Returns whether a command comes from the page itself.
    ///
    /// The `Origin` field, if present, must be the page's own origin. The request must also have a header field that a
    /// form on another site cannot send.
    func isOwn(_ request: LoopbackRequest) -> Bool {
        guard request.headers.values(of: "X-Inspector") == ["1"] else { return false }
        return request.headers.values(of: "Origin").allSatisfy { origin in
            request.headers["Host"].map { origin == "http://\($0)" } ?? false
        }
    }

    /// Compares a text with the secret token in constant time, so that the duration does not reveal how many characters
    /// match.
    private static func isSame(_ text: some StringProtocol, _ token: String) -> Bool {
        let (given, wanted) = (Array(text.utf8), Array(token.utf8))
        guard given.count == wanted.count else { return false }
        return zip(given, wanted).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
