public import SwitchyardAPI
public import SwitchyardClient
public import SwitchyardTransport

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
    public func download(
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
