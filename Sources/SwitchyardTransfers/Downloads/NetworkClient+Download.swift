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
    /// Cancelling the task cancels the download; what has come is kept for the next start, see
    /// ``/SwitchyardTransfers/DownloadConfiguration/isResumable``.
    ///
    /// - Parameters:
    ///   - configuration: What to download, and where to.
    ///   - id: The name of the download, with which another task can cancel it. Each takes a new one.
    ///   - progress: Told about the bytes of the file, those from an earlier download included, in order; never less than
    ///     before, and at the end all of them. Called on no particular thread.
    /// - Returns: The file, in its place.
    /// - Throws: ``/SwitchyardTransfers/DownloadFailure``; then what stood at the destination is still there.
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

    /// Downloads to a file and calls back.
    ///
    /// - Parameters:
    ///   - configuration: What to download, and where to.
    ///   - queue: Where to call back, progress included; the main queue unless given.
    ///   - progress: Told about the bytes of the file, as in ``download(_:id:progress:)``.
    ///   - completion: Called exactly once, always after this method has returned.
    /// - Returns: The name of the download, with which it can be cancelled.
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

    /// Removes what is kept of a download that was cut; harmless when there is nothing.
    ///
    /// `PartialDownload.all()` lists what is kept of downloads of which the app knows no more.
    ///
    /// - Parameter configuration: The same as that of the download.
    public func discardPartialDownload(_ configuration: DownloadConfiguration) {
        let environment = environment.rawValue
        let source = TransferSubject(configuration, service: service.name, environment: environment)
        let place = PartialPlace(configuration, source: source)
        guard place.isKept else { return }
        if FileFailure.exists(place.file.path) {
            // Whoever is at it has it.
            guard let file = try? PartialFile(at: place.file) else { return }
            file.remove()
        }
        unlink(place.record.path)
    }

    /// Starts a download in a task of its own, which the transfer's handle can cancel; it does not keep the client.
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
    /// Downloads to a file and returns it; what is refused is an error in the module's words.
    ///
    /// Cancelling the task cancels the download; what has come is kept for the next start.
    ///
    /// - Parameters:
    ///   - configuration: What to download, and where to.
    ///   - id: The name of the download, with which `client.cancel(id)` ends it.
    ///   - progress: Told about the bytes of the file, in order; never less than before, and at the end all of them.
    /// - Returns: The file, in its place.
    /// - Throws: ``APIError``; the `DownloadFailure` behind it is in ``APIError/Context/underlying``.
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
