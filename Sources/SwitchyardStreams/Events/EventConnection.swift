import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The successive connections of one iterator of an ``EventSource``.
///
/// `@unchecked Sendable` is sound: the object belongs to one iterator, whose `next` is called by one task at a time and
/// awaited. No other code accesses its mutable state.
final class EventConnection: @unchecked Sendable {
    /// The minimum pause that a server can request.
    ///
    /// Without a minimum, a server that requests no pause and closes each connection immediately would be asked in an
    /// endless loop. Gecko has the same minimum, and section 9.2.3 of the standard allows it: "Optionally, wait some
    /// more."
    private static let shortestPause = Duration.milliseconds(500)
    /// The maximum pause that a response can request with `Retry-After`.
    private static let longestRetryAfter = Duration.seconds(3600)

    private let configuration: APIConfiguration
    private let options: EventSource.Options
    private let transfer: Transfer
    /// The event source, which retains the client while the iterator exists.
    private let source: EventSource
    private var parser: EventParser
    private var reader: EventReader?
    private var server: Server.ID?
    /// The servers that are asked next only if there is no other server, stored by identifier because the server list
    /// may change.
    private var avoided: [Server.ID] = []
    private var reconnectionTime: Duration
    /// The pause that a response has requested with `Retry-After`.
    private var retryAfter: Duration?
    private var failures = 0
    private var hasBegun = false
    private var isOver = false

    init(_ source: EventSource) {
        self.source = source
        // All connections share one idempotency key.
        configuration = source.configuration.snapshot()
        options = source.options
        transfer = Transfer(id: source.id, client: source.client, hasEnd: false)
        parser = EventParser(lastEventID: source.options.lastEventID)
        reconnectionTime = source.options.reconnectionTime
    }

    deinit {
        transfer.handle.cancel(.cancelled)
        transfer.end()
    }

    /// Waits for the next event, and returns `nil` if the server has no more events.
    func next() async throws(EventSourceFailure) -> ServerSentEvent? {
        guard !isOver else { return nil }
        do throws(EventSourceFailure) {
            try begin()
            while true {
                if reader == nil, try await !connect() { break }
                if let event = try await nextEvent() { return event }
                if reader != nil, !mayReconnect { break }
                try await waitToReconnect()
            }
        } catch {
            finish()
            throw error
        }
        finish()
        return nil
    }

    private func begin() throws(EventSourceFailure) {
        guard !hasBegun else { return }
        hasBegun = true
        do throws(RequestFailure.Reason) {
            try transfer.begin(configuration)
        } catch {
            throw .request(failure(error))
        }
    }

    private func finish() {
        isOver = true
        reader = nil
        transfer.end()
    }

    // MARK: Connecting

    /// Opens a connection; returns `false` if the server reports that there are no more events, or after waiting to
    /// reconnect.
    private func connect() async throws(EventSourceFailure) -> Bool {
        let response: ServiceResponse
        do throws(RequestFailure) {
            response = try await transfer.open(request, avoiding: avoided, endsByHandle: true)
        } catch {
            guard isTransient(error.reason), mayTryAgain else { throw .request(error) }
            return true
        }
        avoided = []
        server = response.context.server
        guard response.status == 200 else { return try await takeRefusal(response) }
        let type = response.headers.contentType
        guard type.map(HTTPHeaders.essence) == "text/event-stream" else {
            let answer = await whole(response)
            try checkRunning()
            throw .contentType(answer)
        }
        let body = LiveBody(transfer, response, endsTransfer: false)
        reader = EventReader(body, EventParser(lastEventID: parser.lastEventID), limit: options.eventLimit)
        return true
    }

    /// Returns whether another connection may be made after a response that is not an event stream; `false` if the
    /// server has no more events.
    ///
    /// A response with a transient status (`Transience`) is handled like a connection that failed.
    private func takeRefusal(_ response: ServiceResponse) async throws(EventSourceFailure) -> Bool {
        guard response.status != 204 else {
            response.discardBody()
            return false
        }
        let passes = mayReconnect && Transience(status: response.status) == .transient
        guard passes, mayTryAgain else {
            let answer = await whole(response)
            try checkRunning()
            throw .refused(answer)
        }
        response.discardBody()
        retryAfter = RetryAfter.duration(in: response.headers, now: Date())
        return true
    }

    /// Returns a response with the start of its body, limited to the bytes that arrive within two seconds.
    private func whole(_ response: ServiceResponse) async -> ServiceResponse {
        let time = transfer.core.time
        let timer = time.schedule(at: time.now.advanced(by: .seconds(2))) { response.discardBody() }
        transfer.handle.attach { response.discardBody() }
        var answer = response
        answer.response.body = .whole(await response.response.collectPrefix(65_536))
        timer.cancel()
        return answer
    }

    /// Whether another connection may be made after a server has received the request.
    private var mayReconnect: Bool { configuration.resendRule == .anytime }

    private var request: APIConfiguration {
        var request = configuration
        request.setField("Accept", "text/event-stream")
        // A browser sends this field: the HTML standard (section 9.2.2) sets the cache mode `no-store`, for which the
        // Fetch standard sends `no-cache`. The directive `no-store` would not stop an intermediate cache from
        // responding (RFC 9111 section 5.2.1.5).
        request.setField("Cache-Control", "no-cache")
        let last = HTTPHeaders.Field(name: "Last-Event-ID", value: parser.lastEventID)
        // An event stream may send an id that no header field can hold; this must not end the events.
        if !last.value.isEmpty, last.isValid { request.setField(last.name, last.value) }
        return request
    }

    /// Returns whether the failure is transient and the request may be sent again.
    private func isTransient(_ reason: RequestFailure.Reason) -> Bool {
        switch reason {
        case .transport(let cause): Transience(cause.kind) != .permanent && (mayReconnect || !cause.mayHaveBeenSent)
        // The deadline of one request has passed, not the deadline of the whole event source: the server hangs, or the
        // network drops all packets.
        case .deadlineExceeded: mayReconnect && transfer.handle.reason == nil
        // The request was not sent.
        case .overloaded, .rateLimited, .queueFull: true
        case .credentials(.unavailable), .credentials(.refreshFailed), .credentials(.refreshTimedOut): true
        default: false
        }
    }

    /// Records a failed connection; `false` if there were too many failures.
    private var mayTryAgain: Bool {
        failures += 1
        return failures <= options.maximumFailures ?? .max
    }

    // MARK: Reading

    /// Returns the next event of the connection; `nil` if the connection has ended or broken, so another must be made.
    private func nextEvent() async throws(EventSourceFailure) -> ServerSentEvent? {
        guard reader != nil else { return nil }
        do throws(RequestFailure) {
            let event = try await reader?.next()
            recordChange()
            // A connection that the server ends properly is not a failure either.
            failures = 0
            return event
        } catch {
            recordChange()
            guard case .transport(let cause) = error.reason, Transience(cause.kind) != .permanent, mayReconnect,
                mayTryAgain
            else { throw .request(error) }
            avoidServer()
            return nil
        }
    }

    private func recordChange() {
        guard let read = reader?.parser else { return }
        parser = read
        reconnectionTime = read.reconnectionTime.map { max($0, Self.shortestPause) } ?? reconnectionTime
        // A response head alone does not show that the server works: it may break every connection after the head.
        if reader?.hasLines == true { failures = 0 }
    }

    /// Makes the next connection prefer another server.
    private func avoidServer() {
        guard transfer.pool.hasAlternatives, let server else { return }
        avoided.append(server)
    }

    /// Waits for the server's reconnection time or, after consecutive failures, longer, up to a limit; the additional
    /// time ends when the network is back.
    private func waitToReconnect() async throws(EventSourceFailure) {
        reader = nil
        let factor = Double(1 << min(max(0, failures - 1), 16))
        // Doubling a reconnection time of zero yields zero, but a server that is down must not be asked without a
        // pause.
        let longer = failures > 0 ? max(reconnectionTime, .milliseconds(1)) * factor : reconnectionTime
        let (time, openings) = (transfer.core.time, transfer.core.connectivity.openings)
        let asked = max(reconnectionTime, min(retryAfter ?? .zero, Self.longestRetryAfter))
        retryAfter = nil
        let end = time.now.advanced(by: max(asked, min(longer, options.longestWait)))
        let pause = Pause()
        transfer.handle.attach { pause.end() }
        await pause.wait(for: asked, on: time)
        try checkRunning()
        await waitForNetwork(since: openings, until: end)
        try checkRunning()
    }

    private func waitForNetwork(since openings: UInt64, until end: MonotonicTime) async {
        let (gate, time) = (transfer.core.connectivity, transfer.core.time)
        guard time.now < end else { return }
        let wait = Task { _ = await gate.wait(since: openings, until: end, on: time) }
        transfer.handle.attach { wait.cancel() }
        await withTaskCancellationHandler {
            await wait.value
        } onCancel: {
            wait.cancel()
        }
    }

    private func checkRunning() throws(EventSourceFailure) {
        if let reason = transfer.handle.reason { throw .request(failure(reason)) }
        if Task.isCancelled { throw .request(failure(.cancelled)) }
    }

    private func failure(_ reason: RequestFailure.Reason) -> RequestFailure {
        RequestFailure(reason, id: transfer.id, context: transfer.context(of: configuration))
    }
}
