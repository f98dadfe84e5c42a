import Foundation
import SwitchyardHTTP
import SwitchyardServices
import Testing

@testable import SwitchyardClient

/// The properties of a call that are part of the identity of its request.
@Suite struct RequestIdentityTests {
    private typealias Change = @Sendable (inout APIConfiguration) -> Void

    /// The way in which a property affects the identity.
    private enum Role {
        /// The property separates stored responses and transfers.
        case request(Change)
        /// The property separates transfers only.
        case transfer(Change)
        /// Code of the app determines the request, so there is no identity.
        case byHand(Change)
        /// The property does not affect the request, or the cache and coalescing handle it themselves.
        case none
    }

    private static let url = RequestURL("https://a.test/")

    /// The stored properties of a configuration, by their names.
    private static let roles: [String: Role] = [
        "path": .request { $0.path = "other" }, "method": .request { $0.method = .head },
        "query": .request { $0.query = ["a": 1] }, "parameters": .request { $0.parameters = ["a": 1] },
        "headers": .request { $0.headers["X-A"] = "1" },
        "server": .request { call in url.map { call.server = .baseURL($0) } },
        "parameterDestination": .request { $0.parameterDestination = .query },
        "usesCDN": .request { $0.usesCDN = true }, "upgradesToHTTPS": .request { $0.upgradesToHTTPS = true },
        "usesCookies": .request { $0.usesCookies = false },
        "pathValues": .request { $0.pathValues = ["id": 1] },
        "parameterOptions": .request { $0.parameterOptions = ParameterEncodingOptions() },
        "cdnURL": .request { ($0.usesCDN, $0.cdnURL) = (true, url) },
        "tls": .request { $0.tls = TLSConfiguration() }, "apiVersion": .request { $0.apiVersion = "v2" },
        "redirects": .request { $0.redirects = .refuse },
        "credential": .request { $0.credential = .bearer("a") },
        "usesCredentials": .request { $0.usesCredentials = false },

        "responseBodyLimit": .transfer { $0.responseBodyLimit = 1 },
        "acceptedTypes": .transfer { $0.acceptedTypes = "text/plain" },
        "networkAccess": .transfer { $0.networkAccess.allowsCellular = false },
        "session": .transfer { $0.session = "a" }, "allowsAnonymous": .transfer { $0.allowsAnonymous = true },
        "packedConnectTimeout": .transfer { $0.connectTimeout = .seconds(1) },
        "packedIdleTimeout": .transfer { $0.idleTimeout = .seconds(1) },
        "priority": .transfer { $0.priority = .high }, "outlivesLogout": .transfer { $0.outlivesLogout = true },

        "modifier": .byHand { $0.modifier = { _ in } },
        "prebuiltRequest": .byHand { call in call.prebuiltRequest = url.map { HTTPRequest(url: $0) } },
        "settings": .byHand { $0.interceptors = [.adapting { _, _ in }] },

        // The cache encodes the body, and a call with a body does not coalesce.
        "body": .none, "throttle": .none,
        // The cache applies the rule, and a call with a rule or a stub does not coalesce.
        "urlRule": .none, "stubResponse": .none,
        // The response is the same, and a transfer has the deadline of its last request.
        "packedTimeout": .none, "packedCacheLifetime": .none, "traffic": .none,
        // A call that coalesces or is stored has no effect on the server, so these do not affect it.
        "idempotencyKey": .none, "mayBeRepeated": .none, "allowsUnusualBody": .none,
        // Only calls whose body is delivered as a whole coalesce or are stored.
        "delivery": .none,
        // Coalescing checks these itself, together with the owner and the version of the credential.
        "tags": .none, "attachments": .none, "callOwner": .none, "authorization": .none,
        "confirmation": .none, "sharing": .none,
        // Only a part of an upload has it, which neither coalesces nor is stored.
        "continuesAtServer": .none,
        // These contain other properties.
        "parts": .none, "rare": .none,
    ]

    /// The names of the stored properties.
    ///
    /// A configuration hides its properties from mirrors, so the names of its own properties are read from its source.
    private static func properties() throws -> Set<String> {
        let parts = [Mirror(reflecting: APIConfiguration().parts.value), Mirror(reflecting: RareConfiguration())]
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appendingPathComponent("Sources/SwitchyardClient/Requests/APIConfiguration.swift")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let own = lines.filter { !$0.contains("{") }.compactMap { line in
            line.firstMatch(of: /^    (?:[\w@()]+ )*var (\w+)/).map { String($0.1) }
        }
        return Set(parts.flatMap { $0.children.compactMap(\.label) } + own)
    }

    private static func text(_ shared: RequestIdentity.Shared, _ change: Change = { _ in }) -> String? {
        var call = APIConfiguration(path: "list")
        change(&call)
        return RequestIdentity(of: call, for: shared)?.text
    }

    @Test func `the test of request identity covers every stored property of a configuration`() throws {
        #expect(try Self.properties() == Set(Self.roles.keys))
    }

    @Test(arguments: roles.keys.sorted())
    func `a changed property of a call separates responses and transfers as expected for that property`(
        _ property: String
    ) throws {
        let (response, transfer) = (Self.text(.response), Self.text(.transfer))
        switch try #require(Self.roles[property]) {
        case .request(let change):
            #expect(Self.text(.response, change) != response)
            #expect(Self.text(.transfer, change) != transfer)
        case .transfer(let change):
            #expect(Self.text(.response, change) == response)
            #expect(Self.text(.transfer, change) != transfer)
        case .byHand(let change):
            #expect(Self.text(.response, change) == nil)
            #expect(Self.text(.transfer, change) == nil)
        case .none: break
        }
    }

    @Test(arguments: roles.keys.sorted())
    func `if a property of two calls prevents a shared transfer, it also prevents a shared cache fetch`(
        _ property: String
    ) throws {
        guard case .transfer(let change) = try #require(Self.roles[property]) else { return }
        var call = APIConfiguration(path: "list")
        #expect(RequestIdentity.fetchOptions(of: call).isEmpty)

        change(&call)

        #expect(!RequestIdentity.fetchOptions(of: call).isEmpty)
    }

    @Test func `calls with different retries, limits or interceptors share no cache fetch`() {
        let limits = [ConcurrencyLimit(total: 2), ConcurrencyLimit(total: 2)]
        let changes: [Change] = [
            { _ in }, { $0.retry = .never }, { $0.retry = .standard }, { $0.limits = [limits[0]] },
            { $0.limits = [limits[1]] }, { $0.interceptors = [.retrying { _ in .undecided }] },
        ]
        let texts = (changes + changes).map { change in
            var call = APIConfiguration(path: "list")
            change(&call)
            return RequestIdentity.fetchOptions(of: call)
        }

        #expect(Set(texts).count == changes.count)
    }

    @Test func `calls with different query parameters never have the same identity`() {
        let queries: [Parameters] = [["a": "1", "b": "2"], ["a": "1b2"], ["a1": "b2"], ["a": "1"], [:]]

        #expect(Set(queries.map { query in Self.text(.response) { $0.query = query } }).count == queries.count)
    }
}
