import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension UploadSource {
    /// Sets the source as the body of a request.
    ///
    /// Every attempt reads the source from the start. Errors of the source are recorded in `ledger`.
    func fill(_ request: inout APIConfiguration, _ ledger: UploadLedger, _ monitor: TransferMonitor?) {
        request.body = .custom(contentType: contentType) { try opened(ledger, monitor) }
        guard request.prebuiltRequest != nil else { return }
        let own = request.modifier
        request.modifier = { built in
            built.body = try opened(ledger, monitor)
            if let contentType, built.headers["Content-Type"] == nil { built.headers.set("Content-Type", contentType) }
            try own?(&built)
        }
    }

    func opened(_ ledger: UploadLedger, _ monitor: TransferMonitor?) throws(RequestError) -> HTTPBody {
        do {
            return try httpBody(ledger, monitor)
        } catch {
            throw error as? RequestError ?? .body(kind: "streamed", reason: .sourceFailed("\(error)"))
        }
    }

    private func httpBody(_ ledger: UploadLedger, _ monitor: TransferMonitor?) throws -> HTTPBody {
        switch kind {
        case .data(let data) where monitor == nil: return .data(data)
        case .data(let data): return watched(.data(data), ledger, monitor)
        case .file(let url):
            let state = try StableFileReader(url).original
            ledger.note(url, state)
            let length = state.size
            return watched(length: length, ledger, monitor, FileEnclosure(file: url, length: length)) {
                let file = try StableFileReader(url)
                guard file.length == length else {
                    throw RequestError.file(path: url.path, reason: .changedWhileSending)
                }
                return file
            }
        case .stream(let stream): return watched(.stream(stream), ledger, monitor)
        case .form(let form):
            let body = try form.body()
            guard case .stream(let stream) = body else { return watched(body, ledger, monitor) }
            if let file = stream.enclosure?.file { ledger.note(file, try StableFileReader(file).original) }
            return watched(body, ledger, monitor, stream.enclosure)
        }
    }

    private func watched(
        _ body: HTTPBody,
        _ ledger: UploadLedger,
        _ monitor: TransferMonitor?,
        _ enclosure: FileEnclosure? = nil
    ) -> HTTPBody {
        watched(length: body.length, ledger, monitor, enclosure) {
            guard let reader = try body.makeReader() else {
                throw RequestError.body(kind: "form", reason: .notInMemory)
            }
            return reader
        }
    }

    /// Returns a body that records every error of opening or reading its source in the ledger.
    func watched(
        length: Int64?,
        _ ledger: UploadLedger,
        _ monitor: TransferMonitor?,
        _ enclosure: FileEnclosure? = nil,
        open: @escaping @Sendable () throws -> any HTTPBodyReader
    ) -> HTTPBody {
        let makeReader: @Sendable () throws -> any HTTPBodyReader = {
            do {
                return MonitoredBodyReader(try open(), length: length, ledger: ledger, monitor: monitor)
            } catch {
                let failure = error as? RequestError ?? .body(kind: "streamed", reason: .sourceFailed("\(error)"))
                ledger.note(failure)
                throw failure
            }
        }
        var stream = HTTPBody.Stream(length: length, makeReader: makeReader)
        // With `enclosure` (a file and the bytes around it), the transport reads the file itself instead of using the
        // reader. A monitored upload needs the reader, because only the reader can pause.
        if monitor == nil { stream.enclosure = enclosure }
        return .stream(stream)
    }
}

extension RequestInterceptor {
    /// Returns an interceptor that sets `Content-Digest` to the digest of the upload's bytes.
    ///
    /// The source is read once more whenever the request passes the interceptor.
    static func sendingDigest(
        _ algorithm: ContentDigest.Algorithm,
        of source: UploadSource,
        _ monitor: TransferMonitor?
    ) -> RequestInterceptor {
        .adapting("content digest") { configuration, _ in
            configuration.setField("Content-Digest", try await source.digest(algorithm, monitor).fieldValue)
        }
    }
}

extension UploadSource {
    /// Reads the source and returns the digest of its bytes.
    fileprivate func digest(
        _ algorithm: ContentDigest.Algorithm,
        _ monitor: TransferMonitor?
    ) async throws -> ContentDigest {
        var digest = RunningDigest(algorithm.core)
        let body = try opened(UploadLedger { _ in }, monitor)
        guard let reader = try body.makeReader() else { return ContentDigest(digest) }
        while let piece = try await reader.read(maximumLength: 1 << 20) {
            guard !Task.isCancelled else { throw RequestFailure.Reason.cancelled }
            // Hashing takes long, so it runs outside the cooperative pool and does not block the threads of tasks.
            digest = await BlockingWork.run { [digest] in
                var digest = digest
                digest.update(piece)
                return digest
            }
        }
        return ContentDigest(digest)
    }
}
