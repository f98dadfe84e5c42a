import Foundation
import SwitchyardHTTP

/// A digest challenge and the computation of its `Authorization` field (RFC 7616), without side effects.
struct DigestResponse: Equatable {
    /// The supported algorithms, with the strongest algorithm first.
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

    /// The quality of protection (`qop`).
    enum Protection: String, Sendable {
        case none
        case auth
        case authWithBody = "auth-int"
    }

    let realm: String
    private(set) var nonce: String
    let opaque: String?
    let algorithm: Algorithm
    /// Whether the challenge names the algorithm.
    ///
    /// The `Authorization` field names the algorithm only in this case.
    let namesAlgorithm: Bool
    let protection: Protection
    let hashesUser: Bool
    let isUTF8: Bool

    /// Creates a value from a challenge, or returns `nil` if the challenge has another scheme, is incomplete, or
    /// requires something unsupported.
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

    /// Returns the value of a challenge's parameter if the client can send it back, or `nil` if no header field can
    /// hold the value.
    static func returnable(_ text: String?) -> String? {
        text.flatMap { $0.isFieldValue ? $0 : nil }
    }

    /// Returns whether a digest challenge lacks a usable realm or nonce.
    static func isEmpty(_ challenge: AuthenticationChallenge) -> Bool {
        challenge.scheme == "digest"
            && (returnable(challenge.realm) == nil || returnable(challenge.parameters["nonce"]) == nil)
    }

    /// Returns the supported challenge with the strongest algorithm.
    static func best(of challenges: [AuthenticationChallenge]) -> DigestResponse? {
        let answers = challenges.compactMap(DigestResponse.init)
        return Algorithm.allCases.lazy.compactMap { known in answers.first { $0.algorithm == known } }.first
    }

    /// Returns the same challenge with the server's next nonce.
    func following(_ next: String) -> DigestResponse {
        var answer = self
        answer.nonce = next
        return answer
    }

    /// Returns the user name or password as it is hashed and sent.
    ///
    /// It is in Unicode normalization form C if the server accepts UTF-8 (RFC 7616 section 4).
    private func composed(_ text: String) -> String { isUTF8 ? text.precomposedStringWithCanonicalMapping : text }

    /// Returns the value of the `Authorization` field.
    ///
    /// - Parameters:
    ///   - user: The user name.
    ///   - password: The password.
    ///   - request: The request to be sent.
    ///   - count: The number of uses of the nonce, including this use.
    ///   - clientNonce: A random text.
    ///   - sessionNonce: The nonce with which the session started, by default the nonce of the challenge.
    /// - Returns: The value.
    /// - Throws: ``RequestError/body(kind:reason:)`` if the hash needs the body and the body is not in memory.
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

    /// Returns the parameter with the user name.
    ///
    /// The name is hashed if the server requests it. Otherwise a name that is not ASCII is encoded as in RFC 8187.
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
