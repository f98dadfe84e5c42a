#if canImport(Darwin)
    import Foundation
    import SwitchyardClient
    import SwitchyardHTTP
    import SwitchyardServices
    import SwitchyardTransport

    /// The session of ``BackgroundDownloads``.
    ///
    /// @unchecked is sound: `session` is set once in the initialiser, before anything is started, and the rest is constant
    /// or behind a lock.
    final class BackgroundSession: NSObject, URLSessionDownloadDelegate, @unchecked Sendable {
        private struct State {
            var handler: (@Sendable () -> Void)?
            /// What became of the files, until the task itself ends.
            var places: [Int: Result<URL, DownloadFailure>] = [:]
            /// The tasks whose server was not trusted; their end says only that they were cancelled.
            var refused: Set<Int> = []
        }

        private let completion: BackgroundDownloads.Completion
        private let tls: TLSConfiguration
        private let trust: URLSessionTrust
        private let state = Locked(State())
        private var session = URLSession.shared

        init(
            identifier: String,
            tls: TLSConfiguration,
            completion: @escaping BackgroundDownloads.Completion
        ) throws(DownloadFailure) {
            do throws(TransportError) { trust = try URLSessionTrust(tls) } catch {
                throw .background(.request(.transport(error)))
            }
            self.tls = tls
            self.completion = completion
            super.init()
            let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
            configuration.keepNothing()
            configuration.keep(to: tls)
            // Attaches to the tasks of an earlier run, whose ends are told from now on.
            session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        }

        func start(_ request: HTTPRequest, to file: URL) throws(DownloadFailure) -> BackgroundDownloads.Download {
            let head: URLRequest
            do throws(TransportError) {
                try tls.check(request.url)
                guard request.tls == nil || request.tls == tls else {
                    let message = "another TLS configuration than that of the background session"
                    throw TransportError(.unsupported, message: message, mayHaveBeenSent: false)
                }
                var plain = request
                plain.body = .none
                head = try URLSessionRequest(plain).head
            } catch {
                throw .background(.request(.transport(error)))
            }
            guard file.isFileURL else {
                throw .background(.file(FileFailure(path: file.absoluteString, reason: .notAFileURL)))
            }
            var allowed = head
            allowed.allowsCellularAccess = request.networkAccess.allowsCellular
            allowed.allowsExpensiveNetworkAccess = request.networkAccess.allowsExpensive
            allowed.allowsConstrainedNetworkAccess = request.networkAccess.allowsConstrained
            let task = session.downloadTask(with: allowed)
            // The system keeps it with the task, so that a later run of the app finds it; iOS may have moved the app's home
            // by then.
            task.taskDescription = (file.path as NSString).abbreviatingWithTildeInPath
            task.resume()
            return BackgroundDownloads.Download(number: task.taskIdentifier, file: file)
        }

        func active() async -> [BackgroundDownloads.Download] {
            await session.allTasks.filter { $0.state == .running || $0.state == .suspended }.compactMap(\.download)
        }

        func cancel(_ download: BackgroundDownloads.Download) {
            session.getAllTasks { tasks in
                for task in tasks where task.taskIdentifier == download.number { task.cancel() }
            }
        }

        /// Takes no more downloads, and goes away when those under way have ended: until then the session keeps it.
        func close() {
            session.finishTasksAndInvalidate()
        }

        func whenEventsAreFinished(_ handler: @escaping @Sendable () -> Void) {
            state.withLock { $0.handler = handler }
        }

        // MARK: URLSessionDownloadDelegate

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
            let missing = DownloadFailure.background(.unsupported("the system gave no file"))
            completion(download, failure.map { .failure($0) } ?? place ?? .failure(missing))
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let (disposition, credential) = trust.answer(challenge)
            if disposition == .cancelAuthenticationChallenge {
                state.withLock { _ = $0.refused.insert(task.taskIdentifier) }
            }
            completionHandler(disposition, credential)
        }

        func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
            // Looked for on the main queue, where the app may just be handing it over.
            DispatchQueue.main.async {
                let handler = self.state.withLock { state in
                    defer { state.handler = nil }
                    return state.handler
                }
                handler?()
            }
        }

        /// Moves the file at once: the system removes it when the delegate has returned.
        private func place(_ location: URL, of task: URLSessionTask, at file: URL) -> Result<URL, DownloadFailure> {
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
