import Foundation
import Switchyard
import SwitchyardServices
import SwitchyardTesting

// The samples of the articles on interceptors, credentials and trust, word for word.

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
        let credentials = Credentials { renewal in
            let login = APIConfiguration(path: "token", method: .post)
            let answer = try await renewal.client.send(login)
            return answer.status == 200 ? .bearer(answer.headers["X-Token"] ?? "") : nil
        }
        options.credentials = credentials
        credentials.set(.bearer("token", expiresAt: expiry), in: .release)
        // end
        return credentials
    }

    static func logOut(_ credentials: Credentials, _ client: NetworkClient) async {
        // sample
        for await event in credentials.events() where event.kind == .loggedOut {
            client.responseCache.removeAll()
        }
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
