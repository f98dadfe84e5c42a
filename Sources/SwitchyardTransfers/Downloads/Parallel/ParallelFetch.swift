import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// A parallel download of one content: several parts are fetched into one file, each over its own connection.
///
/// The response that is already open delivers the first part. The other parts are requested with `Range` and
/// `If-Range`, so that all parts belong to the same content.
struct ParallelFetch: Sendable {
    /// The minimum length of a part in bytes.
    ///
    /// A smaller part is not worth a connection.
    static let smallestPart: Int64 = 1 << 20

    /// The reasons why a part could not be fetched.
    enum Failure: Error {
        /// The whole download fails, for this reason.
        case fatal(DownloadFailure.Reason)
        /// The server did not send the requested part, so the content must be downloaded over one connection.
        case noParts(String)
    }

    /// The body that delivers a part, and the server that sends it.
    struct Source: Sendable {
        var body: HTTPBodyStream
        var context: RequestContext
        /// The offset of the last byte in the body, or `nil` if the body extends to the end of the content.
        var last: Int64?
    }

    let transfer: Transfer
    let request: APIConfiguration
    let validator: ResumeValidator
    let total: Int64
    let file: PartialFile
    let maximumContinuations: Int
    let monitor: TransferMonitor?

    /// Divides a content into parts of nearly equal length.
    ///
    /// Returns one part if the content is too small for several parts.
    static func parts(of total: Int64, connections: Int) -> [Range<Int64>] {
        let count = max(1, min(Int64(min(connections, 16)), total / smallestPart))
        // Dividing before multiplying avoids an overflow, because a server may announce any length.
        let (length, rest) = total.quotientAndRemainder(dividingBy: count)
        let start = { (index: Int64) in length * index + rest * index / count }
        return (0..<count).map { start($0)..<start($0 + 1) }
    }

    /// Fetches all parts.
    ///
    /// - Parameters:
    ///   - parts: The parts; the first part starts at the first byte of `first`.
    ///   - first: The body of the response that is already open.
    ///   - progress: A closure that receives the number of newly written bytes. Several tasks call it.
    /// - Throws: ``Failure``, once no part writes to the file any more.
    func run(
        _ parts: [Range<Int64>],
        first: Source,
        progress: @escaping @Sendable (Int) -> Void
    ) async throws(Failure) {
        let failure: Failure? = await withTaskGroup(of: Failure?.self) { group in
            for (index, part) in parts.enumerated() {
                group.addTask {
                    do throws(Failure) {
                        try await fetch(part, from: index == 0 ? first : nil, progress: progress)
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            for await result in group {
                guard let result else { continue }
                group.cancelAll()
                return result
            }
            return nil
        }
        if let failure { throw failure }
    }

    private func fetch(
        _ part: Range<Int64>,
        from opened: Source?,
        progress: @Sendable (Int) -> Void
    ) async throws(Failure) {
        var (source, offset, interruptions) = (opened, part.lowerBound, 0)
        var breaks = DownloadBreaks()
        defer { breaks.charge(in: transfer) }
        while offset < part.upperBound {
            let rest = offset..<part.upperBound
            if source == nil { source = try await open(rest, &breaks, &interruptions) }
            guard let current = source else { continue }
            source = nil
            let end = min(part.upperBound, current.last.map { $0 + 1 } ?? part.upperBound)
            let cut = try await write(current.body, from: &offset, to: end, progress: progress)
            current.body.cancel()
            guard offset < part.upperBound else { return }
            // A server may send less than the requested range (RFC 9110 section 15.3.7). The rest is then requested.
            if offset == end { continue }
            interruptions += 1
            let error = cut ?? TransportError(.truncated, message: "a part of the download ended early")
            let outcome = AttemptOutcome(error.kind)
            guard outcome.failureKind != nil, !Task.isCancelled else { throw .fatal(.request(ending(by: error))) }
            breaks.add(current.context, outcome)
            guard interruptions <= maximumContinuations else { throw .fatal(.request(ending(by: error))) }
            guard breaks.avoided(in: transfer).isEmpty else { continue }
            await transfer.core.time.pause(for: .milliseconds(100 << min(interruptions, 5)))
        }
    }

    private func ending(by error: TransportError) -> RequestFailure.Reason {
        if let reason = transfer.handle.reason { return reason }
        return error.kind == .cancelled || Task.isCancelled ? .cancelled : .transport(error)
    }

    /// Requests the rest of a part.
    ///
    /// If no server is available to continue the part, pauses and returns `nil`.
    private func open(
        _ range: Range<Int64>,
        _ breaks: inout DownloadBreaks,
        _ interruptions: inout Int
    ) async throws(Failure) -> Source? {
        var request = request
        request.setField("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")
        request.setField("If-Range", validator.text)
        let response: ServiceResponse
        do throws(RequestFailure) {
            response = try await transfer.open(request, avoiding: breaks.avoided(in: transfer), name: RequestID())
            breaks.charge(in: transfer, confirmedBy: response)
        } catch {
            guard let outage = ServerOutage(error), await outlasts(outage, &interruptions) else {
                throw .fatal(.request(error.reason))
            }
            return nil
        }
        if let outage = ServerOutage(response) {
            response.discardBody()
            if await outlasts(outage, &interruptions) { return nil }
        }
        let question = DownloadResponse.Question(offset: range.lowerBound, validator: validator, total: total)
        let answer = DownloadResponse(status: response.status, headers: response.headers, to: question)
        guard case .rest(let last, _) = answer, case .stream(let stream) = response.response.body else {
            response.discardBody()
            throw .noParts("the server responded to the request for a part with status \(response.status)")
        }
        return Source(body: stream, context: response.context, last: last)
    }

    /// Waits before an interrupted part is requested again, and returns `true`.
    ///
    /// Returns `false` immediately if the part must not be requested again.
    private func outlasts(_ outage: ServerOutage, _ interruptions: inout Int) async -> Bool {
        guard interruptions > 0, interruptions < maximumContinuations else { return false }
        interruptions += 1
        await transfer.pause(afterBreak: interruptions, atLeast: outage.pause)
        return true
    }

    /// Writes a response body into the file at its offset, up to the end of the part.
    ///
    /// - Returns: The error that interrupted the body, or `nil` if the part is complete or the body ended normally.
    private func write(
        _ body: HTTPBodyStream,
        from offset: inout Int64,
        to end: Int64,
        progress: @Sendable (Int) -> Void
    ) async throws(Failure) -> TransportError? {
        var pieces = body.makeAsyncIterator()
        while offset < end {
            await monitor?.waitWhilePaused()
            let piece: Data?
            do throws(TransportError) { piece = try await pieces.next() } catch { return error }
            guard let piece else { return nil }
            let wanted = piece.prefix(Int(min(Int64(piece.count), end - offset)))
            do throws(FileFailure) { try file.write(wanted, at: offset) } catch { throw .fatal(.file(error)) }
            offset += Int64(wanted.count)
            progress(wanted.count)
        }
        return nil
    }
}
