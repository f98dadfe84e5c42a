import Foundation
import SwitchyardClient
import SwitchyardHTTP

/// A successful response of the token endpoint (RFC 6749 section 5.1).
struct TokenResponse: Decodable {
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

    /// Returns the credential in the response.
    ///
    /// If the server sends no refresh token or an empty one, the old refresh token is kept (RFC 6749 section 6).
    func credential(at now: Date, keeping oldRefreshToken: String?) -> Credential {
        .bearer(
            accessToken,
            expiresAt: expiresIn.map { now.addingTimeInterval($0.value) },
            refreshToken: refreshToken.flatMap { $0.isEmpty ? nil : $0 } ?? oldRefreshToken
        )
    }
}

extension TokenResponse {
    /// Decodes a response of the token endpoint, and throws if the access token is empty.
    ///
    /// A lifetime that is unreadable or not above 0 counts as unknown. A refresh token that is not a string counts as
    /// missing. In both cases the access token is still accepted, because the authorization code or refresh token for
    /// which the server issued it may not be usable a second time.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        accessToken = try container.decode(String.self, forKey: .accessToken)
        guard !accessToken.isEmpty else {
            throw DecodingError.dataCorruptedError(
                forKey: .accessToken,
                in: container,
                debugDescription: "must not be empty"
            )
        }
        tokenType = try container.decodeIfPresent(String.self, forKey: .tokenType)
        let lifetime = try? container.decodeIfPresent(WrittenNumber.self, forKey: .expiresIn)
        expiresIn = lifetime.flatMap { $0.value > 0 ? $0 : nil }
        refreshToken = try? container.decodeIfPresent(String.self, forKey: .refreshToken)
    }
}

/// An error response (RFC 6749 section 5.2).
struct TokenRefusal: Decodable {
    var error: String
    var description: String?

    enum CodingKeys: String, CodingKey {
        case error
        case description = "error_description"
    }
}

extension TokenRefusal {
    /// Decodes an error response, even if its description is invalid.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        error = try container.decode(String.self, forKey: .error)
        description = try? container.decodeIfPresent(String.self, forKey: .description)
    }
}

/// A response from the device authorization endpoint (RFC 8628 section 3.2).
struct DeviceResponse: Decodable {
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
        /// The name of this member in drafts of the RFC, which Google's servers still send.
        case verificationURL = "verification_url"
        case verificationURIComplete = "verification_uri_complete"
        case expiresIn = "expires_in"
        case interval
    }
}

extension DeviceResponse {
    /// Decodes a device authorization response and throws if a code is empty.
    ///
    /// An unreadable lifetime or interval counts as unknown. A lifetime that is not above 0 counts as unknown too. In
    /// this case, the server reports during polling when the code has expired. A complete verification URL that is not
    /// a string counts as missing.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        deviceCode = try container.decode(String.self, forKey: .deviceCode)
        userCode = try container.decode(String.self, forKey: .userCode)
        guard !deviceCode.isEmpty, !userCode.isEmpty else {
            throw DecodingError.dataCorruptedError(
                forKey: .deviceCode,
                in: container,
                debugDescription: "must not be empty"
            )
        }
        verificationURI =
            try container.decodeIfPresent(String.self, forKey: .verificationURI)
            ?? container.decode(String.self, forKey: .verificationURL)
        verificationURIComplete = try? container.decodeIfPresent(String.self, forKey: .verificationURIComplete)
        let lifetime = try? container.decodeIfPresent(WrittenNumber.self, forKey: .expiresIn)
        expiresIn = lifetime.flatMap { $0.value > 0 ? $0 : nil }
        interval = try? container.decodeIfPresent(WrittenNumber.self, forKey: .interval)
    }
}

/// A number that some servers send as a string.
struct WrittenNumber: Decodable {
    var value: Double

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let text = try? container.decode(String.self) else {
            value = try container.decode(Double.self)
            return
        }
        guard let number = Double(text), number.isFinite else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected a finite number")
        }
        value = number
    }
}

/// A form-encoded response of an OAuth endpoint.
///
/// Some servers send access tokens and errors as a form, although RFC 6749 section 5.1 requires JSON.
struct FormResponse {
    /// The form parameters as the JSON that RFC 6749 requires.
    let json: Data

    /// Reads the body of a response, or returns `nil` if the body is not a form.
    ///
    /// A body with the content type of forms is a form. A body that contains an access token or an error is also a form
    /// if its content type is missing, `text/plain` or `text/html`.
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
