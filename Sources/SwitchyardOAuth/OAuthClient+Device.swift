import Foundation
public import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// What a device without a browser shows its user (RFC 8628).
public struct DeviceLogin: Sendable, Hashable {
    /// What the user types.
    public var userCode: String
    /// Where the user types it, on another device.
    public var verificationURL: String
    /// The same with the code in it, for a QR code; `nil` when the server gives none.
    public var completeURL: String?
    /// How long the code is good; a day at most, and where the server does not say.
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
        let answer: DeviceAnswer = try read(try await send(form, to: endpoint))
        return DeviceLogin(
            userCode: answer.userCode,
            verificationURL: answer.verificationURI,
            completeURL: answer.verificationURIComplete,
            lifetime: .seconds(min(answer.expiresIn?.value ?? 86_400, 86_400)),
            deviceCode: answer.deviceCode,
            interval: .seconds(min(max(1, answer.interval?.value ?? 5), 3_600))
        )
    }

    /// Waits until the user has confirmed the device.
    ///
    /// It asks as often as the server allows, 5 s later each time the server says that this is too often.
    ///
    /// A failure that passes does not end it: none of the network, no 5xx, 408 or 429. The pauses double until the server
    /// answers again, up to a minute or twice the usual pause, and are as long as it wants at least (`Retry-After`;
    /// RFC 8628 section 3.5). Cancelling the task ends it.
    ///
    /// - Parameter login: What the user is shown.
    /// - Returns: The token.
    /// - Throws: ``OAuthError/deviceExpired``, ``OAuthError/refused(_:description:)`` when the user says no.
    public func credential(confirming login: DeviceLogin) async throws -> Credential {
        let time = client.time
        let end = time.now.advanced(by: login.lifetime)
        var pace = DevicePace(interval: login.interval)
        while true {
            let next = time.now.advanced(by: pace.pause)
            guard next < end else {
                try await time.sleep(until: end)
                throw OAuthError.deviceExpired
            }
            try await time.sleep(until: next)
            if let credential = try await ask(for: login, &pace) { return credential }
        }
    }

    /// Asks once; `nil` when the user has not confirmed yet, or what went wrong may pass.
    private func ask(for login: DeviceLogin, _ pace: inout DevicePace) async throws -> Credential? {
        let form: Parameters = [
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": login.deviceCode,
        ]
        let answer: ServiceResponse
        do {
            answer = try await send(form, to: settings.tokenEndpoint)
        } catch let failure as RequestFailure where failure.passes {
            pace.fail(askedFor: failure.retryAfter)
            return nil
        }
        do throws(OAuthError) {
            return try credential(from: answer)
        } catch {
            switch error {
            case .refused(.authorizationPending, _): pace.goOn()
            case .refused(.slowDown, _): pace.slowDown()
            case .refused(.expiredToken, _): throw OAuthError.deviceExpired
            case .refused(.accessDenied, _), .refused(.invalidGrant, _), .refused(.invalidClient, _): throw error
            default:
                guard answer.passes else { throw error }
                pace.fail(askedFor: RetryAfter.duration(in: answer.headers, now: clock()))
            }
            return nil
        }
    }
}

/// How long a device waits before it asks again.
private struct DevicePace {
    private var interval: Duration
    private var backoff: Duration = .zero

    init(interval: Duration) {
        self.interval = interval
    }

    var pause: Duration { max(interval, backoff) }

    /// Waits as usual after an answer.
    mutating func goOn() {
        backoff = .zero
    }

    /// Waits longer from now on.
    mutating func slowDown() {
        goOn()
        interval += .seconds(5)
    }

    /// Waits longer until an answer comes, as long as the server wants at least.
    mutating func fail(askedFor wish: Duration?) {
        let longest = max(.seconds(60), interval * 2)
        backoff = max(min(max(interval, backoff) * 2, longest), wish ?? .zero)
    }
}

extension RequestFailure {
    /// Whether the same may succeed a little later: no answer came, or none in time.
    fileprivate var passes: Bool {
        switch reason {
        case .transport(let error): error.kind != .cancelled && error.kind != .closed
        case .deadlineExceeded, .overloaded, .rateLimited, .queueFull: true
        default: false
        }
    }

    /// How long a limit wants the request to stay away, if one does.
    fileprivate var retryAfter: Duration? {
        if case .rateLimited(let pause) = reason { pause } else { nil }
    }
}

extension ServiceResponse {
    /// Whether the status is one of a server that may be well a little later.
    fileprivate var passes: Bool { status == 408 || status == 429 || (500..<600).contains(status) }
}

extension DeviceLogin: Discreet {
    /// What the user is shown, without the code that the device itself asks with.
    public var description: String { "device login \(userCode) at \(verificationURL)" }
}
