import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension DownloadRun {
    /// Downloads the content over several connections, if the configuration allows it and the content is long enough.
    ///
    /// - Returns: `true` if the content is complete, `nil` if the given response should be received as usual, or
    ///   `false` if the content must be requested again over one connection.
    mutating func receiveInParts(_ response: ServiceResponse) async throws(DownloadFailure) -> Bool? {
        guard !usesOneConnection, configuration.connections > 1, response.status == 200,
            configuration.request.sentMethod == .get, configuration.request.resendRule == .anytime,
            configuration.request.ownHeaders["Range"] == nil,
            response.headers["Accept-Ranges"]?.lowercased() == "bytes", let total = state.total,
            let validator = ResumeValidator(response.headers), case .stream(let first) = response.response.body
        else { return nil }
        let parts = ParallelFetch.parts(of: total, connections: configuration.connections)
        guard parts.count > 1 else { return nil }
        let fetch = ParallelFetch(
            transfer: transfer,
            request: request,
            validator: validator,
            total: total,
            file: file,
            maximumContinuations: configuration.maximumContinuations,
            monitor: configuration.monitor
        )
        do throws(ParallelFetch.Failure) {
            state.isMixed = true
            try await carryOut(fetch, parts, ParallelFetch.Source(body: first, context: response.context))
            return true
        } catch {
            first.cancel()
            switch error {
            case .fatal(let reason): throw failure(reason)
            case .noParts(let why):
                usesOneConnection = true
                try startOver(why)
                return false
            }
        }
    }

    /// Runs the parallel fetch, and reports its progress in order from this task.
    private mutating func carryOut(
        _ fetch: ParallelFetch,
        _ parts: [Range<Int64>],
        _ first: ParallelFetch.Source
    ) async throws(ParallelFetch.Failure) {
        let (counts, signal) = AsyncStream.makeStream(of: Int.self)
        async let result: Result<Void, ParallelFetch.Failure> = {
            defer { signal.finish() }
            do throws(ParallelFetch.Failure) {
                return .success(try await fetch.run(parts, first: first) { signal.yield($0) })
            } catch {
                return .failure(error)
            }
        }()
        for await count in counts {
            state.offset += Int64(count)
            state.received += Int64(count)
            progress()
        }
        try await result.get()
    }
}
