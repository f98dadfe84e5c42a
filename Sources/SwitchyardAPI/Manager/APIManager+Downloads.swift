public import SwitchyardClient

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

extension APIError {
    /// Makes an error of a download's.
    public init(_ failure: DownloadFailure) {
        var context = Context(failure.context)
        context.requestID = failure.id
        context.underlying = failure
        let reason: Reason =
            switch failure.reason {
            case .request(let reason): Reason(reason)
            case .status(let status): .status(status)
            case .lengthMismatch: .body(.truncated)
            case .digestMismatch: .body(.digest)
            case .unsupported(let text): .configuration(.unsupported(text))
            case .file, .destination, .unusableRange: .configuration(.other(failure.description))
            }
        if case .status(let status) = failure.reason {
            context.keep(status: status, headers: failure.headers, body: failure.body)
        }
        self.init(reason, context: context)
    }
}
