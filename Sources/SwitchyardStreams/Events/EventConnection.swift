import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The connections that one iterator of an ``EventSource`` opens, one after another.
///
/// `@unchecked Sendable` is sound: the object belongs to one iterator, and `next` of an iterator is never called by two
/// tasks at the same time. No other code accesses the mutable state of the object.
final class EventConnection: @unchecked Sendable {
    /// The minimum pause between two connections that a server can request.
    ///
    /// Without a minimum, a server that requests no pause and closes each connection immediately would receive requests
    /// in an endless loop. Gecko has the same minimum, and section 9.2.3 of the standard allows it: "Optionally, wait
    /// some more."
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
    /// The servers that get a request only if no other server is available, stored by identifier because the server
    /// list may change.
    private var avoided: [Server.ID] = []
    private var reconnectionTime: Duration
    /// The pause that the last response requested with `Retry-After`, or `nil` if it requested no pause.
    private var retryAfter: Duration?
    private var failures = 0
    private var hasBegun = false
    private var isOver = false

    init(_ source: EventSource) {
        self.source = source
        // The snapshot fixes the idempotency key, so that all connections send the same key.
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

    /// Tries to open a connection.
    ///
    /// Returns `false` if the server reports that there are no more events, and `true` otherwise, even if the
    /// connection failed but may be tried again.
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

    /// Decides what follows a response that is not an event stream.
    ///
    /// Returns `false` if the server has no more events (204). Returns `true` if the status is transient
    /// (`Transience`); the response then counts as a failed connection. Otherwise, throws an error.
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

    /// Whether another connection may be opened even if a server has received the request.
    private var mayReconnect: Bool { configuration.resendRule == .anytime }

    private var request: APIConfiguration {
        var request = configuration
        request.setField("Accept", "text/event-stream")
        // Browsers send this field. The HTML standard (section 9.2.2) sets the cache mode `no-store`, and for this mode
        // the Fetch standard sends `no-cache`. The directive `no-store` would not stop an intermediate cache from
        // responding (RFC 9111 section 5.2.1.5).
        request.setField("Cache-Control", "no-cache")
        let last = HTTPHeaders.Field(name: "Last-Event-ID", value: parser.lastEventID)
        // An event stream may send an id that is not allowed in a header field. Such an id is not sent, so that the
        // request does not fail.
        if !last.value.isEmpty, last.isValid { request.setField(last.name, last.value) }
        return request
    }

    /// Returns whether the failure is transient and the request may be sent again.
    private func isTransient(_ reason: RequestFailure.Reason) -> Bool {
        switch reason {
        case .transport(let cause): Transience(cause.kind) != .permanent && (mayReconnect || !cause.mayHaveBeenSent)
        // The deadline of one request has passed, because the server hangs or the network drops all packets. The
        // deadline of the whole event source has not passed.
        case .deadlineExceeded: mayReconnect && transfer.handle.reason == nil
        // In these cases, the request was not sent.
        case .overloaded, .rateLimited, .queueFull: true
        case .credentials(.unavailable), .credentials(.refreshFailed), .credentials(.refreshTimedOut): true
        default: false
        }
    }

    /// Whether another connection may be tried.
    ///
    /// Reading this value counts a failed connection. It is `false` if there were too many consecutive failures.
    private var mayTryAgain: Bool {
        failures += 1
        return failures <= options.maximumFailures ?? .max
    }

    // MARK: Reading

    /// Returns the next event of the open connection.
    ///
    /// Returns `nil` if the connection has ended, so that another connection is needed.
    private func nextEvent() async throws(EventSourceFailure) -> ServerSentEvent? {
        guard reader != nil else { return nil }
        do throws(RequestFailure) {
            let event = try await reader?.next()
            recordChange()
            // If the server ends a connection properly, the connection does not count as failed.
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
        // Only a received line proves that the server works, because a server may break every connection after the
        // response head.
        if reader?.hasLines == true { failures = 0 }
    }

    /// Makes the next connection prefer another server.
    private func avoidServer() {
        guard transfer.pool.hasAlternatives, let server else { return }
        avoided.append(server)
    }

    /// Waits before the next connection: for the server's reconnection time or, after consecutive failures, longer.
    ///
    /// The additional time has a limit, and it ends early when the network is available again.
    private func waitToReconnect() async throws(EventSourceFailure) {
        reader = nil
        let factor = Double(1 << min(max(0, failures - 1), 16))
        // A reconnection time of zero would remain zero when doubled. A server that is down must not receive requests
        // without a pause.
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
