import SwitchyardServices

extension NetworkClient {
    /// Sends a request and returns the answer as soon as its head is there; the body is read as it arrives.
    ///
    /// Until then the request is like any other: it fails over, is hedged, and ends at its deadline. From then on only a
    /// `timeout` that the configuration itself sets goes on, for the whole body; `idleTimeout` bounds each pause.
    ///
    /// - Parameters:
    ///   - configuration: What to send.
    ///   - id: The name of the request, with which another task can cancel it, body included.
    /// - Returns: The answer, whatever its status.
    /// - Throws: ``RequestFailure`` when there is no answer.
    public func stream(
        _ configuration: APIConfiguration,
        id: RequestID = RequestID()
    ) async throws(RequestFailure) -> StreamedResponse {
        let transfer = Transfer(id: id, client: self)
        do throws(RequestFailure.Reason) {
            try transfer.begin(configuration)
        } catch {
            throw RequestFailure(error, id: id, context: transfer.context(of: configuration))
        }
        do throws(RequestFailure) {
            let response = try await transfer.open(configuration, endsByHandle: true)
            return StreamedResponse(response, bytes: ResponseBytes(body: LiveBody(transfer, response)))
        } catch {
            transfer.end()
            throw error
        }
    }
}
