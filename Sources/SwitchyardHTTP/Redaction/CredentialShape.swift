import SwitchyardServices

/// Recognises credentials by their form, whatever they are called.
enum CredentialShape {
    /// The characters of base 64 for URLs and the dot, of which tokens are made (RFC 7515 section 2).
    static let tokenCharacters = URLCharacters(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
    )

    /// The schemes behind which credentials stand (RFC 9110 section 11.1), in lower case.
    private static let schemes: Set<String> = [
        "apikey", "aws4-hmac-sha256", "basic", "bearer", "digest", "dpop", "hawk", "hmac", "hmac-sha256", "mutual",
        "negotiate", "ntlm", "oauth", "scram-sha-1", "scram-sha-256", "sharedaccesssignature", "sharedkey",
        "sharedkeylite", "token", "vapid",
    ]

    /// Words that stand behind the name of a scheme in a sentence.
    private static let words: Set<String> = [
        "access", "and", "auth", "authentication", "authorisation", "authorization", "based", "challenge", "credential",
        "credentials", "error", "expired", "failed", "for", "from", "has", "header", "in", "invalid", "is", "missing",
        "of", "or", "realm", "refused", "required", "scheme", "schemes", "token", "tokens", "type", "was", "with",
    ]

    /// Whether a word names a scheme.
    static func isScheme(_ word: some Collection<UInt8>) -> Bool {
        (4...24).contains(word.count) && schemes.contains(String(decoding: word, as: UTF8.self).lowercased())
    }

    /// Whether what stands behind a scheme in a sentence is a credential.
    ///
    /// Behind `Bearer` and `Basic` nearly everything is; other schemes are words of every day.
    static func isCredential(_ value: ArraySlice<UInt8>, behind scheme: ArraySlice<UInt8>) -> Bool {
        guard !isWord(value) else { return false }
        let name = String(decoding: scheme, as: UTF8.self).lowercased()
        return name == "bearer" || name == "basic" ? value.count >= 6 || isMixed(value) : isMixed(value)
    }

    /// Whether what stands behind a scheme is a word of a sentence about it.
    static func isWord(_ value: ArraySlice<UInt8>) -> Bool {
        words.contains(String(decoding: value, as: UTF8.self).lowercased())
    }

    /// Whether a word holds a digit or a sign of base 64, or a capital behind small letters, as no word of a sentence does.
    static func isMixed(_ word: ArraySlice<UInt8>) -> Bool {
        var isBehindSmall = false
        return word.contains { byte in
            defer { isBehindSmall = byte.isLetter && byte & 0x20 != 0 }
            let isCapital = byte.isLetter && byte & 0x20 == 0
            return byte.isDigit || "+/=_".utf8.contains(byte) || isCapital && isBehindSmall
        }
    }

    /// Whether a part of a path says nothing to a reader: long, of the characters of tokens, and neither a word nor a UUID.
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

    /// Where a JSON Web Token begins in a run of the characters of tokens; `nil` when there is none.
    ///
    /// Three parts or five (RFC 7519 section 1), the first of which is an object of JSON in base 64: it begins with `{"`,
    /// or with space between the two. Others of three long parts are taken for one as well.
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
