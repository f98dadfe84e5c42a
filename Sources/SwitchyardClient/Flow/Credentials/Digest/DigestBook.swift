import Foundation
import SwitchyardServices

/// The challenges that servers have given, so that later requests answer them without being refused first.
final class DigestBook: Sendable {
    private struct Entry {
        var answer: DigestAnswer
        var uses: UInt32 = 0
        /// The random text of a session, whose key is made of it once for all of its requests (RFC 7616 section 3.4.2).
        let clientNonce = DigestBook.randomText()
    }

    private struct Key: Hashable {
        var origin: RequestURL.Origin
        var user: String
    }

    private let entries = Locked<[Key: Entry]>([:])

    /// Keeps a challenge of a server; one that is there already goes on counting.
    func keep(_ answer: DigestAnswer, from origin: RequestURL.Origin, for user: String) {
        entries.withLock { entries in
            let key = Key(origin: origin, user: user)
            if entries[key]?.answer.nonce != answer.nonce { entries[key] = Entry(answer: answer) }
        }
    }

    /// Puts the answer into a request, if its server has given a challenge.
    func authorize(_ request: inout HTTPRequest, user: String, password: String) throws(RequestError) {
        let key = Key(origin: request.url.origin, user: user)
        let entry: Entry? = entries.withLock { entries in
            entries[key]?.uses += 1
            return entries[key]
        }
        guard let entry else { return }
        let field = try entry.answer.field(
            user: user,
            password: password,
            request: request,
            count: entry.uses,
            clientNonce: entry.answer.algorithm.isSession ? entry.clientNonce : Self.randomText()
        )
        request.headers.set("Authorization", field)
    }

    private static func randomText() -> String {
        Data((0..<16).map { _ in UInt8.random(in: .min ... .max) }).hexText
    }
}
