import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting

/// A service that lets in who shows the token that is good now, and says 401 to all callers else.
final class TokenGate: Sendable {
    private struct State {
        var good: String
        var refreshes = 0
        var refusals = 0
        var shown: [String?] = []
    }

    private let state: Locked<State>
    /// Whether a refresh makes its token the good one.
    let accepts: Bool

    init(good: String = "a1", accepts: Bool = true) {
        state = Locked(State(good: good))
        self.accepts = accepts
    }

    var refreshes: Int { state.withLock { $0.refreshes } }
    var refusals: Int { state.withLock { $0.refusals } }
    /// The tokens that requests showed, in order.
    var shown: [String?] { state.withLock { $0.shown } }

    /// Lets in with another token from now on.
    func change(to good: String) {
        state.withLock { $0.good = good }
    }

    func answer(_ request: HTTPRequest) -> StubResponse {
        if admits(request.headers["Authorization"]) { return .status(200) }
        return .status(401, headers: ["WWW-Authenticate": "Bearer realm=\"api\""])
    }

    /// Whether a request with that field is let in; takes note of what it showed.
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
