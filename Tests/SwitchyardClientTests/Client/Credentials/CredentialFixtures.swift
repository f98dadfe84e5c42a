import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting

/// A service that accepts one token and responds with 401 to all other requests.
final class TokenGate: Sendable {
    private struct State {
        var good: String
        var refreshes = 0
        var refusals = 0
        var shown: [String?] = []
    }

    private let state: Locked<State>
    /// Whether a refresh returns a token that the service accepts.
    let accepts: Bool

    init(good: String = "a1", accepts: Bool = true) {
        state = Locked(State(good: good))
        self.accepts = accepts
    }

    var refreshes: Int { state.withLock { $0.refreshes } }
    var refusals: Int { state.withLock { $0.refusals } }
    /// The tokens of the received requests, in order.
    var shown: [String?] { state.withLock { $0.shown } }

    /// Accepts another token from now on.
    func change(to good: String) {
        state.withLock { $0.good = good }
    }

    func answer(_ request: HTTPRequest) -> StubResponse {
        if admits(request.headers["Authorization"]) { return .status(200) }
        return .status(401, headers: ["WWW-Authenticate": "Bearer realm=\"api\""])
    }

    /// Whether a request with that field is accepted.
    ///
    /// Records the token.
    func admits(_ authorization: String?) -> Bool {
        let token = authorization.map { String($0.dropFirst("Bearer ".count)) }
        return state.withLock { state in
            state.shown.append(token)
            if token == state.good { return true }
            state.refusals += 1
            return false
        }
    }

    /// The next token: `a1`, `a2` and so on.
    func refresh() -> Credential {
        state.withLock { state in
            state.refreshes += 1
            let token = "a\(state.refreshes)"
            if accepts { state.good = token }
            return .bearer(token)
        }
    }
}
