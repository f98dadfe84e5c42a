import Foundation
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting

@testable import SwitchyardClient

/// A service that knows one user and uses Digest authentication (RFC 7616).
///
/// It accepts every nonce a limited number of times and every nonce count once.
final class DigestGuard: Sendable {
    private struct State {
        /// The counts that each nonce has been used with.
        var uses: [String: Set<String>] = [:]
        var refusals = 0
        /// The nonce and the client nonce that the session key is computed from.
        var session: (nonce: String, clientNonce: String)?
    }

    private let state = Locked(State())
    private let name: String
    private let algorithm: DigestResponse.Algorithm
    private let usesOfNonce: Int
    private let namesNext: Bool

    /// Creates a guard.
    ///
    /// - Parameters:
    ///   - name: The prefix of its nonces.
    ///   - algorithm: The hash algorithm.
    ///   - usesOfNonce: How often a nonce is accepted before it is stale.
    ///   - namesNext: Whether responses name the nonce of the next request.
    init(
        _ name: String = "n",
        _ algorithm: DigestResponse.Algorithm = .md5,
        usesOfNonce: Int = 1,
        namesNext: Bool = false
    ) {
        self.name = name
        self.algorithm = algorithm
        self.usesOfNonce = usesOfNonce
        self.namesNext = namesNext
    }

    /// The number of requests that were rejected.
    var refusals: Int { state.withLock { $0.refusals } }

    func answer(_ request: LoopbackRequest) -> LoopbackResponse {
        let field = request.headers["Authorization"].map { HTTPHeaders(dictionaryLiteral: ("WWW-Authenticate", $0)) }
        let answer = field.flatMap { AuthenticationChallenge.all(in: $0).first?.parameters }
        return state.withLock { state in
            guard let answer, let nonce = answer["nonce"] else { return refusal(isStale: false, &state) }
            guard let uses = state.uses[nonce], uses.count < usesOfNonce,
                state.uses[nonce]?.insert(answer["nc"] ?? "").inserted ?? false
            else { return refusal(isStale: true, &state) }
            let session = state.session ?? (nonce, answer["cnonce"] ?? "")
            state.session = session
            guard answer["response"] == response(to: request, answer, session) else {
                return refusal(isStale: false, &state)
            }
            guard namesNext else { return .status(200) }
            return .status(200, headers: ["Authentication-Info": "qop=auth, nextnonce=\"\(newNonce(&state))\""])
        }
    }

    private func response(
        to request: LoopbackRequest,
        _ answer: [String: String],
        _ session: (nonce: String, clientNonce: String)
    ) -> String {
        var secret = algorithm.hash("u:r:p")
        if algorithm.isSession { secret = algorithm.hash("\(secret):\(session.nonce):\(session.clientNonce)") }
        let use = ["nonce", "nc", "cnonce", "qop"].map { answer[$0] ?? "" }.joined(separator: ":")
        return algorithm.hash("\(secret):\(use):\(algorithm.hash("\(request.method):\(request.target)"))")
    }

    private func refusal(isStale: Bool, _ state: inout State) -> LoopbackResponse {
        state.refusals += 1
        state.session = nil
        let open = state.uses.first { $0.value.count < usesOfNonce && usesOfNonce > 1 }?.key
        let nonce = open ?? newNonce(&state)
        let challenge = "Digest realm=r, qop=auth, algorithm=\(algorithm.rawValue), nonce=\(nonce), stale=\(isStale)"
        return .status(401, headers: ["WWW-Authenticate": challenge])
    }

    private func newNonce(_ state: inout State) -> String {
        let nonce = "\(name)\(state.uses.count)"
        state.uses[nonce] = []
        return nonce
    }
}
