public import Dispatch
public import SwitchyardAPI
public import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices
public import SwitchyardTransport

extension NetworkClient {
    /// Uploads and returns the response, whatever its status.
    ///
    /// Cancelling the task cancels the upload. `UploadConfiguration.resumption` describes how a later call can continue
    /// the upload.
    ///
    /// - Parameters:
    ///   - configuration: The request and the source of the upload.
    ///   - id: The identifier of the upload, with which another task can cancel it. Each upload needs a new identifier.
    ///   - progress: A closure that receives the number of bytes sent, called in order on a serial queue. The number
    ///     never decreases, even if another server is asked. The last report has all bytes sent and is delivered before
    ///     this method returns.
    /// - Returns: The response.
    /// - Throws: ``RequestFailure``. Its reason is ``RequestFailure/Reason/invalidRequest(_:)`` if the source could not
    ///   be read.
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
            let answer = try await answer(to: written(run.request), id: id, progress: run.report, endedBy: handle)
            run.succeed(with: answer)
            await run.progress.drain()
            return answer
        } catch {
            run.end()
            await run.progress.drain()
            throw run.explained(error)
        }
    }

    /// Uploads and calls a completion handler with the response, whatever its status.
    ///
    /// - Parameters:
    ///   - configuration: The request and the source of the upload.
    ///   - queue: The serial queue for all callbacks, including `progress`; the main queue unless given.
    ///   - progress: A closure that receives the number of bytes sent, as in ``upload(_:id:progress:)``.
    ///   - completion: A closure that is called exactly once, always after this method has returned.
    /// - Returns: The identifier of the upload, with which the upload can be cancelled.
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
            // The queue is serial, so the completion runs after the last progress report.
            gate.pass { queue.async { completion(explained) } }
        }
        run.bind { [weak core] in core?.cancel(CollectionOfOne(id)) }
        gate.open()
        return id
    }
}

/// An active upload that consists of one request and cannot be resumed.
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

    /// The handler of the transport's progress reports.
    ///
    /// If the length of the upload is unknown, it ignores the transport's count of sent bytes and uses the count of
    /// ``UploadLedger``.
    var report: TransferProgressHandler {
        { [progress, length] report in
            if length != nil || report.direction == .download { progress.report(report) }
        }
    }

    /// Lets the monitor cancel the upload by calling `cancel`.
    func bind(_ cancel: @escaping @Sendable () -> Void) {
        monitor?.attach(cancel)
    }

    /// Reports that all bytes are sent, unless the server responded with an error before it had received the whole
    /// body.
    func succeed(with answer: ServiceResponse) {
        let length = length ?? ledger.count
        // After a redirect, the metrics do not include the bytes that were sent before it.
        let isShort = answer.context.redirects.isEmpty && answer.response.metrics.map { $0.bytesSent < length } ?? false
        if answer.status < 300 || !isShort { progress.finish(length: length) }
        monitor?.detach()
    }

    func end() {
        monitor?.detach()
    }

    /// Returns a failure of the upload, with the source's error as its reason if the source failed.
    func explained(_ failure: RequestFailure) -> RequestFailure {
        ledger.explained(failure)
    }
}

extension UploadSource {
    /// The length of the source in bytes; `nil` if it is unknown.
    fileprivate var length: Int64? {
        switch kind {
        case .data(let data): Int64(data.count)
        case .file(let url): try? FileBody.length(of: url)
        case .stream(let stream): stream.length
        // If the form is invalid, its length is unknown. The error is reported when the form is sent.
        case .form(let form): try? form.length()
        }
    }
}

extension APIManager {
    /// Uploads and returns the value decoded from the response.
    ///
    ///     let film: Film = try await upload(UploadConfiguration(path: "films", from: .file(file)))
    ///
    /// Cancelling the task cancels the upload.
    ///
    /// - Parameters:
    ///   - configuration: The request and the source of the upload.
    ///   - type: The type of the value; use `EmptyBody` if the response has no value.
    ///   - keyPath: The path of the value in the response. If the module has an envelope, the path starts inside the
    ///     envelope.
    ///   - id: The identifier of the upload, with which `client.cancel(id)` ends it.
    ///   - progress: A closure that receives the number of bytes sent. The reports are in order, the number never
    ///     decreases, and the last report has all bytes sent.
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

    /// Uploads and returns the value decoded from the response, together with the response's status and header fields.
    ///
    /// - Parameters:
    ///   - configuration: The request and the source of the upload.
    ///   - serializer: The serializer that creates the value; ``APIModule/serializer(for:at:)`` removes the module's
    ///     envelope (outer JSON object).
    ///   - id: The identifier of the upload, with which `client.cancel(id)` ends it.
    ///   - progress: A closure that receives the number of bytes sent. The reports are in order, the number never
    ///     decreases, and the last report has all bytes sent.
    /// - Returns: The value, with status and header fields. For a resumable upload, the context's `url` is the URL of
    ///   the upload.
    /// - Throws: ``APIError``. Its reason is ``/SwitchyardAPI/APIError/BodyReason/responseLost`` if a tus upload is
    ///   complete but the response with the value was lost. The resume record is then kept, so that another call does
    ///   not upload a second copy.
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
                isLost.withLock { $0 = upload.resumption?.isRequestItself(response) ?? false }
                return response
            }
        } catch {
            guard isLost.withLock({ $0 }), case .body(.empty) = error.unformatted.reason else { throw error }
            throw module.completed(lostResponse(error.unformatted))
        }
    }

    /// Returns the error for an upload that is complete although the response with its value was lost.
    private func lostResponse(_ error: APIError) -> APIError {
        var error = APIError(.body(.responseLost), context: error.context)
        error.context.mayHaveBeenExecuted = true
        return error
    }
}

extension UploadResumption {
    /// Returns whether a response has no body because it belongs to the HEAD request by which tus asks for the offset.
    fileprivate func isRequestItself(_ response: ServiceResponse) -> Bool {
        if case .tus = dialect { response.context.method == .head } else { false }
    }
}
