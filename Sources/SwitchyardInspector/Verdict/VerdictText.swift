/// The number formats and the names of failures in a ``Verdict``.
package enum VerdictText {
    /// The minimum number of calls for which pages show percentiles of the call durations.
    package static let leastForPercentiles = 20

    private static let numerals = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"]

    /// The descriptions of the kinds of failure, by the names that events, the output of `yard load` and the page use.
    private static let failures = [
        "refused": "connection refused", "connectionRefused": "connection refused",
        "reset": "connection reset", "connectionReset": "connection reset",
        "dns": "name not found", "dnsFailure": "name not found",
        "tls": "TLS handshake failed", "tlsFailure": "TLS handshake failed",
        "certificate": "certificate rejected", "certificateRejected": "certificate rejected",
        "timeout": "no response in time", "timedOut": "no response in time",
        "connectTimeout": "no connection in time",
        "truncated": "response cut off",
        "protocol": "invalid HTTP", "protocolViolation": "invalid HTTP",
        "overloaded": "all servers overloaded",
        "limited": "rate limit reached", "rateLimited": "rate limit reached",
    ]

    private static let statuses = [
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        408: "Request Timeout", 409: "Conflict", 410: "Gone", 422: "Unprocessable Content", 429: "Too Many Requests",
        500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
    ]

    /// The kinds of failure that are the fault of a server, and not of the app or of a limit.
    private static let faultsOfServers: Set = [
        "refused", "connectionRefused", "reset", "connectionReset", "dns", "dnsFailure", "tls", "tlsFailure",
        "certificate", "certificateRejected", "timeout", "timedOut", "connectTimeout", "truncated", "protocol",
        "protocolViolation", "overloaded", "other",
    ]

    /// Returns whether a failure of this kind is the fault of a server.
    package static func blamesServer(_ kind: String) -> Bool {
        kind.hasPrefix("http") ? kind.hasPrefix("http5") : faultsOfServers.contains(kind)
    }

    /// Returns a description of a kind of failure: `404 Not Found`, `connection refused`, `no response within 2 s`.
    ///
    /// - Parameters:
    ///   - kind: The kind of failure.
    ///   - deadline: The deadline of the calls in seconds, or `nil` if it is unknown.
    /// - Returns: The description.
    package static func failure(_ kind: String, deadline: Double? = nil) -> String {
        if let deadline, kind == "timeout" || kind == "timedOut" { return "no response within \(seconds(deadline))" }
        guard kind.hasPrefix("http"), let status = Int(kind.dropFirst(4)) else {
            return failures[kind] ?? kind
        }
        return statuses[status].map { "\(status) \($0)" } ?? "status \(status)"
    }

    /// The maximum number of kinds of failure that a sentence names.
    private static let mostKinds = 4

    /// Returns numbers of failures by kind, the most frequent kind first: `20 × 503 Service Unavailable, 2 × other`.
    package static func list(of failures: [String: Int], deadline: Double? = nil) -> String {
        let kinds = failures.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let named = kinds.prefix(mostKinds).map { "\(count($0.value)) × \(failure($0.key, deadline: deadline))" }
        let rest = kinds.dropFirst(mostKinds).reduce(0) { $0 + $1.value }
        return (named + (rest > 0 ? ["\(count(rest)) × other"] : [])).joined(separator: ", ")
    }

    /// Returns a number with thousands separators: `1,234,567`.
    package static func count(_ number: Int) -> String {
        var (groups, rest) = ([Substring](), Substring(String(number.magnitude)))
        while rest.count > 3 {
            groups.insert(rest.suffix(3), at: 0)
            rest = rest.dropLast(3)
        }
        return (number < 0 ? "-" : "") + ([rest] + groups).joined(separator: ",")
    }

    /// Returns a time in milliseconds: `0.42 ms`, `38 ms`, `1.5 s`.
    package static func milliseconds(_ time: Double) -> String {
        guard time < 999.5 else { return seconds(time / 1_000) }
        return time < 9.995 ? "\((max(0, time) * 100).rounded() / 100) ms" : "\(Int(time.rounded())) ms"
    }

    /// Returns a number from 1 to 9 as a word at the start of a sentence, and another number in digits.
    package static func word(_ number: Int) -> String {
        numerals.indices.contains(number) ? numerals[number] : count(number)
    }

    /// The maximum number of servers that a sentence names.
    private static let mostServers = 3

    /// Returns servers as the subject of a sentence: `Server a`, `Servers a, b and c`, or `Five servers`.
    package static func servers(_ names: [String]) -> String {
        guard names.count <= mostServers else { return "\(word(names.count)) servers" }
        return "\(names.count > 1 ? "Servers" : "Server") \(list(names))"
    }

    /// Returns names as a part of a sentence: `a`, `a and b`, or `a, b and c`.
    package static func list(_ names: [String]) -> String {
        guard let last = names.last, names.count > 1 else { return names.first ?? "" }
        return "\(names.dropLast().joined(separator: ", ")) and \(last)"
    }

    /// Returns a time in seconds with one decimal place below 10 s: `0.4 s`, `6 s`, `120 s`.
    package static func seconds(_ seconds: Double) -> String {
        let tenths = (min(max(seconds, 0), 1e9) * 10).rounded()
        let isWhole = tenths >= 100 || tenths.truncatingRemainder(dividingBy: 10) == 0
        return isWhole ? "\(count(Int((tenths / 10).rounded()))) s" : "\(tenths / 10) s"
    }
}
