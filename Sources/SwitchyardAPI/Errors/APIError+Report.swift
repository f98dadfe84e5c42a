public import SwitchyardClient
import SwitchyardHTTP

extension APIError {
    /// The attempts of the call, in order; empty if nothing was sent.
    public var attempts: [CallAttempt] { context.history.attempts }

    /// The call and its attempts on a few lines, for a bug report.
    ///
    ///     GET https://a.test/topics failed after 1.24 s: no response within the deadline (101), no write was involved
    ///       0 ms    primary    connection refused after 2 ms     -> next server
    ///       2 ms    secondary  no response within 1.24 s         -> hedge
    ///       162 ms  third      503 after 8 ms, Retry-After 30 s  -> no server left
    ///       1.24 s             deadline
    ///
    /// The report contains neither values of a query nor header fields nor bodies.
    public var report: String {
        var rows = attempts.map(\.row)
        if reason == .limited(.deadline), let elapsed = context.elapsed {
            rows.append([elapsed.inReport, "", "deadline", ""])
        }
        return ([headline] + rows.alignedLines).joined(separator: "\n")
    }

    /// The call, the time, the reason and the code on one line.
    private var headline: String {
        let path = context.path.map(Redaction.place)
        let call = [context.method?.name, path].compactMap(\.self).joined(separator: " ")
        let time = context.elapsed.map { " after \($0.inReport)" } ?? ""
        let words = "\(reason)".withoutQueries
        return "\(call.isEmpty ? "The call" : call) failed\(time): \(words) (\(code.number)), \(effect)"
    }

    /// A phrase that states whether a server has executed a write.
    private var effect: String {
        if mayHaveBeenExecuted { return "a server may have executed the call" }
        return context.method?.isSafe == false ? "no server has executed the call" : "no write was involved"
    }
}

extension APIResponse {
    /// The call and its attempts on a few lines, as in the report of an `APIError`.
    ///
    ///     GET https://a.test/topics succeeded after 110 ms: status 200 from secondary
    ///       0 ms  primary    connection refused after 2 ms  -> next server
    ///       2 ms  secondary  200 after 108 ms
    ///
    /// The report contains neither values of a query nor header fields nor bodies. The report of a value from the cache
    /// states its age.
    public var report: String {
        guard let context else { return "The value is from the cache and \(source.age.inReport) old" }
        let call = [context.method.name, context.url.map { Redaction.place($0.text) }].compactMap(\.self)
        let end = "status \(status)" + (context.server.map { " from \($0)" } ?? "")
        let headline = "\(call.joined(separator: " ")) succeeded after \(context.elapsed.inReport): \(end)"
        return ([headline] + attempts.map(\.row).alignedLines).joined(separator: "\n")
    }
}

extension CallAttempt {
    /// The event that followed the attempt, after an arrow, or an empty text if there was none.
    private var arrow: String { next.map { "-> \($0)" } ?? "" }

    /// The columns of the attempt in a report.
    fileprivate var row: [String] { [start.inReport, server ?? "another host", endingText, arrow] }
}

extension [[String]] {
    /// The rows as lines whose columns are aligned.
    fileprivate var alignedLines: [String] {
        let widths = (0..<4).map { column in map { $0[column].count }.max() ?? 0 }
        return map { row in
            let cells = zip(row, widths).map { $0.padding(toLength: $1) }
            let line = "  " + cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}

extension String {
    fileprivate func padding(toLength length: Int) -> String { self + String(repeating: " ", count: length - count) }
}
