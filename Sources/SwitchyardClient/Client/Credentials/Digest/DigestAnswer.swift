import Foundation
import SwitchyardHTTP

/// The answer to a digest challenge (RFC 7616): a pure calculation.
struct DigestAnswer: Equatable {
    /// The algorithms that are known, the better first.
    enum Algorithm: String, CaseIterable, Sendable {
        case sha256 = "SHA-256"
        case sha256Session = "SHA-256-sess"
        case md5 = "MD5"
        case md5Session = "MD5-sess"

        var isSession: Bool { self == .sha256Session || self == .md5Session }

        func hash(_ text: String) -> String { hash(OpaqueText.bytes(of: text)) }

        func hash(_ bytes: some Sequence<UInt8>) -> String {
            switch self {
            case .sha256, .sha256Session: MessageDigest.sha256(bytes).hexText
            case .md5, .md5Session: MessageDigest.md5(bytes).hexText
            }
        }
    }

    /// What is protected beside the password.
    enum Protection: String, Sendable {
        case none
        case auth
        case authWithBody = "auth-int"
    }

    let realm: String
    private(set) var nonce: String
    let opaque: String?
    let algorithm: Algorithm
    /// Whether the challenge names the algorithm: an answer names it only then.
    let namesAlgorithm: Bool
    let protection: Protection
    let hashesUser: Bool
    let isUTF8: Bool

    /// Takes a challenge; `nil` when it is none of this scheme, gives nothing that can be answered, or asks for what is not
    /// known here.
    init?(_ challenge: AuthenticationChallenge) {
        let parameters = challenge.parameters
        guard challenge.scheme == "digest", let realm = Self.returnable(parameters["realm"]),
            let nonce = Self.returnable(parameters["nonce"])
        else { return nil }
        let name = parameters["algorithm"]?.lowercased() ?? "md5"
        guard let algorithm = Algorithm.allCases.first(where: { $0.rawValue.lowercased() == name }) else { return nil }
        let offered = parameters["qop"].map { $0.lowercased().split { $0 == "," || $0 == " " }.map(String.init) }
        switch offered {
        case nil: protection = .none
        case let offered? where offered.contains("auth"): protection = .auth
        case let offered? where offered.contains("auth-int"): protection = .authWithBody
        default: return nil
        }
        self.realm = realm
        self.nonce = nonce
        self.algorithm = algorithm
        namesAlgorithm = parameters["algorithm"] != nil
        opaque = Self.returnable(parameters["opaque"])
        hashesUser = parameters["userhash"]?.lowercased() == "true"
        isUTF8 = parameters["charset"]?.uppercased() == "UTF-8"
    }

    /// What a server has given to be given back; `nil` for what no header field can hold, which is as good as nothing.
    static func returnable(_ text: String?) -> String? {
        text.flatMap { $0.isFieldValue ? $0 : nil }
    }

    /// Whether a challenge of this scheme gives no realm or no nonce with which it could be answered.
    static func isEmpty(_ challenge: AuthenticationChallenge) -> Bool {
        challenge.scheme == "digest"
            && (returnable(challenge.realm) == nil || returnable(challenge.parameters["nonce"]) == nil)
    }

    /// The best of the challenges that can be answered.
    static func best(of challenges: [AuthenticationChallenge]) -> DigestAnswer? {
        let answers = challenges.compactMap(DigestAnswer.init)
        return Algorithm.allCases.lazy.compactMap { known in answers.first { $0.algorithm == known } }.first
    }

    /// The same challenge with the nonce that comes after its own.
    func following(_ next: String) -> DigestAnswer {
        var answer = self
        answer.nonce = next
        return answer
    }

    /// What the user typed, as it is hashed and sent: composed where the server takes UTF-8 (section 4).
    private func composed(_ text: String) -> String { isUTF8 ? text.precomposedStringWithCanonicalMapping : text }

    /// The value of the `Authorization` field.
    ///
    /// - Parameters:
    ///   - user: The name.
    ///   - password: The password.
    ///   - request: What is to be sent.
    ///   - count: How often the nonce has been used, this time included.
    ///   - clientNonce: A random text.
    ///   - sessionNonce: The nonce that the session began with; that of the challenge unless given.
    /// - Returns: The value.
    /// - Throws: ``RequestError/body(kind:reason:)`` when the body has to be known and is not in memory.
    func field(
        user: String,
        password: String,
        request: HTTPRequest,
        count: UInt32,
        clientNonce: String,
        sessionNonce: String? = nil
    ) throws(RequestError) -> String {
        let (user, password) = (composed(user), composed(password))
        let path = request.url.path.isEmpty ? "/" : request.url.path
        let uri = path + (request.url.query.map { "?\($0)" } ?? "")
        let counter = String(count, radix: 16)
        let number = String(repeating: "0", count: 8 - counter.count) + counter
        var secret = algorithm.hash("\(user):\(realm):\(password)")
        if algorithm.isSession { secret = algorithm.hash("\(secret):\(sessionNonce ?? nonce):\(clientNonce)") }
        var target = "\(request.method):\(uri)"
        if protection == .authWithBody { target += ":\(try bodyHash(of: request))" }
        let what = algorithm.hash(target)
        let response =
            protection == .none
            ? algorithm.hash("\(secret):\(nonce):\(what)")
            : algorithm.hash("\(secret):\(nonce):\(number):\(clientNonce):\(protection.rawValue):\(what)")
        return text(
            user: user,
            uri: uri,
            response: response,
            use: protection == .none && !algorithm.isSession ? nil : (number, clientNonce)
        )
    }

    private func text(user: String, uri: String, response: String, use: (number: String, nonce: String)?) -> String {
        var parts = [
            userPart(user), "realm=\(realm.inQuotes)", "nonce=\(nonce.inQuotes)", "uri=\(uri.inQuotes)",
            "response=\"\(response)\"",
        ]
        if namesAlgorithm { parts.append("algorithm=\(algorithm.rawValue)") }
        if let use {
            parts.append("cnonce=\(use.nonce.inQuotes)")
            if protection != .none { parts += ["nc=\(use.number)", "qop=\(protection.rawValue)"] }
        }
        if let opaque { parts.append("opaque=\(opaque.inQuotes)") }
        if hashesUser { parts.append("userhash=true") }
        return "Digest \(parts.joined(separator: ", "))"
    }

    /// The name: hashed when the server wants it so, in the form of RFC 8187 when it is not ASCII.
    private func userPart(_ user: String) -> String {
        if hashesUser { return "username=\"\(algorithm.hash("\(user):\(realm)"))\"" }
        if user.utf8.allSatisfy({ $0 < 128 && $0 >= 32 }) || !isUTF8 { return "username=\(user.inQuotes)" }
        var escaped: [UInt8] = []
        PercentEncoding.append(Array(user.utf8), allowed: .unreserved, to: &escaped)
        return "username*=UTF-8''\(String(decoding: escaped, as: UTF8.self))"
    }

    private func bodyHash(of request: HTTPRequest) throws(RequestError) -> String {
        switch request.body {
        case .none: algorithm.hash("")
        case .data(let data): algorithm.hash(data)
        case .file, .stream: throw .body(kind: "digest-protected", reason: .notInMemory)
        }
    }
}
