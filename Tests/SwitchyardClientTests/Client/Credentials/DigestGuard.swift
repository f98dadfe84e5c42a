import Foundation
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting

@testable import SwitchyardClient

/// A service that knows one user by digests (RFC 7616), takes every nonce as often as it says, and each count once.
final class DigestGuard: Sendable {
    private struct State {
        /// The counts that each nonce has been used with.
        var uses: [String: Set<String>] = [:]
        var refusals = 0
        /// What the key of the session is made of: a nonce, and the random text of the client.
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
    ///   - name: What its nonces begin with.
    ///   - algorithm: How it hashes.
    ///   - usesOfNonce: How often a nonce is taken; after that it is stale.
    ///   - namesNext: Whether answers name the nonce of the next request.
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

    /// How many requests were refused.
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
