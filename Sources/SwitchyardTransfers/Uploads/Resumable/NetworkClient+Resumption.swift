import Dispatch
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

extension NetworkClient {
    /// Runs a resumable upload and returns its response.
    nonisolated(nonsending) func goOn(
        _ configuration: UploadConfiguration,
        _ resumption: UploadResumption,
        id: RequestID,
        on queue: DispatchQueue,
        progress: @escaping TransferProgressHandler
    ) async throws(RequestFailure) -> ServiceResponse {
        let transfer = Transfer(id: id, client: self)
        let progress = UploadProgress(on: queue, configuration.monitor, progress)
        let result: Result<ServiceResponse, RequestFailure> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                start(configuration, resumption, as: transfer, progress) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            transfer.handle.cancel(.cancelled)
        }
        await progress.drain()
        return try result.get()
    }

    /// Runs a resumable upload and calls a completion handler.
    func goOn(
        _ configuration: UploadConfiguration,
        _ resumption: UploadResumption,
        on queue: DispatchQueue,
        progress: @escaping TransferProgressHandler,
        completion: @escaping @Sendable (Result<ServiceResponse, RequestFailure>) -> Void
    ) -> RequestID {
        let transfer = Transfer(id: RequestID(), client: self)
        let progress = UploadProgress(on: queue, configuration.monitor, progress)
        let gate = CallbackGate()
        start(configuration, resumption, as: transfer, progress) { result in
            gate.pass { queue.async { completion(result) } }
        }
        gate.open()
        return transfer.id
    }

    /// Starts an upload in a new task.
    ///
    /// The transfer's handle can cancel this task.
    ///
    /// The task does not retain the client.
    private func start(
        _ configuration: UploadConfiguration,
        _ resumption: UploadResumption,
        as transfer: Transfer,
        _ progress: UploadProgress,
        completion: @escaping @Sendable (Result<ServiceResponse, RequestFailure>) -> Void
    ) {
        // This body is never sent. It makes the table of active transfers show the entry as an upload. The requests of
        // the upload have their own bodies.
        var asked = configuration.request
        asked.method = asked.sentMethod
        asked.prebuiltRequest = nil
        asked.body = .custom(contentType: configuration.source.contentType) { HTTPBody.none }
        do throws(RequestFailure.Reason) {
            try transfer.begin(asked, delivery: .whole)
        } catch {
            let context = transfer.context(of: configuration.request)
            return completion(.failure(RequestFailure(error, id: transfer.id, context: context)))
        }
        transfer.carryOut(shownBy: configuration.monitor, completion: completion) {
            await transfer.loadOwner()
            do throws(RequestFailure) {
                var upload = try ResumableUpload(transfer, configuration, resumption, progress: progress)
                return .success(try await upload.run())
            } catch {
                return .failure(error)
            }
        }
    }
}
