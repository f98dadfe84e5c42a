import Foundation
import SwitchyardServices
import Testing

@Suite struct ServiceDecodingTests {
    @Test(arguments: Mistake.all)
    func `each mistake in a file is an error that names the file, the key and the expected value`(mistake: Mistake)
        throws
    {
        let error = #expect(throws: CatalogError.self) {
            try ServiceCatalog.service(from: Data(mistake.json.utf8), named: "topics")
        }

        #expect(error?.kind == mistake.kind)
        #expect(error?.keyPath == mistake.keyPath)
        #expect(error?.file == "topics.json")
        #expect(error?.expected.isEmpty == false)
    }

    @Test func `an error message about a service file is one line whatever the file contains`() {
        let error = CatalogError(.invalidValue, file: "a.json", at: "x\r\ny", expected: "a", found: "one\ntwo\u{2028}")

        #expect(error.description == "a.json: x y: expected a, found one two ")
    }

    @Test func `an error message about a service file starts with the file name`() throws {
        let error = #expect(throws: CatalogError.self) {
            try ServiceCatalog.service(from: Data(Mistake.file(urls: #"{"test": "ftp://a"}"#).utf8), named: "topics")
        }

        let expected = "expected a URL with the scheme http or https, found ftp://a"
        #expect(error?.description == "topics.json: servers[0].baseURLs.test: \(expected)")
    }

    @Test(arguments: [
        (#"{"errorRatio": 1.5}"#, "1.5"), (#"{"minimumRequests": 0}"#, "0"), (#"{"maximumAttempts": -2}"#, "-2"),
        (#"{"overprovisioning": 5e-1}"#, "5e-1"), (#"{"hedging": {"factor": -1}}"#, "-1"),
        (#"{"admission": {"floor": 2}}"#, "2"), (#"{"window": 1e30}"#, "1e30"), (#"{"latencyWindow": -1}"#, "-1.0"),
    ])
    func `an error message about a number that is out of range contains the number`(switching: String, found: String)
        throws
    {
        let json = Mistake.file(switching: switching)

        let error = #expect(throws: CatalogError.self) {
            try ServiceCatalog.service(from: Data(json.utf8), named: "topics")
        }

        #expect(error?.found == found)
    }

    @Test(arguments: ["http://joe:pw@a/v1", "ftp://joe:pw@a", "//joe:p/w@a", "http://joe:pw@", #"http://joe:p\nw@a"#])
    func `an error message about a service file contains no password`(url: String) throws {
        let error = #expect(throws: CatalogError.self) {
            try ServiceCatalog.service(from: Data(Mistake.file(urls: #"{"test": "\#(url)"}"#).utf8), named: "topics")
        }

        #expect(error?.found?.contains("***@") == true)
        #expect(error?.found?.contains("joe") == false)
    }

    @Test(arguments: ["http://a/v1?key=joe", "http://a/v1#joe"])
    func `an error message about a service file contains no query`(url: String) throws {
        let error = #expect(throws: CatalogError.self) {
            try ServiceCatalog.service(from: Data(Mistake.file(urls: #"{"test": "\#(url)"}"#).utf8), named: "topics")
        }

        #expect(error?.found?.hasPrefix("http://a/v1") == true)
        #expect(error?.found?.contains("joe") == false)
    }

    @Test func `every key of the switching object is read`() throws {
        let json = Mistake.file(
            switching: """
                {"policy": "recommended", "errorRatio": 0.2, "minimumRequests": 20, "window": 30, "windowRequests": 50,
                 "selection": "weighted", "overprovisioning": 2, "latencyWindow": 0.05, "failsBack": false, "failsOver": false, "hedging": false,
                 "admission": false, "perEndpoint": false, "tooManyRequests": "overload",
                 "maximumAttempts": 2, "minimumInterval": 3, "firstProbe": 90}
                """
        )

        let policy = try ServiceCatalog.service(from: Data(json.utf8), named: "topics").switching

        var expected = SwitchPolicy.recommended
        expected.detection.ratio?.threshold = 0.2
        expected.detection.ratio?.minimum = 20
        expected.detection.window = SwitchPolicy.Window(count: 50, duration: .seconds(30))
        expected.selection = .weighted
        expected.overprovisioning = 2
        expected.latencyWindow = .milliseconds(50)
        expected.failsBack = false
        expected.failsOver = false
        expected.hedging = nil
        expected.admission = nil
        expected.detection.perEndpoint = false
        expected.tooManyRequests = .overload
        expected.maximumAttempts = 2
        expected.minimumInterval = .seconds(3)
        expected.recovery.firstProbe = .seconds(90)
        expected.recovery.longestProbe = .seconds(90)
        #expect(policy == expected)
    }

    @Test func `every key of hedging and admission is read`() throws {
        let json = Mistake.file(
            switching: """
                {"hedging": {"shortest": 0.2, "unknown": 0.3, "factor": 2, "deadlineShare": 0.5, "suspicionRounds": 3},
                 "admission": {"sheds": "normal", "mostShed": 0.5, "floor": 0.2, "step": 0.1, "overloadCut": 0.6,
                  "timeoutCut": 0.7, "forgetting": 60, "doubling": 30, "clean": 10, "longestRetryAfter": 20,
                  "sparesOverloaded": false}}
                """
        )

        let policy = try ServiceCatalog.service(from: Data(json.utf8), named: "topics").switching

        var expected = SwitchPolicy.recommended
        expected.hedging = HedgingRules()
        expected.hedging?.shortest = .milliseconds(200)
        expected.hedging?.unknown = .milliseconds(300)
        expected.hedging?.factor = 2
        expected.hedging?.deadlineShare = 0.5
        expected.hedging?.suspicionRounds = 3
        expected.admission = AdmissionRules()
        expected.admission?.sheds = .normal
        expected.admission?.mostShed = 0.5
        expected.admission?.floor = 0.2
        expected.admission?.step = 0.1
        expected.admission?.overloadCut = 0.6
        expected.admission?.timeoutCut = 0.7
        expected.admission?.forgetting = .seconds(60)
        expected.admission?.doubling = .seconds(30)
        expected.admission?.clean = .seconds(10)
        expected.admission?.longestRetryAfter = .seconds(20)
        expected.admission?.sparesOverloaded = false
        #expect(policy == expected)
    }

    @Test(arguments: [
        (#"{"admission": {"sheds": "high"}}"#, "switching.admission.sheds"),
        (#"{"admission": {"floor": 0}}"#, "switching.admission.floor"),
        (#"{"admission": {"roof": 1}}"#, "switching.admission.roof"), (#"{"admission": 1}"#, "switching.admission"),
        (#"{"hedging": {"deadlineShare": 2}}"#, "switching.hedging.deadlineShare"),
        (#"{"hedging": "often"}"#, "switching.hedging"), (#"{"tooManyRequests": "?"}"#, "switching.tooManyRequests"),
        (#"{"perEndpoint": 1}"#, "switching.perEndpoint"), (#"{"firstProbe": 1e999}"#, "switching.firstProbe"),
    ])
    func `the error for an invalid switching rule names its key`(switching: String, place: String) throws {
        let error = #expect(throws: CatalogError.self) {
            try ServiceCatalog.service(from: Data(Mistake.file(switching: switching).utf8), named: "topics")
        }

        #expect(error?.keyPath == place)
    }

    @Test func `the key admission.sheds sets the highest priority of the requests that are dropped, or none`()
        throws
    {
        let priorities: [(String, RequestPriority?)] = [("none", nil), ("low", .low), ("normal", .normal)]
        for (text, priority) in priorities {
            let json = Mistake.file(switching: #"{"admission": {"sheds": "\#(text)"}}"#)

            let policy = try ServiceCatalog.service(from: Data(json.utf8), named: "topics").switching

            #expect(policy.admission?.sheds == priority)
        }
    }

    @Test(arguments: ServiceFormat.policies)
    func `every switching policy can be chosen by its name in a service file`(name: String) throws {
        let json = Mistake.file(switching: #"{"policy": "\#(name)"}"#)

        #expect(try ServiceCatalog.service(from: Data(json.utf8), named: "topics").switching.name == name)
    }

    @Test(arguments: [
        ("{\n", "topics.json: expected a key in quotes, not the end of the file, at line 2"),
        ("{\"a\": 1,\n\n\"a\": 2}", "topics.json: a: expected each key only once, at line 3"),
        ("[1 2]", "topics.json: expected a comma or ], at line 1"),
        (String(repeating: "[", count: 33), "topics.json: expected at most 32 levels of nesting, at line 1"),
    ])
    func `the error for a syntax error in a service file names its line`(_ json: String, _ text: String) {
        let error = #expect(throws: CatalogError.self) {
            try ServiceCatalog.service(from: Data(json.utf8), named: "topics")
        }

        #expect(error?.description == text)
    }

    @Test func `a service file that is truncated anywhere is an error and never crashes`() throws {
        let whole = Array(Mistake.file(switching: #"{"policy": "off"}"#).utf8)
        for length in whole.indices {
            #expect(throws: CatalogError.self) {
                try ServiceCatalog.service(from: Data(whole[..<length]), named: "topics")
            }
        }
    }

    @Test func `random damage to a service file never causes a crash`() {
        var random = SystemRandomNumberGenerator()
        let whole = Array(Mistake.file().utf8)
        for _ in 0..<500 {
            var damaged = whole
            for _ in 0..<3 { damaged[Int.random(in: damaged.indices, using: &random)] = .random(in: 0...255) }
            _ = try? ServiceCatalog.service(from: Data(damaged), named: "topics")
        }
    }

    @Test func `JSON with a thousand levels of nesting is an error`() {
        let json = String(repeating: "[", count: 1000)

        #expect(throws: CatalogError.self) { try ServiceCatalog.service(from: Data(json.utf8), named: "topics") }
    }
}

/// A service file with one mistake.
struct Mistake: Sendable, CustomTestStringConvertible {
    var name: String
    var json: String
    var kind: CatalogError.Kind
    var keyPath: String

    var testDescription: String { name }

    static func file(
        service: String = #""topics""#,
        environment: String = #""test""#,
        urls: String = #"{"test": "http://a/v1"}"#,
        server: String = "",
        servers: String? = nil,
        switching: String? = nil,
        top: String = ""
    ) -> String {
        let list = servers ?? #"[{"name": "a", "baseURLs": \#(urls)\#(server)}]"#
        let rest = (switching.map { #", "switching": \#($0)"# } ?? "") + top
        return #"{"service": \#(service), "defaultEnvironment": \#(environment), "servers": \#(list)\#(rest)}"#
    }

    static let all: [Mistake] = structure + servers + switching

    private static let structure = [
        Mistake(name: "empty", json: "", kind: .emptyFile, keyPath: ""),
        Mistake(name: "blank", json: " \n", kind: .emptyFile, keyPath: ""),
        Mistake(name: "not JSON", json: "services:", kind: .malformed, keyPath: ""),
        Mistake(name: "more after the end", json: file() + "x", kind: .malformed, keyPath: ""),
        Mistake(name: "not an object", json: "[]", kind: .wrongType, keyPath: ""),
        Mistake(name: "duplicate key", json: file(top: #", "servers": []"#), kind: .duplicateKey, keyPath: "servers"),
        Mistake(name: "unknown key", json: file(top: #", "colour": 1"#), kind: .unknownKey, keyPath: "colour"),
        Mistake(name: "missing key", json: #"{"service": "topics"}"#, kind: .missingKey, keyPath: "defaultEnvironment"),
        Mistake(name: "wrong name", json: file(service: #""users""#), kind: .nameMismatch, keyPath: "service"),
        Mistake(name: "number for name", json: file(service: "1"), kind: .wrongType, keyPath: "service"),
        Mistake(
            name: "TAF-S20 unknown default",
            json: file(environment: #""live""#),
            kind: .missingEnvironment,
            keyPath: "defaultEnvironment"
        ),
    ]

    private static let servers = [
        Mistake(name: "no server", json: file(servers: "[]"), kind: .noServers, keyPath: "servers"),
        Mistake(name: "servers no list", json: file(servers: "{}"), kind: .wrongType, keyPath: "servers"),
        Mistake(name: "server no object", json: file(servers: "[1]"), kind: .wrongType, keyPath: "servers[0]"),
        Mistake(
            name: "two of one name",
            json: file(
                servers:
                    #"[{"name": "a", "baseURLs": {"test": "http://a"}}, {"name": "a", "baseURLs": {"test": "http://b"}}]"#
            ),
            kind: .duplicateServer,
            keyPath: "servers[1].name"
        ),
        Mistake(
            name: "TAF-S21 default environment in no server",
            json: file(
                environment: #""develop""#,
                servers:
                    #"[{"name": "a", "baseURLs": {"test": "http://a"}}, {"name": "b", "baseURLs": {"release": "http://b"}}]"#
            ),
            kind: .missingEnvironment,
            keyPath: "defaultEnvironment"
        ),
        Mistake(
            name: "a server in no environment",
            json: file(servers: #"[{"name": "a", "baseURLs": {"test": "http://a"}}, {"name": "b", "baseURLs": {}}]"#),
            kind: .missingEnvironment,
            keyPath: "servers[1].baseURLs"
        ),
        Mistake(
            name: "no environment",
            json: file(urls: "{}"),
            kind: .missingEnvironment,
            keyPath: "servers[0].baseURLs"
        ),
        Mistake(
            name: "TAF-S12 no scheme",
            json: file(urls: #"{"test": "a.example.com"}"#),
            kind: .invalidURL,
            keyPath: "servers[0].baseURLs.test"
        ),
        Mistake(
            name: "no host",
            json: file(urls: #"{"test": "http:///v1"}"#),
            kind: .invalidURL,
            keyPath: "servers[0].baseURLs.test"
        ),
        Mistake(
            name: "URL no string",
            json: file(urls: #"{"test": 1}"#),
            kind: .wrongType,
            keyPath: "servers[0].baseURLs.test"
        ),
        Mistake(
            name: "unknown key of a server",
            json: file(server: #", "port": 80"#),
            kind: .unknownKey,
            keyPath: "servers[0].port"
        ),
        Mistake(
            name: "negative weight",
            json: file(server: #", "weight": -1"#),
            kind: .invalidValue,
            keyPath: "servers[0].weight"
        ),
        Mistake(
            name: "CDN of an unknown environment",
            json: file(server: #", "cdnURLs": {"live": "http://c"}"#),
            kind: .missingEnvironment,
            keyPath: "servers[0].cdnURLs.live"
        ),
        Mistake(
            name: "empty server name",
            json: file(servers: #"[{"name": "", "baseURLs": {"test": "http://a"}}]"#),
            kind: .invalidValue,
            keyPath: "servers[0].name"
        ),
    ]

    private static let switching = [
        rule(#"{"policy": "best"}"#, .invalidValue, "policy"),
        rule(#"{"errorRatio": 1.1}"#, .invalidValue, "errorRatio"),
        rule(#"{"errorRatio": -0.1}"#, .invalidValue, "errorRatio"),
        rule(#"{"errorRatio": "10 %"}"#, .wrongType, "errorRatio"),
        rule(#"{"minimumRequests": 0}"#, .invalidValue, "minimumRequests"),
        rule(#"{"minimumRequests": 2.5}"#, .wrongType, "minimumRequests"),
        rule(#"{"minimumRequests": 500}"#, .invalidValue, "minimumRequests"),
        rule(#"{"minimumRequests": 50, "windowRequests": 20}"#, .invalidValue, "minimumRequests"),
        rule(#"{"window": 0}"#, .invalidValue, "window"),
        rule(#"{"window": -60}"#, .invalidValue, "window"),
        rule(#"{"windowRequests": 0}"#, .invalidValue, "windowRequests"),
        rule(#"{"windowRequests": 20}"#, .invalidValue, "windowRequests"),
        rule(#"{"policy": "consecutiveFailures", "consecutiveFailures": 0}"#, .invalidValue, "consecutiveFailures"),
        rule(#"{"consecutiveFailures": 5}"#, .invalidValue, "consecutiveFailures"),
        rule(#"{"policy": "off", "errorRatio": 0.1}"#, .invalidValue, "errorRatio"),
        rule(#"{"selection": "random"}"#, .invalidValue, "selection"),
        rule(#"{"hedging": 1}"#, .wrongType, "hedging"),
        rule(#"{"overprovisioning": 0.9}"#, .invalidValue, "overprovisioning"),
        rule(#"{"latencyWindow": -1}"#, .invalidValue, "latencyWindow"),
        rule(#"{"maximumAttempts": 0}"#, .invalidValue, "maximumAttempts"),
        rule(#"{"firstProbe": -1}"#, .invalidValue, "firstProbe"),
        rule(#"{"cooldown": 1}"#, .unknownKey, "cooldown"),
    ]

    private static func rule(_ object: String, _ kind: CatalogError.Kind, _ key: String) -> Mistake {
        Mistake(name: object, json: file(switching: object), kind: kind, keyPath: "switching.\(key)")
    }
}
