import Foundation
import SwitchyardClient
import SwitchyardHTTP

/// A token as servers send it (RFC 6749 section 5.1).
struct TokenAnswer: Decodable {
    var accessToken: String
    var tokenType: String?
    var expiresIn: WrittenNumber?
    var refreshToken: String?

    enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case tokenType = "token_type"
        case expiresIn = "expires_in"
        case refreshToken = "refresh_token"
    }

    /// The credential; a server that sends no new refresh token, or an empty one, means the old one to be kept (section 6).
    func credential(at now: Date, keeping oldRefreshToken: String?) -> Credential {
        .bearer(
            accessToken,
            expiresAt: expiresIn.map { now.addingTimeInterval($0.value) },
            refreshToken: refreshToken.flatMap { $0.isEmpty ? nil : $0 } ?? oldRefreshToken
        )
    }
}

extension TokenAnswer {
    /// Reads a token; one that is empty is none.
    ///
    /// A lifetime that cannot be read, or is not above 0, is not known, and neither is a refresh token that is no text: the
    /// token is good, and what it cost may be spent.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        accessToken = try container.decode(String.self, forKey: .accessToken)
        guard !accessToken.isEmpty else {
            throw DecodingError.dataCorruptedError(forKey: .accessToken, in: container, debugDescription: "empty")
        }
        tokenType = try container.decodeIfPresent(String.self, forKey: .tokenType)
        let lifetime = try? container.decodeIfPresent(WrittenNumber.self, forKey: .expiresIn)
        expiresIn = lifetime.flatMap { $0.value > 0 ? $0 : nil }
        refreshToken = try? container.decodeIfPresent(String.self, forKey: .refreshToken)
    }
}

/// A refusal as servers send it (RFC 6749 section 5.2).
struct TokenRefusal: Decodable {
    var error: String
    var description: String?

    enum CodingKeys: String, CodingKey {
        case error
        case description = "error_description"
    }
}

extension TokenRefusal {
    /// Reads a refusal, which is one whatever its description is.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        error = try container.decode(String.self, forKey: .error)
        description = try? container.decodeIfPresent(String.self, forKey: .description)
    }
}

/// The answer of the device endpoint (RFC 8628 section 3.2).
struct DeviceAnswer: Decodable {
    var deviceCode: String
    var userCode: String
    var verificationURI: String
    var verificationURIComplete: String?
    var expiresIn: WrittenNumber?
    var interval: WrittenNumber?

    enum CodingKeys: String, CodingKey {
        case deviceCode = "device_code"
        case userCode = "user_code"
        case verificationURI = "verification_uri"
        /// The name that it had in drafts, which Google's servers send still.
        case verificationURL = "verification_url"
        case verificationURIComplete = "verification_uri_complete"
        case expiresIn = "expires_in"
        case interval
    }
}

extension DeviceAnswer {
    /// Reads a login; a code that is empty is none.
    ///
    /// A time that cannot be read is not known, nor is a lifetime that is not above 0: the server says when the code ends.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        deviceCode = try container.decode(String.self, forKey: .deviceCode)
        userCode = try container.decode(String.self, forKey: .userCode)
        guard !deviceCode.isEmpty, !userCode.isEmpty else {
            throw DecodingError.dataCorruptedError(forKey: .deviceCode, in: container, debugDescription: "empty")
        }
        verificationURI =
            try container.decodeIfPresent(String.self, forKey: .verificationURI)
            ?? container.decode(String.self, forKey: .verificationURL)
        verificationURIComplete = try container.decodeIfPresent(String.self, forKey: .verificationURIComplete)
        let lifetime = try? container.decodeIfPresent(WrittenNumber.self, forKey: .expiresIn)
        expiresIn = lifetime.flatMap { $0.value > 0 ? $0 : nil }
        interval = try? container.decodeIfPresent(WrittenNumber.self, forKey: .interval)
    }
}

/// A number, which some servers write as a text.
struct WrittenNumber: Decodable {
    var value: Double

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let text = try? container.decode(String.self) else {
            value = try container.decode(Double.self)
            return
        }
        guard let number = Double(text), number.isFinite else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no number")
        }
        value = number
    }
}

/// A response written as a form, as some servers send tokens and refusals although RFC 6749 section 5.1 asks for JSON.
struct FormAnswer {
    /// The parameters as the JSON that the standard asks for.
    let json: Data

    /// Reads a body; `nil` unless it is named a form, or is plain text or unnamed and has a token or an error.
    init?(_ body: Data, contentType: String?) {
        let type = contentType.map(HTTPHeaders.essence)
        let isForm = type == "application/x-www-form-urlencoded"
        guard isForm || type == nil || type == "text/plain" || type == "text/html", body.first != UInt8(ascii: "{"),
            let text = String(data: body, encoding: .utf8)?.trimmingCharacters(in: .whitespacesAndNewlines)
        else { return nil }
        var members: [String: String] = [:]
        for item in Parameters(parsing: text).items {
            if case .string(let value) = item.value, members[item.key] == nil { members[item.key] = value }
        }
        guard isForm || members["access_token"] != nil || members["error"] != nil,
            let json = try? JSONEncoder().encode(members)
        else { return nil }
        self.json = json
    }
}
