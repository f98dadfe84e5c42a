import Foundation
import SwitchyardServices

/// What a device without a browser shows its user (RFC 8628).
public struct DeviceLogin: Sendable, Hashable {
    /// What the user types.
    public var userCode: String
    /// Where the user types it, on another device.
    public var verificationURL: String
    /// The same with the code in it, for a QR code; `nil` when the server gives none.
    public var completeURL: String?
    /// How long the code is good.
    public var lifetime: Duration
    let deviceCode: String
    let interval: Duration
}

extension OAuthClient {
    /// Begins the login of a device.
    ///
    /// - Returns: What the user has to be shown.
    /// - Throws: ``OAuthError`` or ``RequestFailure``.
    public func deviceAuthorization() async throws -> DeviceLogin {
        guard let endpoint = settings.deviceEndpoint else { throw OAuthError.missingEndpoint("deviceEndpoint") }
        var form = Parameters()
        // The endpoint wants the name in the form even where the header has it.
        if case .basic = settings.authentication { form.append("client_id", settings.clientID) }
        if let scope = settings.scopeText { form.append("scope", scope) }
        let answer: DeviceAnswer = try await ask(endpoint, form)
        return DeviceLogin(
            userCode: answer.userCode,
            verificationURL: answer.verificationURI,
            completeURL: answer.verificationURIComplete,
            lifetime: .seconds(min(max(0, answer.expiresIn.value), 86_400)),
            deviceCode: answer.deviceCode,
            interval: .seconds(min(max(1, answer.interval?.value ?? 5), 3_600))
        )
    }

    /// Waits until the user has confirmed the device.
    ///
    /// It asks as often as the server allows, 5 s later each time the server says that this is too often, and goes on
    /// after a failure of the network (RFC 8628 section 3.5). Cancelling the task ends it.
    ///
    /// - Parameter login: What the user is shown.
    /// - Returns: The token.
    /// - Throws: ``OAuthError/deviceExpired``, ``OAuthError/refused(_:description:)`` when the user says no.
    public func credential(confirming login: DeviceLogin) async throws -> Credential {
        let time = client.time
        let end = time.now.advanced(by: login.lifetime)
        var pause = login.interval
        let form: Parameters = [
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": login.deviceCode,
        ]
        while true {
            let next = time.now.advanced(by: pause)
            guard next < end else {
                try await time.sleep(until: end)
                throw OAuthError.deviceExpired
            }
            try await time.sleep(until: next)
            do {
                return try await token(form)
            } catch OAuthError.refused(.authorizationPending, _) {
                continue
            } catch OAuthError.refused(.slowDown, _) {
                pause += .seconds(5)
            } catch OAuthError.refused(.expiredToken, _) {
                throw OAuthError.deviceExpired
            } catch let failure as RequestFailure {
                guard failure.passes else { throw failure }
                pause = pause * 2
            }
        }
    }
}

extension RequestFailure {
    /// Whether the same may succeed a little later: no answer came, or none in time.
    fileprivate var passes: Bool {
        switch reason {
        case .transport(let error): error.kind != .cancelled && error.kind != .closed
        case .deadlineExceeded, .overloaded: true
        default: false
        }
    }
}

extension DeviceLogin: CustomStringConvertible, CustomDebugStringConvertible {
    /// What the user is shown, without the code that the device itself asks with.
    public var description: String { "device login \(userCode) at \(verificationURL)" }

    /// The same as ``description``.
    public var debugDescription: String { description }
}
