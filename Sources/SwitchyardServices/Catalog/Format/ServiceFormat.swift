/// The format of service files: every key with its type, unit and default.
///
/// | key | type | unit | default | meaning |
/// |---|---|---|---|---|
/// | `service` | string | | required | the name, equal to the file's name without `.json` |
/// | `defaultEnvironment` | string | | required | the environment that a client starts in |
/// | `servers` | array | | required | the servers in order of preference |
/// | `servers[].name` | string | | required | the name, unique in the file |
/// | `servers[].baseURLs` | object | one URL for each environment in which the server is used | required | http or https, with a host |
/// | `servers[].cdnURLs` | object | URL by environment | none | base URLs of the CDN |
/// | `servers[].weight` | number | | 1 | the share of traffic relative to the other servers |
/// | `servers[].serves` | string or array | | `everything` | `everything`, `reads`, or patterns of requests |
/// | `servers[].rewrites` | object | path of the server for a path of the service | none | paths that differ |
/// | `servers[].priority` | integer | | the order of the list | the rank of the server, 1 is the first |
/// | `servers[].zone` | string | | none | the zone of the server |
/// | `switching` | object | | recommended | the switching policy |
/// | `switching.policy` | string | | `recommended` | one of ``policies`` |
/// | `switching.errorRatio` | number | 0...1 | 0.1 | failures per finished request |
/// | `switching.minimumRequests` | integer | requests | 40 | minimum number of finished requests |
/// | `switching.window` | number | seconds | 60 | maximum age of the outcomes that count |
/// | `switching.windowRequests` | integer | requests | 100, or `minimumRequests` | number of outcomes, at most 400 |
/// | `switching.consecutiveFailures` | integer | failures | 5 | only with the policy `consecutiveFailures` |
/// | `switching.selection` | string | | `priority` | one of ``SelectionStrategy`` |
/// | `switching.overprovisioning` | number | | 1.4 | the factor for the health of a group of equal priority |
/// | `switching.latencyWindow` | number | seconds | 0.015 | the maximum excess over the fastest server's mean latency |
/// | `switching.failsBack` | boolean | | by policy | whether a recovered server gets its traffic back |
/// | `switching.failsOver` | boolean | | by policy | whether a failed request is sent to another server |
/// | `switching.perEndpoint` | boolean | | by policy | whether failures that other servers share are ignored |
/// | `switching.tooManyRequests` | string | | `quota` | meaning of status 429: `quota` or server `overload` |
/// | `switching.hedging` | boolean or object | | by policy | whether a slow request is sent a second time |
/// | `switching.hedging.shortest` | number | seconds | 0.1 | the minimum wait, unless latencies are known to be shorter |
/// | `switching.hedging.earliest` | number | seconds | 0.01 | the minimum wait after 64 known latencies |
/// | `switching.hedging.unknown` | number | seconds | 0.25 | the minimum wait while fewer than 8 responses are known |
/// | `switching.hedging.factor` | number | | 1.3 | the wait as a multiple of the 90th percentile |
/// | `switching.hedging.deadlineShare` | number | 0...1 | 0.4 | the maximum wait as a share of the time left |
/// | `switching.hedging.suspicionRounds` | integer | pairs | 8 | the maximum number of failed suspicion probe pairs in a row |
/// | `switching.admission` | boolean or object | | by policy | whether an overloaded server gets less traffic |
/// | `switching.admission.sheds` | string | | `low` | the highest priority that is not sent during overload: `none`, `low`, `normal` |
/// | `switching.admission.mostShed` | number | 0...1 | 0.7 | the maximum share of normal-priority requests that are shed |
/// | `switching.admission.floor` | number | 0...1 | 0.1 | the minimum share of its traffic that a server keeps |
/// | `switching.admission.step` | number | 0...1 | 0.02 | the increase of the share of traffic per success |
/// | `switching.admission.overloadCut` | number | 0...1 | 0.5 | the factor for the share of traffic on a 503 |
/// | `switching.admission.timeoutCut` | number | 0...1 | 0.25 | the factor for the share of traffic on a timeout |
/// | `switching.admission.forgetting` | number | seconds | 120 | the time after which overload is forgotten |
/// | `switching.admission.doubling` | number | seconds | 60 | the time in which a share doubles without success |
/// | `switching.admission.clean` | number | seconds | 30 | the time without extra attempts after overload |
/// | `switching.admission.longestRetryAfter` | number | seconds | 60 | the maximum Retry-After that is honored |
/// | `switching.admission.sparesOverloaded` | boolean | | true | whether no server is ejected if all are overloaded |
/// | `switching.warmUp` | boolean | | by policy | whether the first fallback is sent a request every 5 minutes |
/// | `switching.maximumAttempts` | integer | attempts | 3 | the maximum number of attempts per request |
/// | `switching.minimumInterval` | number | seconds | 0 | the minimum time between two automatic switches |
/// | `switching.firstProbe` | number | seconds | 1 | the time from the first ejection to the first probe |
package enum ServiceFormat {
    /// One key of the format.
    package struct Key: Sendable, Hashable {
        /// The path of the key, such as `servers[].name`.
        package let path: String
        /// The type and range of the value, as error messages name them.
        package let type: String
        /// The unit of the value; empty if it has none.
        package let unit: String
        /// The default value, or `nil` if the key is required.
        package let defaultValue: String?
        /// The meaning of the key.
        package let meaning: String
    }

    /// The names of the policies that a file can select.
    package static let policies = ["recommended", "single", "published", "errorRatio", "consecutiveFailures", "off"]

    /// Every key, in the order of the table above.
    package static let keys: [Key] =
        [
            Key("service", "a string", required: "the name, equal to the file's name without .json"),
            Key("defaultEnvironment", "a string", required: "the environment that a client starts in"),
            Key("servers", "an array", required: "the servers in order of preference"),
            Key("servers[].name", "a string", required: "the name, unique in the file"),
            Key(
                "servers[].baseURLs",
                "an object",
                "one URL for each environment in which the server is used",
                required: "the base URLs, with http or https and a host"
            ),
            Key("servers[].cdnURLs", "an object", "URL by environment", "none", "base URLs of the CDN"),
            Key("servers[].weight", "a number of at least 0", "", "1", "the share of traffic, relative to others"),
        ] + roles + [
            Key("switching", "an object", "", "the recommended policy", "when to switch"),
            Key(
                "switching.policy",
                "one of \(policies.joined(separator: ", "))",
                "",
                "recommended",
                "the policy whose rules apply by default"
            ),
            Key(
                "switching.errorRatio",
                "a number within 0...1",
                "",
                "0.1",
                "failures per finished request that eject a server"
            ),
            Key(
                "switching.minimumRequests",
                "an integer within 1...400",
                "requests",
                "40",
                "the minimum number of finished requests before errorRatio applies"
            ),
            Key("switching.window", "a number above 0", "seconds", "60", "the maximum age of outcomes that count"),
            Key(
                "switching.windowRequests",
                "an integer within 1...400",
                "requests",
                "100",
                "how many outcomes count at most; only the newest count"
            ),
            Key(
                "switching.consecutiveFailures",
                "an integer of at least 1",
                "failures",
                "5",
                "the failures in a row that eject a server, only with the policy consecutiveFailures"
            ),
            Key(
                "switching.selection",
                "one of \(strategies)",
                "",
                "priority",
                "the order in which usable servers are chosen"
            ),
            Key(
                "switching.overprovisioning",
                "a number of at least 1",
                "",
                "1.4",
                "the factor by which the health of a group of equal priority is multiplied"
            ),
            Key(
                "switching.latencyWindow",
                "a number of at least 0",
                "seconds",
                "0.015",
                "for lowestLatency: the maximum difference from the latency of the fastest server"
            ),
            Key(
                "switching.failsBack",
                "true or false",
                "",
                "by policy",
                "whether a recovered server gets its traffic back"
            ),
            Key(
                "switching.failsOver",
                "true or false",
                "",
                "by policy",
                "whether a failed request is sent to another server"
            ),
            Key(
                "switching.perEndpoint",
                "true or false",
                "",
                "by policy",
                "whether failures that other servers share are ignored"
            ),
            Key("switching.tooManyRequests", "one of quota, overload", "", "quota", "the meaning of status 429"),
            Key(
                "switching.hedging",
                "true, false or an object",
                "",
                "by policy",
                "whether a slow request is sent a second time"
            ),
        ] + hedging + [
            Key(
                "switching.admission",
                "true, false or an object",
                "",
                "by policy",
                "whether an overloaded server gets less traffic"
            )
        ] + admission + [
            Key(
                "switching.warmUp",
                "true or false",
                "",
                "by policy",
                "whether the first fallback is sent a request every 5 minutes"
            ),
            Key(
                "switching.maximumAttempts",
                "an integer of at least 1",
                "attempts",
                "3",
                "the maximum number of attempts per request"
            ),
            Key(
                "switching.minimumInterval",
                "a number of at least 0",
                "seconds",
                "0",
                "the minimum time between two automatic switches"
            ),
            Key(
                "switching.firstProbe",
                "a number of at least 0",
                "seconds",
                "1",
                "the time from the first ejection to the first probe"
            ),
        ]

    private static let roles = details(
        of: "servers[]",
        [
            (
                "serves", "\"everything\", \"reads\" or an array of patterns", "", "everything",
                "the requests that the server serves"
            ),
            ("rewrites", "an object", "path of the server by path of the service", "none", "the paths that differ"),
            (
                "priority", "an integer of at least 1", "", "the order of the list",
                "the rank of the server; 1 is the first"
            ),
            ("zone", "a string", "", "none", "the zone of the server"),
        ]
    )

    private static let hedging = details(
        of: "switching.hedging",
        [
            (
                "shortest", "a number of at least 0", "seconds", "0.1",
                "the minimum wait before a hedge, unless latencies are known to be shorter"
            ),
            (
                "earliest", "a number of at least 0", "seconds", "0.01",
                "the minimum wait before a hedge after 64 known latencies"
            ),
            (
                "unknown", "a number of at least 0", "seconds", "0.25",
                "the minimum wait before a hedge while fewer than 8 responses are known"
            ),
            (
                "factor", "a number of at least 0", "", "1.3",
                "the wait before a hedge as a multiple of the 90th percentile of the latencies"
            ),
            (
                "deadlineShare", "a number within 0...1", "", "0.4",
                "the maximum wait before a hedge as a share of the time until the deadline"
            ),
            (
                "suspicionRounds", "an integer within 0...100", "pairs", "8",
                "the maximum number of failed pairs of suspicion probes in a row"
            ),
        ]
    )

    private static let admission = details(
        of: "switching.admission",
        [
            (
                "sheds", "one of none, low, normal", "", "low",
                "the highest priority that is not sent during overload"
            ),
            (
                "mostShed", "a number within 0...1", "", "0.7",
                "the maximum share of normal-priority requests that are shed"
            ),
            (
                "floor", "a number above 0 and at most 1", "", "0.1",
                "the minimum share of its traffic that a server keeps"
            ),
            ("step", "a number within 0...1", "", "0.02", "the increase of the share of traffic per success"),
            (
                "overloadCut", "a number above 0 and at most 1", "", "0.5",
                "the factor for the share of traffic after a 503"
            ),
            (
                "timeoutCut", "a number above 0 and at most 1", "", "0.25",
                "the factor for the share of traffic after a timeout"
            ),
            ("forgetting", "a number of at least 0", "seconds", "120", "the time after which overload is forgotten"),
            (
                "doubling", "a number above 0", "seconds", "60",
                "the time in which a reduced share of traffic doubles even without successes"
            ),
            ("clean", "a number of at least 0", "seconds", "30", "the time without extra attempts after overload"),
            ("longestRetryAfter", "a number of at least 0", "seconds", "60", "the maximum Retry-After that is honored"),
            ("sparesOverloaded", "true or false", "", "true", "whether no server is ejected if all are overloaded"),
        ]
    )

    private static func details(of path: String, _ rows: [(String, String, String, String, String)]) -> [Key] {
        rows.map { Key("\(path).\($0.0)", $0.1, $0.2, $0.3, $0.4) }
    }

    private static var strategies: String { SelectionStrategy.allCases.map(\.rawValue).joined(separator: ", ") }

    /// Returns the allowed keys of the object at the given path; the path of the root is empty.
    static func names(in object: String) -> [String] {
        let prefix = object.isEmpty ? "" : "\(object)."
        return keys.compactMap { key in
            guard key.path.hasPrefix(prefix) else { return nil }
            let name = key.path.dropFirst(prefix.count)
            return name.contains { $0 == "." || $0 == "[" } ? nil : String(name)
        }
    }

    /// Returns a description of the expected type at a path.
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
