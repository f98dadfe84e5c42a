import SwitchyardClient
import SwitchyardDiagnostics
import SwitchyardHTTP
import SwitchyardServices

/// The record of a call: the part that the page shows, and the stored exchanges.
struct CallRecord: Sendable {
    /// The maximum number of attempts and waiting periods recorded per call, and of redirects and exchanges recorded per
    /// attempt.
    static let limit = 100

    private(set) var call: InspectedCall
    /// The stored exchanges of each attempt, including the exchanges after redirects.
    ///
    /// The indices match `call.attempts`.
    private(set) var exchanges: [[KeptExchange]] = []
    /// The messages of the stream that the call has opened.
    private(set) var messages = KeptMessages()
    /// The sequence number of the last change in the ``TrafficStore`` that concerned the call.
    var change = 0
    /// A description of how the last try at the request (a round) ended.
    private var lastEnd = ""
    private var lastStatus: Int?
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

    /// Records that a cache returned the response.
    mutating func recalled(from source: InspectedCall.Source, with status: Int, at time: Double) {
        (call.from, call.end, call.outcome) = (source, time, InspectedCall.Outcome(status: status))
    }

    /// Returns the index of an attempt in `call.attempts`.
    func place(of number: Int, in round: Int) -> Int? {
        call.attempts.lastIndex { $0.round == round && $0.number == number }
    }

    // MARK: Rounds

    /// Records the start of a round: one try at the request with its failovers and hedges.
    ///
    /// Each retry starts another round.
    mutating func roundBegan(_ round: Int, at time: Double) {
        let since = call.start
        // If 5 ms or more pass before the request is first sent, the call waited for rate limits or request adapters.
        // Without rate limits and request adapters, this time is far below 5 ms.
        if round == 1, time - since >= 5 { wait(from: since, to: time, why: "limits and adapters") }
        if isWaiting, let last = call.waits.indices.last { call.waits[last].end = time }
        isWaiting = false
        call.rounds = max(1, round)
    }

    /// Records how a try at the request with its failovers (a round) ended.
    mutating func roundEnded(_ round: Int, _ result: Result<ServiceResponse, RequestFailure>) {
        cutWhatRuns { $0.round == round }
        switch result {
        case .success(let answer): (lastStatus, lastEnd) = (answer.status, "status \(answer.status)")
        case .failure(let failure): (lastStatus, lastEnd) = (nil, failure.reason.name)
        }
    }

    /// Records a pause before a retry, in milliseconds.
    mutating func waits(for pause: Double, at time: Double) {
        guard pause > 0 else { return }
        wait(from: time, to: time + pause, why: "retry after \(lastEnd)")
        isWaiting = true
    }

    private mutating func wait(from start: Double, to end: Double, why: String) {
        guard call.waits.count < Self.limit else { return }
        call.waits.append(InspectedCall.Wait(start: start, end: end, why: why))
    }

    // MARK: Attempts

    /// Records that a request was sent: the first request of an attempt, or the next request after a redirect.
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
            kind: attempt.kind
        )
        new.server = attempt.server
        call.attempts.append(new)
        exchanges.append([exchange])
        keepWithin()
    }

    /// Records a redirect that was followed.
    mutating func redirected(_ attempt: AttemptRecord, _ step: InspectedAttempt.Redirect, round: Int) {
        guard let place = place(of: attempt.number, in: round), call.attempts[place].redirects.count < Self.limit
        else { return }
        call.attempts[place].redirects.append(step)
    }

    /// Records how an exchange ended.
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

    /// Sets `next` of each attempt to the event that followed it in the history.
    private mutating func addNext(_ history: [CallAttempt]) {
        guard history.count == call.attempts.count else { return }
        for (place, attempt) in history.enumerated() { call.attempts[place].next = attempt.next.map { "\($0)" } }
    }

    private mutating func cutWhatRuns(where isMeant: (InspectedAttempt) -> Bool = { _ in true }) {
        for place in call.attempts.indices where call.attempts[place].end == nil && isMeant(call.attempts[place]) {
            call.attempts[place].isCut = true
        }
    }

    // MARK: End

    /// Records how the call ended.
    mutating func ended(_ result: Result<ServiceResponse, RequestFailure>, at time: Double, _ redaction: Redaction) {
        cutWhatRuns()
        call.end = time
        call.rounds = max(1, result.context.rounds)
        addNext(result.context.history.attempts)
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

// MARK: - Streams

extension CallRecord {
    /// Records that the call has opened a stream of messages.
    mutating func openedStream() { call.stream = InspectedStream() }

    /// Records a message of the stream.
    mutating func add(_ message: InspectedMessage) {
        call.stream?.add(message)
        messages.add(message, textLimit: bodyBytes)
    }

    /// Records the end of the stream.
    mutating func endedStream(at time: Double) { call.stream?.end = time }

    /// The stored exchanges as archive entries.
    var archived: [HARArchive.Entry] {
        var entries = exchanges.flatMap { $0.map(\.entry) }
        if call.outcome?.status == 101, call.stream != nil, let last = entries.indices.last {
            entries[last].webSocketMessages = messages.all.compactMap { HARWebSocketMessage($0) }
        }
        return entries
    }
}

extension HARWebSocketMessage {
    /// Creates the archived form of a message, or returns `nil` if its text is not kept.
    fileprivate init?(_ message: InspectedMessage) {
        guard message.type == "text", let text = message.text else { return nil }
        self.init(
            type: message.direction == .sent ? "send" : "receive",
            time: message.time / 1_000,
            opcode: 1,
            data: text
        )
    }
}

// MARK: - Memory

extension CallRecord {
    /// Drops the oldest stored bodies of each direction, so that all its bodies together do not exceed the limit for
    /// one body.
    private mutating func keepWithin() {
        // A body in base64 is a third longer than its bytes.
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
