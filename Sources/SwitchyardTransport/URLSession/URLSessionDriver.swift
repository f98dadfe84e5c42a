import Foundation
import SwitchyardHTTP
import SwitchyardServices

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The delegate and manager of the session.
///
/// The driver finds the exchange that belongs to each task of the session.
///
/// An invalidated session must not be asked for a task (on Linux this crashes the process). The driver therefore
/// invalidates the session only when the last task has ended and no exchange is being started.
final class URLSessionDriver: NSObject, Sendable {
    private struct State {
        var exchanges: [Int: URLSessionExchange] = [:]
        var starts = 0
        var isClosed = false
        /// Whether the active exchanges were cancelled when the driver was closed.
        var isCancelled = false
        var isInvalid = false
    }

    private let state = Locked(State())
    private let trust: URLSessionTrust
    private let sessionBox = Locked<URLSession?>(nil)

    init(configuration: URLSessionConfiguration, trust: URLSessionTrust) {
        self.trust = trust
        super.init()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: queue)
        sessionBox.withLock { $0 = session }
    }

    /// Starts an exchange.
    ///
    /// Returns `false` if the driver has been closed.
    func start(_ exchange: URLSessionExchange, _ request: URLSessionRequest) -> Bool {
        let isOpen = state.withLock { state in
            guard !state.isClosed else { return false }
            state.starts += 1
            return true
        }
        guard isOpen, let session = sessionBox.withLock({ $0 }) else { return false }
        let task = makeTask(request, on: session, for: exchange)
        state.withLock { $0.exchanges[task.taskIdentifier] = exchange }
        task.resume()
        // The exchange gets the task only after the task has been resumed. On Linux, cancelling a task while it is
        // being started crashes the process.
        exchange.started(task)
        let (isLate, isCancelled) = state.withLock { state in
            state.starts -= 1
            return (state.isClosed, state.isCancelled)
        }
        if isCancelled { exchange.end(.failure(.shutDownInFlight), stopsTask: true) }
        if isLate { invalidateIfIdle() }
        return true
    }

    private func makeTask(
        _ request: URLSessionRequest,
        on session: URLSession,
        for exchange: URLSessionExchange
    ) -> URLSessionTask {
        switch request.body {
        case .none: return session.dataTask(with: request.head)
        case .data(let data): return session.uploadTask(with: request.head, from: data)
        case .file(let url): return session.uploadTask(with: request.head, fromFile: url)
        case .stream(let stream):
            #if canImport(Darwin)
                exchange.bodySource = stream
                var head = request.head
                // The field is reserved, so the system may ignore it and send the body in chunks (Apple,
                // `NSURLRequest`, "Reserved HTTP headers"). ``URLSessionBodyFeed`` enforces the length in both cases.
                if let length = stream.length { head.setValue("\(length)", forHTTPHeaderField: "Content-Length") }
                return session.uploadTask(withStreamedRequest: head)
            #else
                _ = stream  // Refused when the request was created.
                return session.dataTask(with: request.head)
            #endif
        }
    }

    /// Makes later tasks use new connections, if the session supports it.
    func retireConnections() {
        #if canImport(Darwin)
            guard !state.withLock({ $0.isClosed }) else { return }
            sessionBox.withLock { $0 }?.flush {}
        #endif
    }

    /// Accepts no more exchanges.
    ///
    /// If `cancelling` is `true`, active exchanges are cancelled. Otherwise, they complete.
    func close(cancelling: Bool) {
        let exchanges = state.withLock { state in
            state.isClosed = true
            state.isCancelled = state.isCancelled || cancelling
            return cancelling ? Array(state.exchanges.values) : []
        }
        for exchange in exchanges { exchange.end(.failure(.shutDownInFlight), stopsTask: true) }
        invalidateIfIdle()
    }

    private func invalidateIfIdle() {
        let invalidates = state.withLock { state in
            guard state.isClosed, !state.isInvalid, state.starts == 0, state.exchanges.isEmpty else { return false }
            state.isInvalid = true
            return true
        }
        guard invalidates else { return }
        let session = sessionBox.withLock { session in
            defer { session = nil }
            return session
        }
        session?.finishTasksAndInvalidate()
    }

    private func exchange(of task: URLSessionTask) -> URLSessionExchange? {
        state.withLock { $0.exchanges[task.taskIdentifier] }
    }
}

extension URLSessionDriver: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse { exchange(of: dataTask)?.receive(response) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.receive(data)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        exchange(of: task)?.reportUpload(totalBytesSent, of: totalBytesExpectedToSend)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(Darwin)
            trust.answer(challenge) { disposition, credential in
                // The rejection is recorded before the task ends, because the task's error reports only that the task
                // was cancelled.
                if disposition == .cancelAuthenticationChallenge { self.exchange(of: task)?.rejectCertificate() }
                completionHandler(disposition, credential)
            }
        #else
            // On Linux, a task with a 401 never ends without a response to the challenge. The challenge that is
            // cancelled here contains the 401 response.
            if let response = challenge.failureResponse as? HTTPURLResponse { exchange(of: task)?.receive(response) }
            exchange(of: task)?.endsByChallenge()
            completionHandler(.cancelAuthenticationChallenge, nil)
        #endif
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let exchange = state.withLock { $0.exchanges.removeValue(forKey: task.taskIdentifier) }
        exchange?.complete(error)
        if state.withLock({ $0.isClosed }) { invalidateIfIdle() }
    }

    #if canImport(Darwin)
        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            completionHandler(exchange(of: task)?.makeBodyStream())
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            exchange(of: task)?.receive(metrics)
        }
    #endif
}

extension TransportError {
    fileprivate static let shutDownInFlight = TransportError(.closed, message: "the transport has been shut down")
}
