import Foundation

extension UploadSource {
    /// The body of the upload, made anew for every attempt, which notes what goes wrong with its bytes.
    func body(_ ledger: UploadLedger, _ monitor: TransferMonitor?) -> RequestBody {
        .custom(contentType: contentType) {
            do {
                return try httpBody(ledger, monitor)
            } catch {
                throw error as? RequestError ?? .body(kind: "streamed", reason: .sourceFailed("\(error)"))
            }
        }
    }

    private func httpBody(_ ledger: UploadLedger, _ monitor: TransferMonitor?) throws -> HTTPBody {
        switch kind {
        case .data(let data) where monitor == nil: return .data(data)
        case .data(let data): return watched(.data(data), ledger, monitor)
        case .file(let url):
            let length = try StableFileReader(url).length
            return .stream(
                HTTPBody.Stream(length: length) {
                    let file = try StableFileReader(url)
                    guard file.length == length else {
                        let changed = RequestError.file(path: url.path, reason: .changedWhileSending)
                        ledger.note(changed)
                        throw changed
                    }
                    return WatchedBodyReader(file, length: length, ledger: ledger, monitor: monitor)
                }
            )
        case .stream(let stream): return watched(.stream(stream), ledger, monitor)
        case .form(let form): return watched(try form.body(), ledger, monitor)
        }
    }

    private func watched(_ body: HTTPBody, _ ledger: UploadLedger, _ monitor: TransferMonitor?) -> HTTPBody {
        let length = body.length
        return .stream(
            HTTPBody.Stream(length: length) {
                guard let reader = try body.makeReader() else {
                    throw RequestError.body(kind: "form", reason: .notInMemory)
                }
                return WatchedBodyReader(reader, length: length, ledger: ledger, monitor: monitor)
            }
        )
    }
}
