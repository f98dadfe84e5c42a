import Foundation
import Switchyard
import SwitchyardOAuth
import SwitchyardServices
import SwitchyardTesting

// The samples of the articles on interceptors, credentials and trust, word for word.

// sample
struct Tokens: Decodable, Sendable {
    var accessToken: String
    var refreshToken: String
    var seconds: Double
}

final class LoginAPI: APIManager {
    let client: NetworkClient

    init(client: NetworkClient) {
        self.client = client.scoped()
    }

    func logIn(name: String, password: String) async throws(APIError) -> Credential {
        try await credential("login", ["name": name, "password": password])
    }

    func refresh(_ token: String) async throws(APIError) -> Credential {
        try await credential("token", ["refreshToken": token])
    }

    private func credential(_ path: String, _ fields: Parameters) async throws(APIError) -> Credential {
        var call = APIConfiguration(path: path, method: .post, body: .json(fields))
        call.usesCredentials = false
        let tokens: Tokens = try await value(for: call)
        let end = Date(timeIntervalSinceNow: tokens.seconds)
        return .bearer(tokens.accessToken, expiresAt: end, refreshToken: tokens.refreshToken)
    }
}
// end

// sample
struct RetryCounter: CallObserver {
    let increment: @Sendable () -> Void

    func retryScheduled(after pause: Duration, in event: DispatchEvent) { increment() }
}
// end

enum FlowSamples {
    static func interceptors(_ options: inout NetworkClient.Options, counting requests: Locked<Int>) {
        // sample
        options.interceptors = [
            .adapting("language") { configuration, _ in configuration.headers["Accept-Language"] = "de" },
            .observing("count") { event in
                if case .ended = event.kind { requests.withLock { $0 += 1 } }
            },
            .retrying("too early") { round in round.status == 425 ? .retry(after: .seconds(1)) : .undecided },
        ]
        // end
    }

    static func retries(_ options: inout NetworkClient.Options, _ configuration: inout APIConfiguration) {
        // sample
        options.retry = RetryPolicy(
            maximumRetries: 3,
            backoff: .exponential(base: .milliseconds(200), cap: .seconds(5))
        )
        options.retry?.budget = RetryBudget()
        configuration.retry = .never
        // end
    }

    static func credentials(_ options: inout NetworkClient.Options, expiry: Date) -> Credentials {
        // sample
        let credentials = Credentials { refresh in
            let login = APIConfiguration(path: "token", method: .post)
            let answer = try await refresh.client.send(login)
            return answer.status == 200 ? .bearer(answer.headers["X-Token"] ?? "") : nil
        }
        options.credentials = credentials
        credentials.set(.bearer("token", expiresAt: expiry), in: .release)
        // end
        return credentials
    }

    static func refreshing(_ options: inout NetworkClient.Options) -> Credentials {
        // sample
        let credentials = Credentials { refresh in
            guard let token = refresh.credential?.refreshToken else { return nil }
            do throws(APIError) {
                return try await LoginAPI(client: refresh.client).refresh(token)
            } catch {
                if error.status == 401 { throw CredentialError.loginRequired }
                throw error
            }
        }
        options.credentials = credentials
        // end
        return credentials
    }

    static func openToAll(
        _ refresh: @escaping @Sendable (CredentialRefresh) async throws -> Credential?
    ) -> (APIConfiguration, Credentials) {
        // sample
        var list = APIConfiguration(path: "topics")
        list.allowsAnonymous = true
        let credentials = Credentials(policy: Credentials.Policy(allowsAnonymous: true), refresh: refresh)
        // end
        return (list, credentials)
    }

    static func logIn(
        _ credentials: Credentials,
        _ client: NetworkClient,
        name: String,
        password: String
    ) async throws {
        // sample
        let login = LoginAPI(client: client)
        credentials.set(try await login.logIn(name: name, password: password), in: client.environment)
        // end
    }

    static func restore(_ credentials: Credentials, _ client: NetworkClient, kept: String, keptRefresh: String) {
        // sample
        credentials.restore(.bearer(kept, refreshToken: keptRefresh), in: client.environment)
        // end
    }

    static func logOut(_ credentials: Credentials, _ client: NetworkClient) async {
        // sample
        for await event in credentials.events() where event.kind == .loggedOut {
            client.responseCache.removeAll()
        }
        // end
    }

    static func endSession(_ client: NetworkClient, _ credentials: Credentials, _ jar: CookieJar) {
        // sample
        var end = APIConfiguration(path: "session", method: .delete)
        end.outlivesLogout = true
        client.send(end, on: .main) { _ in }
        credentials.logOut(in: client.environment)
        jar.removeAll()
        // end
    }

    static func oauth(_ options: inout NetworkClient.Options) {
        // sample
        var settings = OAuthSettings(clientID: "app", tokenEndpoint: "https://login.example.com/token")
        settings.authorizationEndpoint = "https://login.example.com/authorize"
        settings.redirectURI = "app://signed-in"
        options.credentials = Credentials(provider: OAuthProvider(settings))
        // end
    }

    static func repeatable(_ options: inout NetworkClient.Options) {
        // sample
        var settings = OAuthSettings(clientID: "app", tokenEndpoint: "token")
        settings.refreshMayBeRepeated = true  // The server accepts a used refresh token for a minute.
        options.credentials = Credentials(provider: OAuthProvider(settings))
        // end
    }

    static func authority(_ authority: URL) throws -> any Transport {
        // sample
        let tls = TLSConfiguration(trustRoots: .file(authority), minimumVersion: .tls13)
        let transport = try Transports.systemDefault(tls: tls)
        // end
        return transport
    }

    static func payment(_ certificate: URL, _ key: URL) -> APIConfiguration {
        // sample
        var payment = APIConfiguration(path: "payments", method: .post)
        payment.tls = TLSConfiguration(clientIdentity: .init(certificate: .file(certificate), privateKey: .file(key)))
        // end
        return payment
    }

    static func identity(_ file: URL, _ password: String) throws -> any Transport {
        // sample
        let identity = TLSConfiguration.ClientIdentity(pkcs12: try Data(contentsOf: file), password: password)
        let transport = try Transports.systemDefault(tls: TLSConfiguration(clientIdentity: identity))
        // end
        return transport
    }

    static func pins(_ current: TLSPin, _ next: TLSPin, endOfLife: Date) throws -> any Transport {
        // sample
        let rule = try PinRule(
            hosts: "**.example.com",
            pins: [current, next],
            mode: .enforced,
            expiresAt: endOfLife
        )
        let transport = try PinnedTransport(rules: [rule]) { pins throws(TransportError) in
            try Transports.systemDefault(tls: TLSConfiguration(pins: pins))
        }
        // end
        return transport
    }

    static func insecure(_ options: inout NetworkClient.Options) {
        // sample
        options.insecureHTTP = .hosts(["legacy.example.com"])
        // end
    }
}
