import SwitchyardClient
import SwitchyardDiagnostics
import SwitchyardHTTP
import SwitchyardServices

/// A store of a client's newest calls and its servers' events.
///
/// The number of calls, and the number of body bytes per call and direction, are limited, so memory use is bounded.
final class TrafficStore: Sendable {
    fileprivate struct State {
        var calls: [Int: CallRecord] = [:]
        var lastNumber = 0
        /// The sequence numbers of the active calls, by request identifier.
        var running: [RequestID: Int] = [:]
        /// The sequence numbers of the calls whose responses are streams that are not open yet, by request identifier.
        ///
        /// If several calls have the same identifier, the number is that of the call that ended last.
        var streamed: [RequestID: Int] = [:]
        /// The sequence numbers of the calls whose streams of messages are open, by stream identifier.
        var open: [RequestID: Int] = [:]
        var events: [(change: Int, event: InspectorFeed.Event)] = []
        var lastEvent = 0
        var forgotten = 0
        var kept: KeptCalls
        var tally = VerdictTally()
        /// The sequence number of the last change.
        ///
        /// It starts at 1, so that a page that sends 0 as the last change it knows receives everything.
        var change = 1
    }

    /// The calls and events that have changed since the change with a given number.
    struct News {
        var change: Int
        var forgotten: Int
        var calls: [InspectedCall]
        var events: [InspectorFeed.Event]
        /// The totals of all calls and events so far, including those that are no longer kept.
        var tally: VerdictTally
        /// The last outage of each server.
        var outages: [String: ServerOutage]
    }

    /// The maximum number of events that are kept.
    static let eventLimit = 500

    let keeper: ExchangeKeeper
    let messageKeeper: MessageKeeper
    let callLimit: Int
    private let clock: WallClock
    private let state: Locked<State>
    private let bell: FeedCondition

    init(
        calls: Int,
        keeper: ExchangeKeeper,
        messageKeeper: MessageKeeper,
        clock: WallClock,
        bell: FeedCondition
    ) {
        callLimit = max(1, calls)
        state = Locked(State(kept: KeptCalls(limit: max(1, calls))))
        self.keeper = keeper
        self.messageKeeper = messageKeeper
        self.clock = clock
        self.bell = bell
    }

    // MARK: Reading

    /// Returns the calls and events whose last change has a higher number than `change`.
    func news(after change: Int) -> News {
        state.withLock { state in
            News(
                change: state.change,
                forgotten: state.forgotten,
                calls: state.calls.values.filter { $0.change > change }.map(\.call).sorted { $0.number < $1.number },
                events: state.events.filter { $0.change > change }.map(\.event),
                tally: state.tally,
                outages: state.tally.outages.last
            )
        }
    }

    /// Returns the record of a call, or `nil` if the call is no longer kept.
    func record(_ number: Int) -> CallRecord? { state.withLock { $0.calls[number] } }

    /// Returns the details of a call, or `nil` if the call is no longer kept.
    func detail(of number: Int) -> CallDetail? {
        record(number).map { record in
            var detail = CallDetail(record.call, record.exchanges)
            if record.call.stream != nil { detail.messages = record.messages.all }
            return detail
        }
    }

    /// Returns an archive of the kept exchanges of one call, or of all calls if `number` is `nil`.
    func archive(of number: Int? = nil) -> HARArchive {
        let records = state.withLock { Array($0.calls.values) }
        let meant = records.filter { number == nil || $0.call.number == number }
            .sorted { $0.call.number < $1.call.number }
        return HARArchive(entries: meant.flatMap(\.archived))
    }

    // MARK: Writing

    /// Records an event of a server.
    func take(_ event: ClientEvent) {
        change { state in
            state.lastEvent += 1
            let new = InspectorFeed.Event(event.event, number: state.lastEvent, clock)
            state.events.append((state.change, new))
            if state.events.count > Self.eventLimit { state.events.removeFirst() }
            state.take(event.event, at: new.time)
        }
    }

    /// Wakes the pages that wait, because something outside this store has changed, such as a simulated fault.
    func touch() {
        change { _ in }
    }

    /// Records an event of a call, or does nothing if the call is no longer kept.
    func take(_ event: DispatchEvent) {
        let time = clock.milliseconds(event.time)
        switch event.kind {
        case .dispatched(let configuration): begin(event.id, configuration, at: time)
        case .roundBegan: change(event.id) { $0.roundBegan(event.round, at: time) }
        case .attemptSent(let attempt): sent(attempt, event)
        case .redirected(let attempt, let step): redirected(attempt, step, event)
        case .attemptEnded(let attempt, let result): ended(attempt, result, event)
        case .roundEnded(let result): change(event.id) { $0.roundEnded(event.round, result) }
        case .waiting(let pause): change(event.id) { $0.waits(for: pause.inSeconds * 1_000, at: time) }
        case .ended(let result): ended(result, event.id, at: time)
        case .cachedResponseUsed(let status, let isFresh):
            guard let call = event.call else { return }
            take(call, answeredFrom: isFresh ? .cache : .stale, with: status)
        }
    }

    /// Records an event of a stream of messages, or does nothing if its call is no longer kept.
    func take(_ event: StreamEvent) {
        let time = clock.milliseconds(event.time)
        switch event.kind {
        case .opened:
            change { state in
                guard let number = state.streamed.removeValue(forKey: event.id) else { return }
                state.open[event.stream] = number
                state.change(number) { $0.openedStream() }
            }
        case .message(let message):
            guard let number = state.withLock({ $0.open[event.stream] }) else { return }
            // Redaction runs outside the lock because it takes time.
            let kept = messageKeeper.kept(message, at: time)
            change { state in state.change(number) { $0.add(kept) } }
        case .ended:
            change { state in
                guard let number = state.open.removeValue(forKey: event.stream) else { return }
                state.change(number) { $0.endedStream(at: time) }
            }
        }
    }

    /// Records a call whose response came from a cache.
    private func take(_ configuration: APIConfiguration, answeredFrom source: InspectedCall.Source, with status: Int) {
        let time = clock.now
        change { state in
            add(configuration, at: time, to: &state) { $0.recalled(from: source, with: status, at: time) }
            if let call = state.calls[state.lastNumber]?.call { state.tally.add(call) }
        }
    }

    private func ended(_ result: Result<ServiceResponse, RequestFailure>, _ id: RequestID, at time: Double) {
        change { state in
            guard let number = state.running.removeValue(forKey: id),
                var record = state.calls.removeValue(forKey: number)
            else { return }
            record.ended(result, at: time, keeper.redaction)
            record.change = state.change
            state.calls[number] = record
            if case .success(let response) = result, case .stream = response.response.body {
                state.streamed[id] = number
            }
            state.tally.add(record.call)
        }
    }

    private func begin(_ id: RequestID, _ configuration: APIConfiguration, at time: Double) {
        change { state in
            add(configuration, at: time, to: &state)
            state.running[id] = state.lastNumber
        }
    }

    /// Adds a call, and drops a call if there are too many (``KeptCalls``).
    private func add(
        _ configuration: APIConfiguration,
        at time: Double,
        to state: inout State,
        _ body: (inout CallRecord) -> Void = { _ in }
    ) {
        state.lastNumber += 1
        let number = state.lastNumber
        var record = CallRecord(number: number, configuration: configuration, start: time, keeper)
        body(&record)
        record.change = state.change
        state.calls[number] = record
        var kept = KeptCalls(limit: callLimit)
        swap(&kept, &state.kept)
        let dropped = kept.add(number) { state.calls[$0]?.call.isSpecial ?? false }
        state.kept = kept
        if let dropped { state.drop(dropped) }
    }

    private func sent(_ attempt: AttemptRecord, _ event: DispatchEvent) {
        guard let exchange = exchange(attempt, .failure(ExchangeKeeper.pending), event) else { return }
        let start = clock.milliseconds(attempt.startedAt)
        change(event.id) { $0.sent(attempt, exchange, round: event.round, at: start) }
    }

    private func ended(
        _ attempt: AttemptRecord,
        _ result: Result<HTTPResponse, TransportError>,
        _ event: DispatchEvent
    ) {
        guard let exchange = exchange(attempt, result, event) else { return }
        let (start, end) = (clock.milliseconds(attempt.startedAt), clock.milliseconds(event.time))
        let metrics = (try? result.get())?.metrics
        change(event.id) { $0.ended(attempt, exchange, metrics, round: event.round, from: start, to: end) }
    }

    private func redirected(_ attempt: AttemptRecord, _ step: RedirectStep, _ event: DispatchEvent) {
        let redirect = InspectedAttempt.Redirect(
            time: clock.milliseconds(event.time),
            status: step.status,
            from: keeper.redaction.url(step.from.text),
            to: keeper.redaction.url(step.to.text)
        )
        change(event.id) { $0.redirected(attempt, redirect, round: event.round) }
    }

    /// Returns an exchange in its stored form, or `nil` if the call of the exchange is not kept.
    ///
    /// This method runs outside the lock because redaction must search the bodies, which takes time.
    private func exchange(
        _ attempt: AttemptRecord,
        _ result: Result<HTTPResponse, TransportError>,
        _ event: DispatchEvent
    ) -> KeptExchange? {
        guard let number = state.withLock({ $0.running[event.id] }) else { return nil }
        let server = "\(event.service)/\(event.environment.rawValue)/\(attempt.server ?? "-")"
        return keeper.kept(
            attempt,
            result,
            date: clock.date(attempt.startedAt),
            elapsed: attempt.startedAt.duration(to: event.time),
            comment: "#\(number) \(server), round \(event.round), attempt \(attempt.number)"
        )
    }

    private func change(_ id: RequestID, _ body: (inout CallRecord) -> Void) {
        change { state in
            guard let number = state.running[id] else { return }
            state.change(number, body)
        }
    }

    /// Increments the change number, applies the change, and wakes the pages that wait for a change.
    private func change(_ body: (inout State) -> Void) {
        let change = state.withLock { state in
            state.change += 1
            body(&state)
            return state.change
        }
        bell.ring(change)
    }
}

extension TrafficStore.State {
    /// Changes the record of a call, or does nothing if the call is no longer kept.
    fileprivate mutating func change(_ number: Int, _ body: (inout CallRecord) -> Void) {
        guard var record = calls.removeValue(forKey: number) else { return }
        body(&record)
        record.change = change
        calls[number] = record
    }

    /// Drops a call with everything that refers to it.
    fileprivate mutating func drop(_ number: Int) {
        let call = calls.removeValue(forKey: number)?.call
        forgotten += 1
        if call?.end == nil { running = running.filter { $0.value != number } }
        if call?.stream == nil {
            streamed = streamed.filter { $0.value != number }
        } else {
            open = open.filter { $0.value != number }
        }
    }

    /// Records an event in the totals.
    fileprivate mutating func take(_ event: SwitchEvent, at time: Double) {
        switch event.kind {
        case .ejected(let server, _, let cause) where cause.blamesServer:
            tally.eject(server, event.statistics, cause, at: time)
        case .probed(let server, let succeeded): tally.probe(server, succeeded: succeeded)
        case .recovered(let server, let outage): tally.recover(server, after: outage.inSeconds * 1_000)
        case .environmentChanged(let old, let new): tally.changeEnvironment(from: old.rawValue, to: new.rawValue)
        case .ejected, .switched, .trialStarted, .pushed: break
        }
    }
}

extension InspectorFeed.Event {
    fileprivate init(_ event: SwitchEvent, number: Int, _ clock: WallClock) {
        let (kind, server) = event.kind.shown
        self.init(
            number: number,
            time: clock.milliseconds(event.at),
            kind: kind,
            server: server,
            text: event.sentence
        )
    }
}

extension SwitchEvent.Kind {
    /// The kind of the event on the page, and the affected server.
    fileprivate var shown: (InspectorFeed.Event.Kind, String?) {
        switch self {
        case .switched(_, let to, _): (.switch, to)
        case .ejected(let name, _, _): (.ejection, name)
        case .probed(let name, _): (.probe, name)
        case .recovered(let name, _): (.recovery, name)
        case .trialStarted(let name, _): (.other, name)
        case .environmentChanged: (.environment, nil)
        case .pushed(let command): (.other, command.server.isEmpty ? nil : command.server)
        }
    }
}
