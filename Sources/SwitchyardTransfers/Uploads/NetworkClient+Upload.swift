public import Dispatch
public import SwitchyardAPI
public import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices
public import SwitchyardTransport

extension NetworkClient {
    /// Uploads and returns the answer, whatever its status.
    ///
    /// Cancelling the task cancels the upload; where it goes on after that, see `UploadConfiguration.resumption`.
    ///
    /// - Parameters:
    ///   - configuration: What to send, and where to.
    ///   - id: The name of the upload, with which another task can cancel it. Each takes a new one.
    ///   - progress: Told about bytes sent, in order: never less than before, also when another server is asked, and at the
    ///     end all that were sent before this returns. Called on a serial queue.
    /// - Returns: The answer.
    /// - Throws: ``RequestFailure``; with ``RequestFailure/Reason/invalidRequest(_:)`` when it is the source that failed.
    public nonisolated(nonsending) func upload(
        _ configuration: UploadConfiguration,
        id: RequestID = RequestID(),
        progress: @escaping TransferProgressHandler = { _ in }
    ) async throws(RequestFailure) -> ServiceResponse {
        let queue = DispatchQueue(label: "switchyard.upload")
        if let resumption = configuration.resumption {
            return try await goOn(configuration, resumption, id: id, on: queue, progress: progress)
        }
        let run = UploadRun(configuration, in: pool, on: queue, progress: progress)
        let handle = DispatchHandle()
        run.bind { handle.cancel() }
        do throws(RequestFailure) {
            let answer = try await answer(to: run.request, id: id, progress: run.report, endedBy: handle)
            run.succeed(with: answer)
            await run.progress.drain()
            return answer
        } catch {
            run.end()
            await run.progress.drain()
            throw run.explained(error)
        }
    }

    /// Uploads and calls back with the answer, whatever its status.
    ///
    /// - Parameters:
    ///   - configuration: What to send, and where to.
    ///   - queue: Where to call back, progress included, a serial queue; the main queue unless given.
    ///   - progress: Told about bytes sent, as in ``upload(_:id:progress:)``.
    ///   - completion: Called exactly once, always after this method has returned.
    /// - Returns: The name of the upload, with which it can be cancelled.
    @discardableResult
    public func upload(
        _ configuration: UploadConfiguration,
        on queue: DispatchQueue = .main,
        progress: @escaping TransferProgressHandler = { _ in },
        completion: @escaping @Sendable (Result<ServiceResponse, RequestFailure>) -> Void
    ) -> RequestID {
        if let resumption = configuration.resumption {
            return goOn(configuration, resumption, on: queue, progress: progress, completion: completion)
        }
        let run = UploadRun(configuration, in: pool, on: queue, progress: progress)
        let gate = CallbackGate()
        let id = send(run.request, on: queue, progress: run.report) { result in
            if case .success(let answer) = result { run.succeed(with: answer) } else { run.end() }
            let explained = result.mapError(run.explained)
            // Behind what was reported last.
            gate.pass { queue.async { completion(explained) } }
        }
        run.bind { [weak core] in core?.cancel(CollectionOfOne(id)) }
        gate.open()
        return id
    }
}

/// One upload under way, in one request.
private struct UploadRun: Sendable {
    let progress: UploadProgress
    let request: APIConfiguration
    private let ledger: UploadLedger
    private let monitor: TransferMonitor?
    private let length: Int64?

    init(
        _ configuration: UploadConfiguration,
        in pool: ServerPool,
        on queue: DispatchQueue,
        progress: @escaping TransferProgressHandler
    ) {
        let monitor = configuration.monitor
        self.monitor = monitor
        let length = configuration.source.length
        let passedOn = UploadProgress(on: queue, monitor, progress)
        let ledger = UploadLedger { count in
            guard length == nil else { return }
            passedOn.report(TransferProgress(direction: .upload, completed: count, total: nil))
        }
        var request = configuration.request
        request.limitTime(in: pool)
        configuration.source.fill(&request, ledger, monitor)
        if let algorithm = configuration.digest {
            request.interceptors.append(.sendingDigest(algorithm, of: configuration.source, monitor))
        }
        self.request = request
        self.length = length
        self.ledger = ledger
        self.progress = passedOn
    }

    /// Takes the transport's reports; without a known length only those of the answer, see ``UploadLedger``.
    var report: TransferProgressHandler {
        { [progress, length] report in
            if length != nil || report.direction == .download { progress.report(report) }
        }
    }

    /// Lets the monitor cancel the upload.
    func bind(_ cancel: @escaping @Sendable () -> Void) {
        monitor?.attach(cancel)
    }

    /// Takes the answer, which a server that refuses may give before it has had the whole body.
    func succeed(with answer: ServiceResponse) {
        let length = length ?? ledger.count
        // Of one that was redirected the figures are those of the last request.
        let isShort = answer.context.redirects.isEmpty && answer.response.metrics.map { $0.bytesSent < length } ?? false
        if answer.status < 300 || !isShort { progress.finish(length: length) }
        monitor?.detach()
    }

    func end() {
        monitor?.detach()
    }

    /// The failure with the reason for which the source failed, if it did.
    func explained(_ failure: RequestFailure) -> RequestFailure {
        ledger.explained(failure)
    }
}

extension UploadSource {
    /// The number of bytes, as far as it is known beforehand.
    fileprivate var length: Int64? {
        switch kind {
        case .data(let data): Int64(data.count)
        case .file(let url): try? FileBody.length(of: url)
        case .stream(let stream): stream.length
        // One that cannot be sent fails when it is, with its error.
        case .form(let form): try? form.length()
        }
    }
}

extension APIManager {
    /// Uploads and returns the value of the answer.
    ///
    ///     let film: Film = try await upload(UploadConfiguration(path: "films", from: .file(file)))
    ///
    /// Cancelling the task cancels the upload.
    ///
    /// - Parameters:
    ///   - configuration: What to send, and where to.
    ///   - type: The type of the value; `EmptyBody` where the answer holds nothing of interest.
    ///   - keyPath: Where the value stands in the answer, within the module's frame if it has one.
    ///   - id: The name of the upload, with which `client.cancel(id)` ends it.
    ///   - progress: Told about bytes sent, in order; never less than before, and at the end all that were sent.
    /// - Returns: The value.
    /// - Throws: ``APIError``.
    public nonisolated(nonsending) func upload<Value: Decodable & Sendable>(
        _ configuration: UploadConfiguration,
        as type: Value.Type = Value.self,
        at keyPath: String? = nil,
        id: RequestID = RequestID(),
        progress: @escaping TransferProgressHandler = { _ in }
    ) async throws(APIError) -> Value {
        let serializer = module.serializer(for: type, at: keyPath)
        return try await upload(configuration, with: serializer, id: id, progress: progress).value
    }

    /// Uploads and returns the value of the answer together with the answer that it came from.
    ///
    /// - Parameters:
    ///   - configuration: What to send, and where to.
    ///   - serializer: Makes the value; ``APIModule/serializer(for:at:)`` takes the module's frame off.
    ///   - id: The name of the upload, with which `client.cancel(id)` ends it.
    ///   - progress: Told about bytes sent, in order; never less than before, and at the end all that were sent.
    /// - Returns: The value, with status and header fields; the context's `url` is that of an upload that can go on.
    /// - Throws: ``APIError``; ``/SwitchyardAPI/APIError/BodyReason/responseLost`` if a tus upload is complete and the
    ///   response that had the value was lost. The record stays then, so that another call does not upload a second copy.
    public nonisolated(nonsending) func upload<Value: Sendable>(
        _ configuration: UploadConfiguration,
        with serializer: ResponseSerializer<Value>,
        id: RequestID = RequestID(),
        progress: @escaping TransferProgressHandler = { _ in }
    ) async throws(APIError) -> APIResponse<Value> {
        let client = client
        let isLost = Locked(false)
        do throws(APIError) {
            return try await response(to: configuration.request, with: serializer) { request throws(RequestFailure) in
                var upload = configuration
                upload.request.acceptedTypes = request.acceptedTypes
                upload.resumption?.needsResponse = serializer.emptyValue == nil
                let response = try await client.upload(upload, id: id, progress: progress)
                isLost.withLock { $0 = upload.resumption?.isAnsweredByQuestion(response) ?? false }
                return response
            }
        } catch {
            guard isLost.withLock({ $0 }), case .body(.empty) = error.unformatted.reason else { throw error }
            throw module.completed(lostResponse(error.unformatted))
        }
    }

    /// The error of an upload that is complete, whose last response was lost.
    private func lostResponse(_ error: APIError) -> APIError {
        var error = APIError(.body(.responseLost), context: error.context)
        error.context.mayHaveBeenExecuted = true
        return error
    }
}

extension UploadResumption {
    /// Whether a response is that to the question what has arrived, which tus asks with HEAD and which has no body.
    fileprivate func isAnsweredByQuestion(_ response: ServiceResponse) -> Bool {
        if case .tus = dialect { response.context.method == .head } else { false }
    }
}
