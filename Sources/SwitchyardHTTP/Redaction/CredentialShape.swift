import SwitchyardServices

/// Recognition of credentials by their form, regardless of their names.
enum CredentialShape {
    /// The characters of access tokens and similar secrets: the characters of URL-safe Base64, and the dot (RFC 7515
    /// section 2).
    static let tokenCharacters = URLCharacters(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
    )

    /// The names of authentication schemes (RFC 9110 section 11.1), in lower case.
    ///
    /// In text, credentials follow these names.
    private static let schemes: Set<String> = [
        "apikey", "aws4-hmac-sha256", "basic", "bearer", "digest", "dpop", "hawk", "hmac", "hmac-sha256", "mutual",
        "negotiate", "ntlm", "oauth", "scram-sha-1", "scram-sha-256", "sharedaccesssignature", "sharedkey",
        "sharedkeylite", "token", "vapid",
    ]

    /// Words that are not credentials although they follow the name of a scheme, as in ordinary sentences.
    private static let words: Set<String> = [
        "access", "and", "auth", "authentication", "authorisation", "authorization", "based", "challenge", "credential",
        "credentials", "error", "expired", "failed", "for", "from", "has", "header", "in", "invalid", "is", "missing",
        "of", "or", "realm", "refused", "required", "scheme", "schemes", "token", "tokens", "type", "was", "with",
    ]

    /// Whether a word is the name of an authentication scheme.
    static func isScheme(_ word: some Collection<UInt8>) -> Bool {
        (4...24).contains(word.count) && schemes.contains(String(decoding: word, as: UTF8.self).lowercased())
    }

    /// Whether a word at the start of a line is the login command of a text protocol: IRC (RFC 2812 section 3.1.1),
    /// POP3, SMTP, Redis.
    ///
    /// Only capitals count, because the commands in small letters are also everyday words.
    static func isLoginCommand(_ word: some Collection<UInt8>) -> Bool {
        ["PASS", "AUTH", "AUTHENTICATE"].contains { word.elementsEqual($0.utf8) }
    }

    /// Whether the word after the name of a scheme in a sentence is a credential.
    ///
    /// After `Bearer` and `Basic` nearly every word is a credential. The names of the other schemes are also everyday
    /// words, so the word after them must contain a mixture of characters (``isMixed(_:)``).
    static func isCredential(_ value: ArraySlice<UInt8>, behind scheme: ArraySlice<UInt8>) -> Bool {
        guard !isWord(value) else { return false }
        let name = String(decoding: scheme, as: UTF8.self).lowercased()
        return name == "bearer" || name == "basic" ? value.count >= 6 || isMixed(value) : isMixed(value)
    }

    /// Whether the word after a scheme is an ordinary word of a sentence.
    static func isWord(_ value: ArraySlice<UInt8>) -> Bool {
        words.contains(String(decoding: value, as: UTF8.self).lowercased())
    }

    /// Whether a word contains a digit, a Base64 symbol, or a capital after a small letter, unlike ordinary words.
    static func isMixed(_ word: ArraySlice<UInt8>) -> Bool {
        var followsSmall = false
        return word.contains { byte in
            defer { followsSmall = byte.isLetter && byte & 0x20 != 0 }
            let isCapital = byte.isLetter && byte & 0x20 == 0
            return byte.isDigit || "+/=_".utf8.contains(byte) || isCapital && followsSmall
        }
    }

    /// Whether a path segment looks like a random identifier.
    ///
    /// Such a segment is long, has only the characters of URL-safe Base64, and is neither a word nor a UUID.
    static func isOpaque(_ part: ArraySlice<UInt8>) -> Bool {
        guard part.count >= 16, part.allSatisfy({ tokenCharacters.contains($0) || ":~=".utf8.contains($0) }),
            !isUUID(part)
        else { return false }
        return part.contains(where: \.isLetter) && part.contains { $0.isDigit || $0.isLetter && $0 & 0x20 == 0 }
    }

    private static func isUUID(_ part: ArraySlice<UInt8>) -> Bool {
        part.count == 36
            && part.enumerated().allSatisfy { offset, byte in
                [8, 13, 18, 23].contains(offset)
                    ? byte == UInt8(ascii: "-") : PercentEncoding.value(byte) != nil
            }
    }

    /// Returns the start of a JSON Web Token in a run of the characters that it may contain, or `nil` if there is none.
    ///
    /// A JSON Web Token has three or five parts (RFC 7519 section 1). The first part is a JSON object in Base64, so the
    /// token starts with the encoding of `{"`, optionally with whitespace between `{` and `"`. Other runs with three
    /// long random parts are also treated as JSON Web Tokens.
    static func startOfWebToken(in run: ArraySlice<UInt8>) -> Int? {
        guard run.count >= 10 else { return nil }
        let parts = run.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count >= 3 else { return nil }
        for (index, part) in parts.enumerated().dropLast(2) {
            let begins = openings.contains { part.starts(with: $0) } && part.count >= 8
            let isLong = parts.count - index == 3 && parts[index...].allSatisfy { isRandom($0) }
            if begins || isLong { return part.startIndex }
        }
        return nil
    }

    private static let openings = ["eyJ", "eyA", "ewo", "ew0", "ewk"].map { Array($0.utf8) }

    private static func isRandom(_ part: ArraySlice<UInt8>) -> Bool {
        part.count >= 12 && part.contains(where: \.isDigit) && part.contains { $0.isLetter && $0 & 0x20 == 0 }
            && part.contains { $0.isLetter && $0 & 0x20 != 0 }
    }
}
