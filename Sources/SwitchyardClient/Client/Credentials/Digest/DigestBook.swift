import Foundation
import SwitchyardHTTP
import SwitchyardServices

/// A nonce of a server, and how often it has been used by all who have it.
struct DigestNonce: Sendable {
    let answer: DigestAnswer
    /// The nonce that the session began with, of which its key is made with ``clientNonce`` (RFC 7616 section 3.4.2).
    let sessionNonce: String
    /// The random text of a session, whose key is made of it once for all of its requests.
    let clientNonce: String
    let uses: Locked<UInt32>

    /// Begins a session with a challenge; its nonce goes on being counted where it is known.
    init(_ answer: DigestAnswer, uses: Locked<UInt32> = Locked(0)) {
        self.answer = answer
        self.uses = uses
        sessionNonce = answer.nonce
        clientNonce = Self.randomText()
    }

    /// Goes on with a session (section 3.5).
    init(_ next: String, after old: DigestNonce) {
        answer = old.answer.following(next)
        uses = Locked(0)
        sessionNonce = old.sessionNonce
        clientNonce = old.clientNonce
    }

    /// Puts the answer into a request.
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

/// The challenges that servers have given, so that later requests answer them without being refused first.
final class DigestBook: Sendable {
    private struct Key: Hashable {
        var origin: RequestURL.Origin
        var user: String
    }

    /// How many nonces of a server are remembered, lest one that comes again be counted from the beginning.
    private static let nonceLimit = 16

    /// The nonces of each server, the one that the next request takes last.
    private let nonces = Locked<[Key: [DigestNonce]]>([:])

    /// Keeps a challenge of a server; a nonce that is there already goes on counting.
    func keep(_ answer: DigestAnswer, from origin: RequestURL.Origin, for user: String) -> DigestNonce {
        change(origin, user) { list in
            let old = list.last { $0.answer.nonce == answer.nonce }
            if let old, old.answer == answer, old.sessionNonce == answer.nonce { return old }
            return DigestNonce(answer, uses: old?.uses ?? Locked(0))
        } ?? DigestNonce(answer)
    }

    /// Keeps the nonce that a server wants next.
    ///
    /// - Parameters:
    ///   - next: The nonce.
    ///   - old: The one with which the request went that this came with; the last one unless given.
    ///   - origin: The server.
    ///   - user: The name.
    /// - Returns: The nonce; `nil` when the server has given no challenge.
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

    /// The nonce that the next request to a server takes; `nil` when it has given no challenge.
    func last(from origin: RequestURL.Origin, for user: String) -> DigestNonce? {
        nonces.withLock { $0[Key(origin: origin, user: user)]?.last }
    }

    /// Puts a nonce behind all others of its server, in place of the same one.
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
