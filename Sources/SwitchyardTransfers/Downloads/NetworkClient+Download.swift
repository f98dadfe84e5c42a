public import Dispatch
import Foundation
public import SwitchyardAPI
public import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices
public import SwitchyardTransport

extension NetworkClient {
    /// Downloads to a file and returns it.
    ///
    /// Cancelling the task cancels the download. The received bytes are kept so that a later call can resume it; see
    /// ``/SwitchyardTransfers/DownloadConfiguration/isResumable``.
    ///
    /// - Parameters:
    ///   - configuration: The request and the destination of the download.
    ///   - id: The identifier of the download, with which another task can cancel it. Each download needs a new
    ///     identifier.
    ///   - progress: A closure that receives the number of bytes in the file, including bytes from an earlier download.
    ///     The reports are in order, the number never decreases, and the last report has the length of the file. The
    ///     closure is called on an arbitrary thread.
    /// - Returns: The file at its destination.
    /// - Throws: ``/SwitchyardTransfers/DownloadFailure``. If it throws an error, an existing file at the destination
    ///   is unchanged.
    public nonisolated(nonsending) func download(
        _ configuration: DownloadConfiguration,
        id: RequestID = RequestID(),
        progress: @escaping TransferProgressHandler = { _ in }
    ) async throws(DownloadFailure) -> DownloadedFile {
        let transfer = Transfer(id: id, client: self)
        let result: Result<DownloadedFile, DownloadFailure> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                start(configuration, as: transfer, progress: progress) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            transfer.handle.cancel(.cancelled)
        }
        return try result.get()
    }

    /// Downloads to a file and calls a completion handler.
    ///
    /// - Parameters:
    ///   - configuration: The request and the destination of the download.
    ///   - queue: The queue for all callbacks, including `progress`; the main queue unless given.
    ///   - progress: A closure that receives the number of bytes in the file, as in ``download(_:id:progress:)``.
    ///   - completion: A closure that is called exactly once, always after this method has returned.
    /// - Returns: The identifier of the download, with which the download can be cancelled.
    @discardableResult
    public func download(
        _ configuration: DownloadConfiguration,
        on queue: DispatchQueue = .main,
        progress: @escaping TransferProgressHandler = { _ in },
        completion: @escaping @Sendable (Result<DownloadedFile, DownloadFailure>) -> Void
    ) -> RequestID {
        let transfer = Transfer(id: RequestID(), client: self)
        let report: TransferProgressHandler = { report in queue.async { progress(report) } }
        let gate = CallbackGate()
        start(configuration, as: transfer, progress: report) { result in
            gate.pass { queue.async { completion(result) } }
        }
        gate.open()
        return transfer.id
    }

    /// Removes the partial file of an interrupted download.
    ///
    /// Does nothing if there is no partial file or if the download is active.
    ///
    /// `PartialDownload.all(in:)` lists the partial downloads in a directory, even if the app no longer has their
    /// configurations.
    ///
    /// - Parameter configuration: The configuration of the download.
    public func discardPartialDownload(_ configuration: DownloadConfiguration) {
        let environment = environment.rawValue
        let source = TransferSubject(configuration, service: service.name, environment: environment)
        let place = PartialPlace(configuration, source: source)
        guard place.isKept else { return }
        if FileFailure.exists(place.file.path) {
            // Opening fails if an active download holds the lock of the file.
            guard let file = try? PartialFile(at: place.file) else { return }
            file.remove()
        }
        unlink(place.record.path)
    }

    /// Starts a download in a new task.
    ///
    /// The transfer's handle can cancel this task.
    ///
    /// The task does not retain the client.
    private func start(
        _ configuration: DownloadConfiguration,
        as transfer: Transfer,
        progress: @escaping TransferProgressHandler,
        completion: @escaping @Sendable (Result<DownloadedFile, DownloadFailure>) -> Void
    ) {
        do throws(RequestFailure.Reason) {
            try transfer.begin(configuration.request)
        } catch {
            let failure = DownloadFailure(
                .request(error),
                id: transfer.id,
                context: transfer.context(of: configuration.request),
                asking: configuration.request
            )
            return completion(.failure(failure))
        }
        transfer.carryOut(shownBy: configuration.monitor, completion: completion) {
            await transfer.loadOwner()
            do throws(DownloadFailure) {
                var run = try DownloadRun(transfer, configuration, report: progress)
                return .success(try await run.run())
            } catch {
                return .failure(error)
            }
        }
    }
}

extension APIManager {
    /// Downloads to a file and returns it.
    ///
    /// Failures are converted to ``APIError``.
    ///
    /// Cancelling the task cancels the download. The received bytes are kept so that a later call can resume it.
    ///
    /// - Parameters:
    ///   - configuration: The request and the destination of the download.
    ///   - id: The identifier of the download, with which `client.cancel(id)` ends it.
    ///   - progress: A closure that receives the number of bytes in the file. The reports are in order, the number
    ///     never decreases, and the last report has the length of the file.
    /// - Returns: The file at its destination.
    /// - Throws: ``APIError``; the underlying `DownloadFailure` is in ``APIError/Context/underlying``.
    public nonisolated(nonsending) func download(
        _ configuration: DownloadConfiguration,
        id: RequestID = RequestID(),
        progress: @escaping TransferProgressHandler = { _ in }
    ) async throws(APIError) -> DownloadedFile {
        try module.check()
        do throws(DownloadFailure) {
            return try await client.download(configuration, id: id, progress: progress)
        } catch {
            throw module.completed(APIError(error))
        }
    }
}
