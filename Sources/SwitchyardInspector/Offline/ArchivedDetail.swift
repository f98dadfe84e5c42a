import Foundation
import SwitchyardClient
import SwitchyardDiagnostics

extension CallDetail {
    /// Creates the details of an archived call from its exchanges.
    ///
    /// - Parameters:
    ///   - number: The sequence number of the call.
    ///   - exchanges: The exchanges of the call, sorted by rank. There must be at least one exchange.
    init(number: Int, _ exchanges: [ArchivedExchange]) {
        let first = exchanges[0].kept.entry.request
        var call = InspectedCall(
            number: number,
            start: exchanges.map(\.start).min() ?? 0,
            method: first.method,
            path: Self.path(of: first.url)
        )
        var kept: [[KeptExchange]] = []
        for exchange in exchanges {
            if let place = call.place(of: exchange) {
                call.goesOn(place, with: exchange)
                kept[place].append(exchange.kept)
            } else {
                call.begins(exchange)
                kept.append([exchange.kept])
            }
        }
        call.ends()
        if call.outcome?.error != nil { call.outcome?.words = kept.last?.last?.entry.response.error }
        self.init(call, kept)
        addMessages(of: exchanges)
    }

    /// Returns the path of a URL, including the query and the fragment.
    private static func path(of url: String) -> String {
        guard let scheme = url.range(of: "://") else { return url }
        let path = url[scheme.upperBound...].drop { !"/?#".contains($0) }
        return path.isEmpty ? "/" : String(path)
    }
}

extension InspectedCall {
    /// Returns the index of the attempt that an exchange belongs to, or `nil` if the attempt has not been added yet.
    fileprivate func place(of exchange: ArchivedExchange) -> Int? {
        attempts.firstIndex { $0.round == exchange.round && $0.number == exchange.attempt }
    }

    /// Adds an attempt with its first exchange.
    fileprivate mutating func begins(_ exchange: ArchivedExchange) {
        let request = exchange.kept.entry.request
        if let last = attempts.last, last.round < exchange.round {
            let end = attempts.compactMap(\.end).max() ?? exchange.start
            let why = "retry after \(last.status.map { "status \($0)" } ?? last.error ?? "-")"
            if exchange.start - end >= 1 { waits.append(Wait(start: end, end: exchange.start, why: why)) }
        }
        var attempt = InspectedAttempt(
            number: exchange.attempt,
            round: exchange.round,
            method: request.method,
            url: request.url,
            start: exchange.start,
            kind: exchange.kind ?? kind(of: exchange)
        )
        attempt.server = exchange.place.map(\.server) ?? InspectedClient.Server.origin(of: request.url)
        attempts.append(attempt)
        takeEnd(of: exchange, at: attempts.count - 1)
    }

    /// Adds an exchange that follows a redirect to the attempt at index `place`.
    fileprivate mutating func goesOn(_ place: Int, with exchange: ArchivedExchange) {
        let old = attempts[place]
        let url = exchange.kept.entry.request.url
        if let status = old.status {
            attempts[place].redirects.append(
                InspectedAttempt.Redirect(time: old.end ?? exchange.start, status: status, from: old.url, to: url)
            )
        }
        attempts[place].url = url
        takeEnd(of: exchange, at: place)
    }

    private mutating func takeEnd(of exchange: ArchivedExchange, at place: Int) {
        guard !exchange.isPending else {
            (attempts[place].end, attempts[place].isCut) = (nil, true)
            return
        }
        attempts[place].ended(exchange.kept.entry, from: exchange.start, to: exchange.end)
        let response = exchange.kept.entry.response
        if response.status > 0, response.bodySize >= 0 { attempts[place].received = Int64(response.bodySize) }
    }

    private func kind(of exchange: ArchivedExchange) -> InspectedAttempt.Kind {
        guard exchange.attempt == 1 else {
            let others = attempts.filter { $0.round == exchange.round }
            // `HARRecorder` omits attempts that were cut off, so an attempt number may be missing. The recorded times
            // are accurate only to a few milliseconds.
            let isBesideAnother = others.contains { $0.end.map { $0 > exchange.start + 5 } ?? true }
            return isBesideAnother || others.count < exchange.attempt - 1 ? .hedge : .failover
        }
        guard exchange.round > 1 else { return .first }
        return attempts.last?.status == 401 ? .refresh : .retry
    }

    /// Sets the end and the result of the call from the attempt that decided the call.
    ///
    /// The deciding attempt is in the last try at the request (a retry is a new try). In that try, attempts with a
    /// response status below 500 come first, then attempts with another response, then attempts without a response. Of
    /// several such attempts, the attempt that ended last decides.
    fileprivate mutating func ends() {
        let ended = attempts.filter { $0.end != nil }
        guard let last = ended.max(by: { $0.weight < $1.weight }) else { return }
        end = last.end
        rounds = last.round
        from = last.status == nil ? nil : .network
        outcome = Outcome(status: last.status, error: last.error)
    }
}

extension InspectedAttempt {
    /// The rank of the attempt.
    ///
    /// The ended attempt with the highest rank decided the call.
    fileprivate var weight: (round: Int, answer: Int, end: Double) {
        let answer = status.map { $0 < 500 ? 2 : 1 } ?? 0
        return (round, answer, end ?? 0)
    }
}
