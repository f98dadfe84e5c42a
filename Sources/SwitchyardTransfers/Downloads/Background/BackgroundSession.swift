#if canImport(Darwin)
    import Foundation
    import SwitchyardClient
    import SwitchyardHTTP
    import SwitchyardServices
    import SwitchyardTransport

    /// The URL session of ``BackgroundDownloads``.
    ///
    /// `@unchecked Sendable` is sound: `session` is set once in the initializer, before anything is started. All other
    /// state is constant, protected by a lock, or isolated to the main actor.
    final class BackgroundSession: NSObject, URLSessionDownloadDelegate, @unchecked Sendable {
        private struct State {
            var isInvalid = false
            /// The result of moving each downloaded file to its destination, by task identifier.
            ///
            /// A result is kept until the task ends.
            var places: [Int: Result<URL, DownloadFailure>] = [:]
            /// The identifiers of tasks whose server was not trusted.
            ///
            /// The system's error for such a task only reports a cancellation.
            var refused: Set<Int> = []
        }

        private let identifier: String
        private let completion: BackgroundDownloads.Completion
        private let tls: TLSConfiguration
        private let trust: URLSessionTrust
        private let state = Locked(State())
        @MainActor private var handlers = BackgroundHandlers()
        private var session = URLSession.shared

        init(
            _ configuration: URLSessionConfiguration,
            tls: TLSConfiguration,
            completion: @escaping BackgroundDownloads.Completion
        ) throws(DownloadFailure) {
            identifier = configuration.identifier ?? ""
            do throws(TransportError) {
                trust = try URLSessionTrust(tls)
                try Self.claim(identifier)
            } catch {
                throw .background(.request(.transport(error)))
            }
            self.tls = tls
            self.completion = completion
            super.init()
            configuration.keepNothing()
            configuration.keep(to: tls)
            // Creating the session attaches it to the tasks of an earlier run. The delegate methods can be called from
            // now on.
            session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        }

        private static func claim(_ identifier: String) throws(TransportError) {
            guard !identifier.isEmpty, BackgroundIdentifiers.claim(identifier) else {
                let message = "the identifier \"\(identifier)\" is empty, or another background session has it"
                throw TransportError(.invalidRequest, message: message, mayHaveBeenSent: false)
            }
        }

        func start(_ request: HTTPRequest, to file: URL) throws(DownloadFailure) -> BackgroundDownloads.Download {
            let head: URLRequest
            do throws(TransportError) { head = try self.head(of: request) } catch {
                throw .background(.request(.transport(error)))
            }
            guard file.isFileURL else {
                throw .background(.file(FileFailure(path: file.absoluteString, reason: .notAFileURL)))
            }
            let task = session.downloadTask(with: head)
            // The system stores the description with the task, so a later run of the app can read it. The path is
            // abbreviated because iOS may move the app's home directory between two runs.
            task.taskDescription = (file.path as NSString).abbreviatingWithTildeInPath
            recordEvent()
            task.resume()
            return BackgroundDownloads.Download(number: task.taskIdentifier, file: file)
        }

        private func head(of request: HTTPRequest) throws(TransportError) -> URLRequest {
            // Creating a task in an invalid session would crash the app.
            guard !state.withLock({ $0.isInvalid }) else {
                let message = "the system has ended the background session; an extension needs a shared container"
                throw TransportError(.closed, message: message, mayHaveBeenSent: false)
            }
            try tls.check(request.url)
            guard request.tls == nil || request.tls == tls else {
                let message = "the TLS configuration of a request differs from that of the background session"
                throw TransportError(.unsupported, message: message, mayHaveBeenSent: false)
            }
            var plain = request
            plain.body = .none
            var head = try URLSessionRequest(plain).head
            // 60 seconds is the system's default. After this timeout, a background session does not fail but retries
            // (Apple, `URLSessionConfiguration`, "timeoutIntervalForRequest").
            head.timeoutInterval = 60
            return head
        }

        func active() async -> [BackgroundDownloads.Download] {
            await session.allTasks.filter { $0.state == .running || $0.state == .suspended }.compactMap(\.download)
        }

        func cancel(_ download: BackgroundDownloads.Download) {
            session.getAllTasks { tasks in
                for task in tasks where task.taskIdentifier == download.number { task.cancel() }
            }
        }

        /// Accepts no more downloads.
        ///
        /// The URL session releases this object, its delegate, when the active downloads have ended.
        func close() {
            session.finishTasksAndInvalidate()
        }

        @MainActor func whenEventsAreFinished(_ handler: @escaping () -> Void) {
            handlers.add(handler)?()
        }

        /// Records an event on the main queue, so that the events keep their order.
        private func recordEvent() {
            DispatchQueue.main.async {
                MainActor.assumeIsolated { self.handlers.eventCame() }
            }
        }

        // MARK: URLSessionDownloadDelegate

        func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
            state.withLock { $0.isInvalid = true }
            // From here on, it is safe to create another session with this identifier.
            BackgroundIdentifiers.release(identifier)
        }

        func urlSession(
            _ session: URLSession,
            downloadTask task: URLSessionDownloadTask,
            didFinishDownloadingTo location: URL
        ) {
            guard let download = task.download else { return }
            let place = place(location, of: task, at: download.file)
            state.withLock { $0.places[task.taskIdentifier] = place }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            recordEvent()
            guard let download = task.download else { return }
            let (place, isRefused) = state.withLock { state in
                (
                    state.places.removeValue(forKey: task.taskIdentifier),
                    state.refused.remove(task.taskIdentifier) != nil
                )
            }
            let failure = error.map { error in
                let cause =
                    isRefused ? .untrustedServer : URLSessionFailure(error, hasHead: task.response != nil).error
                let reason: RequestFailure.Reason = cause.kind == .cancelled ? .cancelled : .transport(cause)
                return DownloadFailure.background(.request(reason))
            }
            let missing = DownloadFailure.background(.unsupported("the system provided no file"))
            completion(download, failure.map { .failure($0) } ?? place ?? .failure(missing))
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            trust.answer(challenge) { disposition, credential in
                if disposition == .cancelAuthenticationChallenge {
                    self.state.withLock { _ = $0.refused.insert(task.taskIdentifier) }
                }
                completionHandler(disposition, credential)
            }
        }

        func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
            DispatchQueue.main.async {
                MainActor.assumeIsolated {
                    for handler in self.handlers.takeEventDeliveries() { handler() }
                }
            }
        }

        /// Moves the file immediately because the system removes it when the delegate method returns.
        private func place(_ location: URL, of task: URLSessionTask, at file: URL) -> Result<URL, DownloadFailure> {
            let last = task.response?.url
            guard BackgroundRedirects.allow(last, for: task.originalRequest?.url, isPinned: !tls.pins.isEmpty) else {
                let error = RequestError.url(text: last?.absoluteString ?? "", reason: .insecure)
                return .failure(.background(.request(.invalidRequest(error))))
            }
            let status = (task.response as? HTTPURLResponse)?.statusCode ?? 200
            guard (200..<300).contains(status) else { return .failure(.background(.status(status))) }
            do throws(FileFailure) {
                return .success(try FilePlacement(rule: .replace, createsDirectories: true).place(location, at: file))
            } catch {
                return .failure(.background(.file(error)))
            }
        }
    }

    extension URLSessionTask {
        fileprivate var download: BackgroundDownloads.Download? {
            taskDescription.map { description in
                let path = (description as NSString).expandingTildeInPath
                return .init(number: taskIdentifier, file: URL(fileURLWithPath: path))
            }
        }
    }
#endif
