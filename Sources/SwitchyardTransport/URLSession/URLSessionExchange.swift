import Foundation
import SwitchyardHTTP
import SwitchyardServices

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One exchange over `URLSession`: the data received so far, and a completion that is called once.
final class URLSessionExchange: TransportTask {
    typealias Outcome = Result<HTTPResponse, TransportError>

    private struct State {
        var task: URLSessionTask?
        var stopsTask = false
        var hasEnded = false
        var isDelivered = false
        var wasChallenged = false
        var response: HTTPResponse?
        var body = Data()
        var received: Int64 = 0
        var expected: Int64?
        var sent: Int64 = 0
        /// Whether the request is known to have been sent, on this or an earlier connection.
        var wasSent = false
        var channel: BodyChannel?
        var metrics: TransferMetrics?
        var lastActivity = DispatchTime.now()
        /// Whether the task is suspended because its reader is slow.
        var isSuspended = false
        var timer: DeadlineTimer?
        #if canImport(Darwin)
            var bodySource: HTTPBody.Stream?
            var feed: URLSessionBodyFeed?
        #endif
    }

    private let state = Locked(State())
    private let request: HTTPRequest
    private let configuration: URLSessionTransport.Configuration
    private let progress: TransferProgressHandler?
    private let completion: @Sendable (Outcome) -> Void

    init(
        request: HTTPRequest,
        configuration: URLSessionTransport.Configuration,
        progress: TransferProgressHandler?,
        completion: @escaping @Sendable (Outcome) -> Void
    ) {
        self.request = request
        self.configuration = configuration
        self.progress = progress
        self.completion = completion
    }

    // MARK: Task

    /// Stores the task.
    ///
    /// If the exchange has already been cancelled, cancels the task.
    func started(_ task: URLSessionTask) {
        let stops = state.withLock { state in
            state.task = task
            return state.stopsTask
        }
        if stops { Self.stop(task) }
    }

    func cancel() {
        end(.failure(TransportError(.cancelled, message: "cancelled")), stopsTask: true)
    }

    private static func stop(_ task: URLSessionTask) {
        // The task is cancelled on another queue, because cancelling it on the delegate's queue can deadlock on Linux.
        DispatchQueue.global().async { task.cancel() }
    }

    /// Ends the exchange, unless it has ended.
    func end(_ outcome: Outcome, stopsTask: Bool = false) {
        let (isFirst, isDelivered, task, timer, channel) = state.withLock { state in
            let isFirst = !state.hasEnded
            state.hasEnded = true
            if isFirst, stopsTask { state.stopsTask = true }
            defer {
                state.timer = nil
                state.channel = nil  // Breaks a retain cycle.
                state.body = Data()
            }
            return (isFirst, state.isDelivered, state.task, state.timer, state.channel)
        }
        timer?.cancel()
        guard isFirst else { return }
        if stopsTask, let task { Self.stop(task) }
        stopFeeding()
        channel?.finish(outcome.map { _ in })
        if !isDelivered { completion(outcome) }
    }

    // MARK: Response

    func receive(_ response: HTTPURLResponse) {
        guard response.statusCode >= 200 || response.statusCode == 101 else { return }
        var head = HTTPResponse(response)
        let channel = request.delivery == .stream ? makeChannel() : nil
        let isNews = state.withLock { state in
            state.lastActivity = .now()
            guard !state.hasEnded, state.response == nil else { return false }
            state.response = head
            state.expected = response.expectedContentLength >= 0 ? response.expectedContentLength : nil
            state.channel = channel
            state.isDelivered = channel != nil
            return true
        }
        guard isNews else { return }
        if let channel {
            head.body = .stream(BodyReader(channel).stream)
            completion(.success(head))
        } else if request.skipsRedirectBody, head.redirectTarget != nil {
            end(.success(head), stopsTask: true)
        }
    }

    private func makeChannel() -> BodyChannel {
        BodyChannel(
            capacity: configuration.streamBufferSize,
            resume: { [self] in followReader() },
            cancel: { [self] in cancel() }
        )
    }

    func receive(_ data: Data) {
        let report = state.withLock { state -> (channel: BodyChannel?, count: Int64, expected: Int64?)? in
            state.lastActivity = .now()
            guard !state.hasEnded else { return nil }
            state.received += Int64(data.count)
            if state.channel == nil { state.body.append(data) }
            return (state.channel, state.received, state.expected)
        }
        guard let (channel, count, expected) = report else { return }
        progress?(TransferProgress(direction: .download, completed: count, total: expected))
        if let limit = request.responseBodyLimit, count > limit { return tooMuch("larger than allowed") }
        guard let channel else { return }
        if channel.offer(data) == 0 { followReader() }
        // A suspended task may continue to receive data. There are reports of memory that grows without limit
        // (AetherEngine, issue 220).
        if channel.backlog > max(configuration.maximumBacklog, configuration.streamBufferSize) {
            tooMuch("read too slowly, and URLSession continues to receive data")
        }
    }

    private func tooMuch(_ reason: String) {
        let error = TransportError(.bodyTooLarge, message: "the response's body is \(reason)")
        end(outcome(of: error), stopsTask: true)
    }

    /// Suspends the task while the reader of its body is paused, and resumes it afterwards.
    ///
    /// Does nothing on Linux, where a suspended task would restart its request.
    private func followReader() {
        #if canImport(Darwin)
            Self.pacing.async { self.adjustPace() }
        #endif
    }

    /// Returns the result of an exchange whose transfer failed.
    ///
    /// A failed transfer may still have a response.
    private func outcome(of error: TransportError) -> Outcome {
        let (head, body, isStreamed) = state.withLock { ($0.response, $0.body, $0.channel != nil) }
        guard let head, !isStreamed else { return .failure(error) }
        let error = error.naming(codings: head.headers)
        return HTTPResponse(head, partialBody: { body }, failedWith: error).map { .success($0) } ?? .failure(error)
    }

    func endsByChallenge() {
        state.withLock { $0.wasChallenged = true }
    }

    /// Ends the exchange with the error that `URLSession` reports at the end of the task.
    func complete(_ error: (any Error)?) {
        let (response, body, metrics, wasChallenged, wasSent) = state.withLock { state in
            (state.response, state.body, state.metrics, state.wasChallenged, state.wasSent || state.sent > 0)
        }
        if let error, !(wasChallenged && response != nil) {
            return end(outcome(of: URLSessionFailure(error, hasHead: response != nil, wasSent: wasSent).error))
        }
        guard var response else {
            return end(.failure(TransportError(.protocolViolation, message: "the response is not an HTTP response")))
        }
        response.body = .whole(body)
        response.metrics = metrics
        end(.success(response))
    }

    // MARK: Progress

    func reportUpload(_ sent: Int64, of total: Int64) {
        let isNews = state.withLock { state in
            state.lastActivity = .now()
            defer { state.sent = max(state.sent, sent) }
            return sent > state.sent
        }
        guard isNews else { return }
        progress?(TransferProgress(direction: .upload, completed: sent, total: total > 0 ? total : nil))
    }

    // MARK: Timeouts

    func startTimers() {
        guard request.timeouts.total != nil || request.timeouts.idle != nil else { return }
        let start = DispatchTime.now()
        let timer = DeadlineTimer { [weak self] in self?.checkTime(since: start) }
        let isRunning = state.withLock { state in
            guard !state.hasEnded else { return false }
            state.timer = timer
            return true
        }
        timer.start(at: nextCheck(since: start))
        if !isRunning { timer.cancel() }
    }

    private func nextCheck(since start: DispatchTime) -> DispatchTime {
        let total = request.timeouts.total.map { start + .nanoseconds(Int(clamping: $0.clampedNanoseconds)) }
        // While the exchange waits for its reader, the server counts as active.
        let lastActivity = state.withLock { $0.isSuspended ? .now() : $0.lastActivity }
        let idle = request.timeouts.idle.map { lastActivity + .nanoseconds(Int(clamping: $0.clampedNanoseconds)) }
        return min(total ?? .distantFuture, idle ?? .distantFuture)
    }

    private func checkTime(since start: DispatchTime) {
        let next = nextCheck(since: start)
        guard next <= .now() else {
            state.withLock { $0.timer }?.move(to: next)
            return
        }
        end(outcome(of: TransportError(.timeout, message: "the exchange exceeded its timeout")), stopsTask: true)
    }

    // MARK: Apple systems only

    private func stopFeeding() {
        #if canImport(Darwin)
            state.withLock { $0.feed }?.stop()
        #endif
    }

    #if canImport(Darwin)
        /// The serial queue on which tasks are suspended and resumed.
        private static let pacing = DispatchQueue(label: "switchyard.pacing")

        /// Suspends or resumes the task according to the space in its reader's buffer.
        ///
        /// A suspended task is not suspended again, because `URLSession` counts suspensions and still delivers data
        /// that arrived before a suspension took effect.
        private func adjustPace() {
            let (task, channel) = state.withLock { ($0.task, $0.channel) }
            guard let task, let channel else { return }
            let isSuspended = channel.isPaused
            let isNews = state.withLock { state in
                guard state.isSuspended != isSuspended else { return false }
                state.isSuspended = isSuspended
                state.lastActivity = .now()
                return true
            }
            guard isNews else { return }
            if isSuspended { task.suspend() } else { task.resume() }
        }

        var bodySource: HTTPBody.Stream? {
            get { state.withLock { $0.bodySource } }
            set { state.withLock { $0.bodySource = newValue } }
        }

        /// Creates the stream from which `URLSession` reads the body.
        ///
        /// A second call means that `URLSession` is about to send the request again. Only `ResendRule.anytime` allows
        /// that.
        func makeBodyStream() -> InputStream? {
            let (source, isFirst) = state.withLock { ($0.bodySource, $0.feed == nil) }
            guard let source, isFirst || request.resendRule == .anytime else { return nil }
            stopFeeding()
            do {
                let feed = try URLSessionBodyFeed(source) { [weak self] error in
                    self?.end(.failure(error), stopsTask: true)
                }
                let isLate = state.withLock { state in
                    state.feed = feed
                    return state.hasEnded
                }
                if isLate { feed.stop() }
                return feed.input
            } catch {
                end(.failure(error), stopsTask: true)
                return nil
            }
        }

        /// Ends the exchange because the trust settings or pins reject the certificate.
        func rejectCertificate() {
            let message = "the server's certificate is not trusted, or has none of the pinned keys"
            end(.failure(TransportError(.certificateRejected, message: message, mayHaveBeenSent: false)))
        }

        func receive(_ metrics: URLSessionTaskMetrics) {
            let measured = TransferMetrics(metrics)
            let wasSent = metrics.transactionMetrics.contains { $0.requestStartDate != nil }
            state.withLock { state in
                state.metrics = measured
                state.wasSent = wasSent
            }
        }
    #endif
}

/// A system timer that can be moved and cancelled from any thread.
///
/// `@unchecked Sendable` is sound: its only property is a dispatch source, whose functions may be called from any
/// thread.
private struct DeadlineTimer: @unchecked Sendable {
    private let source: any DispatchSourceTimer

    init(_ action: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: .global())
        source.setEventHandler(handler: action)
    }

    func start(at deadline: DispatchTime) {
        move(to: deadline)
        source.resume()
    }

    func move(to deadline: DispatchTime) {
        source.schedule(deadline: deadline, leeway: .milliseconds(1))
    }

    func cancel() {
        source.cancel()
    }
}
