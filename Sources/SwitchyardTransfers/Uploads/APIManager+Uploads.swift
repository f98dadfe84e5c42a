public import SwitchyardAPI
public import SwitchyardClient
public import SwitchyardTransport

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
    ///   - progress: Told about bytes sent, in order; never less than before, and at the end all of them.
    /// - Returns: The value.
    /// - Throws: ``APIError``.
    public func upload<Value: Decodable & Sendable>(
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
    ///   - progress: Told about bytes sent, in order; never less than before, and at the end all of them.
    /// - Returns: The value, with status and header fields; the context's `url` is that of an upload that can go on.
    /// - Throws: ``APIError``.
    public func upload<Value: Sendable>(
        _ configuration: UploadConfiguration,
        with serializer: ResponseSerializer<Value>,
        id: RequestID = RequestID(),
        progress: @escaping TransferProgressHandler = { _ in }
    ) async throws(APIError) -> APIResponse<Value> {
        let client = client
        return try await response(to: configuration.request, with: serializer) { request throws(RequestFailure) in
            var upload = configuration
            upload.request.acceptedTypes = request.acceptedTypes
            return try await client.upload(upload, id: id, progress: progress)
        }
    }
}
