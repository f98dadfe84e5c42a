import SwitchyardHTTP
import SwitchyardTesting

/// Decides who is let in: only whoever knows the token, and asks for this machine by one of its two names.
///
/// Any web page can send requests to 127.0.0.1, and one whose name is made to lead there can read the answers; but then
/// the request names another host.
struct PageGuard: Sendable {
    private let token: String
    private let hosts: [String]

    init(token: String, port: UInt16) {
        self.token = token
        hosts = ["127.0.0.1:\(port)", "localhost:\(port)"]
    }

    /// A token that nobody guesses: 128 bits of the system's random numbers.
    static func makeToken() -> String {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// What a request asks for, behind the token; `nil` with the status of the refusal when it is not let in.
    func place(of request: LoopbackRequest) -> (place: String?, status: Int) {
        let named = request.headers.values(of: "Host")
        guard named.count == 1, hosts.contains(named[0]), request.target.hasPrefix("/") else { return (nil, 403) }
        let parts = request.path.dropFirst().split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, Self.isSame(parts[0], token) else { return (nil, 404) }
        return (String(parts[1]), 200)
    }

    /// Whether a command comes from the page: from its own origin, with a field that a form elsewhere cannot send.
    func isOwn(_ request: LoopbackRequest) -> Bool {
        guard request.headers.values(of: "X-Inspector") == ["1"] else { return false }
        return request.headers.values(of: "Origin").allSatisfy { origin in
            request.headers["Host"].map { origin == "http://\($0)" } ?? false
        }
    }

    /// Compares in a time that does not tell how much is right.
    private static func isSame(_ text: some StringProtocol, _ token: String) -> Bool {
        let (given, wanted) = (Array(text.utf8), Array(token.utf8))
        guard given.count == wanted.count else { return false }
        return zip(given, wanted).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
