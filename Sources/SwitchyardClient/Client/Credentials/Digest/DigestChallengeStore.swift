import Foundation
import SwitchyardHTTP
import SwitchyardServices

/// A nonce of a server, with the number of times that all requests together have used it.
struct DigestNonce: Sendable {
    let answer: DigestResponse
    /// The nonce with which the session started.
    ///
    /// The session key is computed from this nonce and ``clientNonce`` (RFC 7616 section 3.4.2).
    let sessionNonce: String
    /// The client's random text for the session.
    ///
    /// The session key, which is computed from this text, stays the same for all requests of the session.
    let clientNonce: String
    let uses: Locked<UInt32>

    /// Starts a session with a challenge.
    ///
    /// If the challenge's nonce is already known, `uses` is the existing counter of its uses.
    init(_ answer: DigestResponse, uses: Locked<UInt32> = Locked(0)) {
        self.answer = answer
        self.uses = uses
        sessionNonce = answer.nonce
        clientNonce = Self.randomText()
    }

    /// Continues a session with the next nonce that the server has named (RFC 7616 section 3.5).
    init(_ next: String, after old: DigestNonce) {
        answer = old.answer.following(next)
        uses = Locked(0)
        sessionNonce = old.sessionNonce
        clientNonce = old.clientNonce
    }

    /// Sets the `Authorization` field of a request.
    func authorize(_ request: inout HTTPRequest, user: String, password: String) throws(RequestError) {
        let count = uses.withLock { uses in
            uses += 1
            return uses
        }
        let field = try answer.field(
            user: user,
            password: password,
            request: request,
            count: count,
            clientNonce: answer.algorithm.isSession ? clientNonce : Self.randomText(),
            sessionNonce: sessionNonce
        )
        request.headers.set("Authorization", field)
    }

    private static func randomText() -> String {
        Data((0..<16).map { _ in UInt8.random(in: .min ... .max) }).hexText
    }
}

/// The challenges that servers have sent.
///
/// Because of them, later requests carry an `Authorization` field immediately, without a 401 first.
final class DigestChallengeStore: Sendable {
    private struct Key: Hashable {
        var origin: RequestURL.Origin
        var user: String
    }

    /// The maximum number of stored nonces per server and user.
    ///
    /// While a nonce is stored, a challenge that repeats it continues its count of uses.
    private static let nonceLimit = 16

    /// The nonces of each server and user.
    ///
    /// The next request uses the last nonce in the array.
    private let nonces = Locked<[Key: [DigestNonce]]>([:])

    /// Stores a challenge of a server.
    ///
    /// If the challenge repeats a stored nonce, the count of the nonce's uses continues.
    func keep(_ answer: DigestResponse, from origin: RequestURL.Origin, for user: String) -> DigestNonce {
        change(origin, user) { list in
            let old = list.last { $0.answer.nonce == answer.nonce }
            if let old, old.answer == answer, old.sessionNonce == answer.nonce { return old }
            return DigestNonce(answer, uses: old?.uses ?? Locked(0))
        } ?? DigestNonce(answer)
    }

    /// Stores the nonce that a server has named for the next request.
    ///
    /// - Parameters:
    ///   - next: The nonce for the next request.
    ///   - old: The nonce that the previous request carried. If `nil`, the last stored nonce applies.
    ///   - origin: The origin of the server.
    ///   - user: The user name.
    /// - Returns: The new nonce, or `nil` if the server has sent no challenge.
    func keep(
        _ next: String,
        after old: DigestNonce?,
        from origin: RequestURL.Origin,
        for user: String
    ) -> DigestNonce? {
        change(origin, user) { list in
            if let known = list.last(where: { $0.answer.nonce == next }) { return known }
            return (old ?? list.last).map { DigestNonce(next, after: $0) }
        }
    }

    /// Returns the nonce that the next request to a server uses, or `nil` if the server has sent no challenge.
    func last(from origin: RequestURL.Origin, for user: String) -> DigestNonce? {
        nonces.withLock { $0[Key(origin: origin, user: user)]?.last }
    }

    /// Moves a nonce to the end of its server's list, and replaces an equal nonce.
    private func change(
        _ origin: RequestURL.Origin,
        _ user: String,
        _ pick: ([DigestNonce]) -> DigestNonce?
    ) -> DigestNonce? {
        nonces.withLock { nonces in
            var list = nonces[Key(origin: origin, user: user)] ?? []
            guard let nonce = pick(list) else { return nil }
            list.removeAll { $0.answer.nonce == nonce.answer.nonce }
            list.append(nonce)
            nonces[Key(origin: origin, user: user)] = list.suffix(Self.nonceLimit)
            return nonce
        }
    }
}
