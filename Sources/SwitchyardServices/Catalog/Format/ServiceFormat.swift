/// The format of service files: every key with its type, unit and default.
///
/// | key | type | unit | default | meaning |
/// |---|---|---|---|---|
/// | `service` | string | | required | the name, equal to the file's name |
/// | `defaultEnvironment` | string | | required | the environment that a client starts in |
/// | `servers` | array | | required | the servers, the preferred one first |
/// | `servers[].name` | string | | required | the name, unique in the file |
/// | `servers[].baseURLs` | object | URL by environment | required | http or https, with a host |
/// | `servers[].cdnURLs` | object | URL by environment | none | base URLs of the CDN |
/// | `servers[].weight` | number | | 1 | the share of traffic relative to the others |
/// | `switching` | object | | recommended | when to switch |
/// | `switching.policy` | string | | `recommended` | one of ``policies`` |
/// | `switching.errorRatio` | number | 0...1 | 0.1 | failures per finished request |
/// | `switching.minimumRequests` | integer | requests | 40 | finished requests that it takes at least |
/// | `switching.window` | number | seconds | 60 | the age up to which outcomes count |
/// | `switching.windowRequests` | integer | requests | 100, or `minimumRequests` | how many outcomes count, at most 400 |
/// | `switching.consecutiveFailures` | integer | failures | 5 | only with the policy of that name |
/// | `switching.selection` | string | | `priority` | one of ``SelectionStrategy`` |
/// | `switching.failsBack` | boolean | | by policy | whether a recovered server gets its traffic back |
/// | `switching.failsOver` | boolean | | by policy | whether a failed request is repeated elsewhere |
/// | `switching.hedging` | boolean | | by policy | whether a slow request is sent a second time |
/// | `switching.warmUp` | boolean | | by policy | whether the first fallback is asked something every 5 minutes |
/// | `switching.maximumAttempts` | integer | attempts | 3 | the most attempts of one request |
/// | `switching.minimumInterval` | number | seconds | 0 | the least time between two automatic switches |
/// | `switching.firstProbe` | number | seconds | 1 | from the first ejection to the first probe |
public enum ServiceFormat {
    /// One key of the format.
    public struct Key: Sendable, Hashable {
        /// Where it stands, such as `servers[].name`.
        public let path: String
        /// Its type and range, in words, as messages name it.
        public let type: String
        /// Its unit; empty without one.
        public let unit: String
        /// Its default; `nil` if the key is required.
        public let defaultValue: String?
        /// What it means.
        public let meaning: String
    }

    /// The names of the policies that a file can choose.
    public static let policies = ["recommended", "single", "published", "errorRatio", "consecutiveFailures", "off"]

    /// Every key, in the order of the table above.
    public static let keys: [Key] = [
        Key("service", "a string", required: "the name, equal to the file's name"),
        Key("defaultEnvironment", "a string", required: "the environment that a client starts in"),
        Key("servers", "an array", required: "the servers, the preferred one first"),
        Key("servers[].name", "a string", required: "the name, unique in the file"),
        Key("servers[].baseURLs", "an object", "URL by environment", required: "http or https, with a host"),
        Key("servers[].cdnURLs", "an object", "URL by environment", "none", "base URLs of the CDN"),
        Key("servers[].weight", "a number of at least 0", "", "1", "the share of traffic relative to the others"),
        Key("switching", "an object", "", "the recommended policy", "when to switch"),
        Key(
            "switching.policy",
            "one of \(policies.joined(separator: ", "))",
            "",
            "recommended",
            "the rules to start from"
        ),
        Key("switching.errorRatio", "a number within 0...1", "", "0.1", "failures per finished request"),
        Key(
            "switching.minimumRequests",
            "an integer within 1...400",
            "requests",
            "40",
            "finished requests it takes at least"
        ),
        Key("switching.window", "a number above 0", "seconds", "60", "the age up to which outcomes count"),
        Key("switching.windowRequests", "an integer within 1...400", "requests", "100", "how many outcomes count"),
        Key(
            "switching.consecutiveFailures",
            "an integer of at least 1",
            "failures",
            "5",
            "only with the policy of that name"
        ),
        Key("switching.selection", "one of \(strategies)", "", "priority", "in which order usable servers are asked"),
        Key(
            "switching.failsBack",
            "true or false",
            "",
            "by policy",
            "whether a recovered server gets its traffic back"
        ),
        Key("switching.failsOver", "true or false", "", "by policy", "whether a failed request is repeated elsewhere"),
        Key("switching.hedging", "true or false", "", "by policy", "whether a slow request is sent a second time"),
        Key(
            "switching.warmUp",
            "true or false",
            "",
            "by policy",
            "whether the first fallback is asked something every 5 minutes"
        ),
        Key(
            "switching.maximumAttempts",
            "an integer of at least 1",
            "attempts",
            "3",
            "the most attempts of one request"
        ),
        Key(
            "switching.minimumInterval",
            "a number of at least 0",
            "seconds",
            "0",
            "the least time between two automatic switches"
        ),
        Key(
            "switching.firstProbe",
            "a number of at least 0",
            "seconds",
            "1",
            "from the first ejection to the first probe"
        ),
    ]

    private static var strategies: String { SelectionStrategy.allCases.map(\.rawValue).joined(separator: ", ") }

    /// The keys that an object may have, by the path of the object; empty for the file itself.
    static func names(in object: String) -> [String] {
        let prefix = object.isEmpty ? "" : "\(object)."
        return keys.compactMap { key in
            guard key.path.hasPrefix(prefix) else { return nil }
            let name = key.path.dropFirst(prefix.count)
            return name.contains { $0 == "." || $0 == "[" } ? nil : String(name)
        }
    }

    /// What is expected at a path, in words.
    static func type(of path: String) -> String {
        keys.first { $0.path == path }?.type ?? "nothing"
    }
}

extension ServiceFormat.Key {
    fileprivate init(_ path: String, _ type: String, _ unit: String, _ defaultValue: String, _ meaning: String) {
        self.init(path: path, type: type, unit: unit, defaultValue: defaultValue, meaning: meaning)
    }

    fileprivate init(_ path: String, _ type: String, _ unit: String = "", required meaning: String) {
        self.init(path: path, type: type, unit: unit, defaultValue: nil, meaning: meaning)
    }
}
