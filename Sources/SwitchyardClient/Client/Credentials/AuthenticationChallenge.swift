package import SwitchyardHTTP

/// An authentication scheme that a service offers in a 401 response (RFC 9110 section 11.6.1).
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The scheme in lower case: `basic`, `bearer`, `digest`.
    public var scheme: String
    /// The parameters of the challenge, with names in lower case.
    public var parameters: [String: String]

    /// The protection space within the server, or `nil` if the challenge names no realm.
    public var realm: String? { parameters["realm"].map(OpaqueText.unmarked) }

    /// Creates a challenge.
    package init(scheme: String, parameters: [String: String] = [:]) {
        self.scheme = scheme
        self.parameters = parameters
    }

    /// Returns the challenges of a response's `WWW-Authenticate` fields, in order.
    ///
    /// Challenges that cannot be parsed are left out.
    package static func all(in headers: HTTPHeaders) -> [AuthenticationChallenge] {
        headers.echoes(of: "WWW-Authenticate").flatMap { value in
            var reader = ChallengeReader(value)
            return reader.challenges()
        }
    }

    /// Returns the parameters of a response's `Authentication-Info` fields (RFC 7615), with names in lower case.
    static func information(in headers: HTTPHeaders) -> [String: String] {
        headers.echoes(of: "Authentication-Info").reduce(into: [:]) { parameters, value in
            var reader = ChallengeReader(value)
            parameters.merge(reader.parameters()) { _, last in last }
        }
    }
}

/// A parser for the grammar of `WWW-Authenticate`.
///
/// In this grammar, commas separate both challenges and parameters.
private struct ChallengeReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    mutating func challenges() -> [AuthenticationChallenge] {
        var result: [AuthenticationChallenge] = []
        while true {
            skip { $0 == UInt8(ascii: ",") || Self.isSpace($0) }
            guard position < bytes.count else { return result }
            guard let scheme = token() else {
                skipToComma()
                continue
            }
            var challenge = AuthenticationChallenge(scheme: scheme.lowercased())
            readParameters(into: &challenge)
            result.append(challenge)
        }
    }

    /// Parses a list of parameters without a scheme in front, as in `Authentication-Info`.
    mutating func parameters() -> [String: String] {
        var challenge = AuthenticationChallenge(scheme: "")
        readParameters(into: &challenge)
        return challenge.parameters
    }

    private mutating func readParameters(into challenge: inout AuthenticationChallenge) {
        guard !skipToken68() else { return }
        while true {
            let start = position
            skip { $0 == UInt8(ascii: ",") || Self.isSpace($0) }
            guard position < bytes.count else { return }
            guard let name = token() else {
                skipToComma()
                continue
            }
            skip(Self.isSpace)
            guard take(UInt8(ascii: "=")) else {
                // A name without `=` is not a parameter but the scheme of the next challenge, unless a quote follows.
                guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { return position = start }
                skipToComma()
                continue
            }
            skip(Self.isSpace)
            guard let value = quoted() ?? token() else {
                skipToComma()
                continue
            }
            challenge.parameters[name.lowercased()] = value
        }
    }

    /// Skips a base64 value (`token68`) and returns whether there was one.
    ///
    /// No scheme supported here sends such a value in a challenge.
    private mutating func skipToken68() -> Bool {
        let start = position
        skip(Self.isSpace)
        skip { $0 == UInt8(ascii: "/") || HTTPToken.isTokenByte($0) }
        skip { $0 == UInt8(ascii: "=") }
        skip(Self.isSpace)
        guard position < bytes.count, bytes[position] != UInt8(ascii: ",") else { return true }
        position = start
        return false
    }

    /// Skips the text up to the next comma outside quotes.
    ///
    /// A quote that follows a character of a token does not start a quoted text, as in `realm="it"s"`.
    private mutating func skipToComma() {
        while position < bytes.count, bytes[position] != UInt8(ascii: ",") {
            let isInToken = position > 0 && HTTPToken.isTokenByte(bytes[position - 1])
            if isInToken || quoted() == nil { position += 1 }
        }
    }

    private mutating func token() -> String? {
        let start = position
        skip(HTTPToken.isTokenByte)
        return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
    }

    private mutating func quoted() -> String? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        var value: [UInt8] = []
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            if bytes[position] == UInt8(ascii: "\\"), position + 1 < bytes.count { position += 1 }
            value.append(bytes[position])
            position += 1
        }
        position += 1
        return String(decoding: value, as: UTF8.self)
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func skip(_ isSkipped: (UInt8) -> Bool) {
        while position < bytes.count, isSkipped(bytes[position]) { position += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }
}
