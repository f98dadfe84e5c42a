/// The cases of other projects that are not run here, each with its reason.
enum CaseNotes {
    static let resilience4j: [String: CaseNote] = [
        "r4j-release-permission": .different(
            "A trial begins with one request at a time and widens with every success, instead of four at once."
        ),
        "r4j-half-open-four-calls-each-time": .different(
            "A trial begins with one request at a time and widens with every success, instead of four at once."
        ),
        "r4j-opens-when-minimum-calls-reached": .different(
            "Only a failure ejects; a success that reaches the minimum does not (TAF-S2)."
        ),
        "r4j-half-open-after-explicit-instant": .notApplicable(
            "Nobody sets the length of an ejection by hand; a pushed avoid with a time to live stands for it."
        ),
        "r4j-half-open-slow-back": .notApplicable(
            "A slow call is not measured against a fixed duration but against the hedge that overtakes it."
        ),
        "r4j-closed-to-half-open-illegal": .notApplicable("States cannot be forced from outside."),
        "r4j-half-open-times-out-to-open": .notApplicable(
            "A trial has no time limit: without traffic nothing is decided, and nothing is lost."
        ),
        "r4j-half-open-times-out-to-closed": .notApplicable(
            "A trial has no time limit: without traffic nothing is decided, and nothing is lost."
        ),
    ]

    static let polly: [String: CaseNote] = [
        "polly-cb-half-open-fail-then-close": .different(
            "The second ejection lasts twice as long as the first, instead of as long."
        ),
        "polly-cb-success-in-isolated": .notApplicable("There is no isolated state; a pushed avoid stands for it."),
        "polly-cb-failure-in-isolated-breaks-false": .notApplicable(
            "There is no isolated state; a pushed avoid stands for it."
        ),
        "polly-cb-half-open-attempts-counted": .notApplicable(
            "The length of an ejection follows from the rules of recovery, not from a generator."
        ),
    ]

    static let gobreaker: [String: CaseNote] = [
        "gobreaker-half-open-needs-three-successes": .different(
            "A trial lets as many requests through at once as have succeeded so far, instead of three in all."
        ),
        "gobreaker-defaults": .notApplicable("The defaults are another library's."),
    ]

    static let envoy: [String: CaseNote] = [
        "envoy-outlier-eject-time-grows": .different(
            "The time to the first probe doubles with each ejection, instead of growing by the base."
        ),
        "envoy-outlier-eject-time-shrinks-when-healthy": .different(
            "The time to the first probe doubles with each ejection, instead of growing by the base."
        ),
        "envoy-outlier-eject-time-cap-lead-in": .different(
            "The time to the first probe doubles with each ejection, instead of growing by the base."
        ),
        "envoy-outlier-eject-time-cap-formula": .different(
            "The time to the first probe doubles with each ejection, instead of growing by the base."
        ),
        "envoy-outlier-success-rate-outlier": .notApplicable(
            "Servers are not compared with each other: a service has a handful, and Envoy itself needs five."
        ),
        "envoy-outlier-success-rate-needs-volume": .notApplicable(
            "Servers are not compared with each other: a service has a handful, and Envoy itself needs five."
        ),
        "envoy-outlier-threshold-formula": .notApplicable(
            "Servers are not compared with each other: a service has a handful, and Envoy itself needs five."
        ),
        "envoy-outlier-jitter-zero-by-default": .different(
            "Waits vary by 30 % by default, so that the clients of a fleet do not return in lockstep."
        ),
        "envoy-outlier-jitter": .different("Jitter is a share of the wait, instead of a number of milliseconds."),
    ]

    static let okhttp: [String: CaseNote] = [
        "okhttp-route-selector-throws": .notApplicable("Proxies are the transport's business."),
        "okhttp-route-selector-empty": .notApplicable("Proxies are the transport's business."),
        "okhttp-route-two-proxies": .notApplicable("Proxies are the transport's business."),
        "okhttp-route-interleave-with-fast-fallback": .notApplicable(
            "The address families of one host are the transport's business."
        ),
        "okhttp-failover-retry-next-route": .different(
            "A failed request goes to the next server at once, and never a second time to the same one."
        ),
        "okhttp-failover-proxy-moved": .notApplicable("Proxies and their names are the transport's business."),
    ]

    static let intervals: [String: CaseNote] = [
        "r4j-interval-constant-attempt-zero": .notApplicable("Ejections are counted inside; nobody asks for a zeroth."),
        "r4j-interval-exponential-attempt-zero": .notApplicable(
            "Ejections are counted inside; nobody asks for a zeroth."
        ),
    ]
}
