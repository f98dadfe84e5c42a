import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The connections of one listener of an ``EventSource``, one after the other.
///
/// @unchecked is sound: it belongs to one iterator, whose `next` is called by one task at a time and awaited; nothing
/// else touches what varies.
final class EventConnection: @unchecked Sendable {
    /// The shortest pause that a server can ask for.
    ///
    /// One that wants to be asked at once, and closes at once, would be asked for ever without one. Gecko has the same
    /// bound, and section 9.2.3 of the standard allows it: "Optionally, wait some more."
    private static let shortestPause = Duration.milliseconds(500)
    /// The longest pause that an answer can ask for by `Retry-After`.
    private static let longestRetryAfter = Duration.seconds(3600)

    private let configuration: APIConfiguration
    private let options: EventSource.Options
    private let transfer: Transfer
    /// Keeps the client for as long as somebody listens.
    private let source: EventSource
    private var parser: EventParser
    private var reader: EventReader?
    private var server: Server.ID?
    /// Servers that are asked next only if there is no other; by name, since the list may change meanwhile.
    private var avoided: [Server.ID] = []
    private var reconnectionTime: Duration
    /// How long the server wants to be left alone, after an answer that said so.
    private var retryAfter: Duration?
    private var failures = 0
    private var hasBegun = false
    private var isOver = false

    init(_ source: EventSource) {
        self.source = source
        // One key over all connections.
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

    /// Waits for the next event; `nil` when the server has no more.
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

    /// Makes a connection; `false` when the server says that there is nothing more, or the wait for the next one begins.
    private func connect() async throws(EventSourceFailure) -> Bool {
        let response: ServiceResponse
        do throws(RequestFailure) {
            response = try await transfer.open(request, avoiding: avoided, endsByHandle: true)
        } catch {
            guard mayPass(error.reason), mayTryAgain else { throw .request(error) }
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

    /// Whether another connection is to be made after an answer that is none; `false` when the server has nothing more.
    ///
    /// A response with a transient status (``/SwitchyardHTTP/Transience``) is handled like a connection that failed.
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

    /// An answer with the beginning of its body, as far as that comes within two seconds.
    private func whole(_ response: ServiceResponse) async -> ServiceResponse {
        let time = transfer.core.time
        let timer = time.schedule(at: time.now.advanced(by: .seconds(2))) { response.discardBody() }
        transfer.handle.attach { response.discardBody() }
        var answer = response
        answer.response.body = .whole(await response.response.collectPrefix(65_536))
        timer.cancel()
        return answer
    }

    /// Whether another connection may be made once a server has had the request.
    private var mayReconnect: Bool { configuration.resendRule == .anytime }

    private var request: APIConfiguration {
        var request = configuration
        request.setField("Accept", "text/event-stream")
        // What a browser sends: the HTML standard (section 9.2.2) sets the cache mode `no-store`, for which the Fetch standard
        // sends this. The directive `no-store` would not keep a cache on the way from answering (RFC 9111 section 5.2.1.5).
        request.setField("Cache-Control", "no-cache")
        let last = HTTPHeaders.Field(name: "Last-Event-ID", value: parser.lastEventID)
        // An event stream may give an id that no header field can hold; that is no reason to end here.
        if !last.value.isEmpty, last.isValid { request.setField(last.name, last.value) }
        return request
    }

    /// Whether the request may be sent again after it got no answer, and may get one then.
    private func mayPass(_ reason: RequestFailure.Reason) -> Bool {
        switch reason {
        case .transport(let cause): Transience(cause.kind) != .permanent && (mayReconnect || !cause.mayHaveBeenSent)
        // That of one request, and not of all of them: a server that hangs, or a network that swallows everything.
        case .deadlineExceeded: mayReconnect && transfer.handle.reason == nil
        // Nothing was done.
        case .overloaded, .rateLimited, .queueFull: true
        case .credentials(.unavailable), .credentials(.renewalFailed), .credentials(.renewalTimedOut): true
        default: false
        }
    }

    /// Takes note of a connection that failed; `false` when it was one too many.
    private var mayTryAgain: Bool {
        failures += 1
        return failures <= options.maximumFailures ?? .max
    }

    // MARK: Reading

    /// The next event of the connection; `nil` when it has ended or broken off, and another is to be made.
    private func nextEvent() async throws(EventSourceFailure) -> ServerSentEvent? {
        guard reader != nil else { return nil }
        do throws(RequestFailure) {
            let event = try await reader?.next()
            takeNote()
            // An end in good order is no failure either.
            failures = 0
            return event
        } catch {
            takeNote()
            guard case .transport(let cause) = error.reason, Transience(cause.kind) != .permanent, mayReconnect,
                mayTryAgain
            else { throw .request(error) }
            avoidServer()
            return nil
        }
    }

    private func takeNote() {
        guard let read = reader?.parser else { return }
        parser = read
        reconnectionTime = read.reconnectionTime.map { max($0, Self.shortestPause) } ?? reconnectionTime
        // A head alone shows no life: a server may break off every connection behind it.
        if reader?.hasLines == true { failures = 0 }
    }

    /// Asks another server next, if there is one.
    private func avoidServer() {
        guard transfer.pool.hasAlternatives, let server else { return }
        avoided.append(server)
    }

    /// Waits as long as the server wants; longer, up to a limit, after failures in a row, but for that only until the
    /// network is back.
    private func waitToReconnect() async throws(EventSourceFailure) {
        reader = nil
        let factor = Double(1 << min(max(0, failures - 1), 16))
        // Twice nothing is nothing: a server that is down must not be asked without a pause.
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
