import SwitchyardClient
import SwitchyardDiagnostics
import SwitchyardHTTP
import SwitchyardServices

/// A call as far as it was watched: what the page shows of it, and what is kept of its exchanges.
struct CallRecord: Sendable {
    /// The most attempts, waits and redirects that are kept of a call, each.
    static let limit = 100

    private(set) var call: InspectedCall
    /// What is kept of each attempt, the exchanges behind redirects included; in step with the call's attempts.
    private(set) var exchanges: [[KeptExchange]] = []
    /// The number of the last change to it.
    var change = 0
    /// How the last round ended, in words.
    private var lastEnd = ""
    private var lastStatus: Int?
    /// The pause behind the last round.
    private var lastPause = 0.0
    private var isWaiting = false
    private let bodyBytes: Int

    init(number: Int, configuration: APIConfiguration, start: Double, _ keeper: ExchangeKeeper) {
        bodyBytes = keeper.bodyBytes
        call = InspectedCall(
            number: number,
            start: start,
            method: configuration.sentMethod.name,
            path: keeper.redaction.url(configuration.place)
        )
        call.tags = configuration.tags.sorted()
    }

    /// Takes note that a cache has answered.
    mutating func recalled(from source: InspectedCall.Source, with status: Int, at time: Double) {
        (call.from, call.end, call.outcome) = (source, time, InspectedCall.Outcome(status: status))
    }

    /// Where an attempt stands among those of the call.
    func place(of number: Int, in round: Int) -> Int? {
        call.attempts.lastIndex { $0.round == round && $0.number == number }
    }

    // MARK: Rounds

    /// Takes note that a round begins.
    mutating func roundBegan(_ round: Int, at time: Double) {
        let since = call.start
        // What a flow takes by itself is much shorter.
        if round == 1, time - since >= 5 { wait(from: since, to: time, why: "limits and adapters") }
        if isWaiting, let last = call.waits.indices.last { call.waits[last].end = time }
        isWaiting = false
        call.rounds = max(1, round)
    }

    /// Takes note of how a round ended.
    mutating func roundEnded(_ round: Int, _ result: Result<ServiceResponse, RequestFailure>) {
        cutWhatRuns { $0.round == round }
        lastPause = 0
        switch result {
        case .success(let answer): (lastStatus, lastEnd) = (answer.status, "\(answer.status)")
        case .failure(let failure): (lastStatus, lastEnd) = (nil, failure.reason.name)
        }
    }

    /// Takes note of a pause before the next round.
    mutating func waits(for pause: Double, at time: Double) {
        lastPause = pause
        guard pause > 0 else { return }
        wait(from: time, to: time + pause, why: "retry after \(lastEnd)")
        isWaiting = true
    }

    private mutating func wait(from start: Double, to end: Double, why: String) {
        guard call.waits.count < Self.limit else { return }
        call.waits.append(InspectedCall.Wait(start: start, end: end, why: why))
    }

    // MARK: Attempts

    /// Takes note that a request goes out: a new attempt's, or the next of one that was redirected.
    mutating func sent(_ attempt: AttemptRecord, _ exchange: KeptExchange, round: Int, at time: Double) {
        let request = exchange.entry.request
        if let place = place(of: attempt.number, in: round) {
            call.attempts[place].url = request.url
            (call.attempts[place].end, call.attempts[place].status) = (nil, nil)
            if exchanges[place].count < Self.limit { exchanges[place].append(exchange) }
            return keepWithin()
        }
        guard call.attempts.count < Self.limit else { return }
        var new = InspectedAttempt(
            number: attempt.number,
            round: round,
            method: request.method,
            url: request.url,
            start: time,
            kind: kind(ofAttempt: attempt.number, in: round)
        )
        new.server = attempt.server
        call.attempts.append(new)
        exchanges.append([exchange])
        keepWithin()
    }

    private func kind(ofAttempt number: Int, in round: Int) -> InspectedAttempt.Kind {
        guard number == 1 else {
            let isBesideAnother = call.attempts.contains { $0.round == round && $0.end == nil }
            return isBesideAnother ? .hedge : .failover
        }
        guard round > 1 else { return .first }
        return lastStatus == 401 && lastPause == 0 ? .renewal : .retry
    }

    /// Takes note of a redirect that is followed.
    mutating func redirected(_ attempt: AttemptRecord, _ step: InspectedAttempt.Redirect, round: Int) {
        guard let place = place(of: attempt.number, in: round), call.attempts[place].redirects.count < Self.limit
        else { return }
        call.attempts[place].redirects.append(step)
    }

    /// Takes note of how an exchange ended.
    mutating func ended(
        _ attempt: AttemptRecord,
        _ exchange: KeptExchange,
        _ metrics: TransferMetrics?,
        round: Int,
        from start: Double,
        to end: Double
    ) {
        guard let place = place(of: attempt.number, in: round) else { return }
        call.attempts[place].ended(exchange.entry, from: start, to: end)
        if let metrics { call.attempts[place].measured(metrics) }
        if let last = exchanges[place].indices.last { exchanges[place][last] = exchange }
        keepWithin()
    }

    private mutating func cutWhatRuns(where isMeant: (InspectedAttempt) -> Bool = { _ in true }) {
        for place in call.attempts.indices where call.attempts[place].end == nil && isMeant(call.attempts[place]) {
            call.attempts[place].isCut = true
        }
    }

    // MARK: The end

    /// Takes note of how the call ended.
    mutating func ended(_ result: Result<ServiceResponse, RequestFailure>, at time: Double, _ redaction: Redaction) {
        cutWhatRuns()
        call.end = time
        call.rounds = max(1, result.context.rounds)
        if isWaiting, let last = call.waits.indices.last { call.waits[last].end = min(call.waits[last].end, time) }
        switch result {
        case .success(let answer):
            call.outcome = InspectedCall.Outcome(status: answer.status)
            if !call.attempts.isEmpty { call.from = .network }
            if answer.status >= 400, answer.context.mayHaveBeenExecuted { call.mayHaveBeenExecuted = true }
        case .failure(let failure):
            let words = redaction.text(failure.reason.description)
            call.outcome = InspectedCall.Outcome(status: lastStatus, error: failure.reason.name, words: words)
            if failure.mayHaveBeenExecuted { call.mayHaveBeenExecuted = true }
        }
    }
}

// MARK: - Memory

extension CallRecord {
    /// Drops the oldest bodies as long as those of one direction take more than one whole body may.
    private mutating func keepWithin() {
        // In base64 a body is a third longer.
        let limit = (bodyBytes / 3 + 1) * 4
        var (requests, responses) = (0, 0)
        for attempt in exchanges.indices.reversed() {
            for place in exchanges[attempt].indices.reversed() {
                requests += exchanges[attempt][place].requestBytes
                if requests > limit { requests -= exchanges[attempt][place].dropRequest() }
                responses += exchanges[attempt][place].responseBytes
                if responses > limit { responses -= exchanges[attempt][place].dropResponse() }
            }
        }
    }
}
