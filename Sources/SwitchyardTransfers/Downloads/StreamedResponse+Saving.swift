public import Foundation
public import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices
public import SwitchyardTransport

extension StreamedResponse {
    /// Writes the remaining response body to a file.
    ///
    /// Use this method if a streamed response turns out to be a file.
    ///
    /// The file changes in one step when the body is complete. A body that is interrupted leaves no file; for downloads
    /// that can be resumed, see ``NetworkClient/download(_:id:progress:)``.
    ///
    /// - Parameters:
    ///   - file: The destination of the file.
    ///   - rule: The treatment of an existing file at the destination. By default, the call fails if the file exists.
    ///   - createsDirectories: Whether missing directories are created; `false` unless given.
    ///   - progress: A closure that receives the number of bytes written, in order; the last report has all bytes.
    /// - Returns: The location of the file.
    /// - Throws: ``/SwitchyardTransfers/DownloadFailure``. If it throws an error, an existing file is unchanged.
    @discardableResult
    public func save(
        to file: URL,
        existingFile rule: ExistingFileRule = .refuse,
        createsDirectories: Bool = false,
        progress: @escaping TransferProgressHandler = { _ in }
    ) async throws(DownloadFailure) -> URL {
        let placement = FilePlacement(rule: rule, createsDirectories: createsDirectories)
        let partial: PartialFile
        do throws(FileFailure) {
            try placement.check(file)
            let name = ".switchyard-\(UUID().uuidString).part"
            partial = try PartialFile(at: file.deletingLastPathComponent().appendingPathComponent(name))
        } catch {
            cancel()
            throw DownloadFailure(.file(error), id: id, context: context)
        }
        do throws(DownloadFailure) {
            try await fill(partial, progress)
            return try await place(partial, at: file, placement)
        } catch {
            partial.remove()
            cancel()
            throw error
        }
    }

    private func fill(_ file: PartialFile, _ progress: TransferProgressHandler) async throws(DownloadFailure) {
        var count: Int64 = 0
        var last: TransferProgress?
        func report(of total: Int64?) {
            let next = TransferProgress(direction: .download, completed: count, total: total)
            if next != last { progress(next) }
            last = next
        }
        while true {
            let piece: Data?
            do throws(RequestFailure) {
                piece = try await bytes.body.next()
            } catch {
                throw DownloadFailure(.request(error.reason), id: id, context: error.context)
            }
            guard let piece else { break }
            do throws(FileFailure) {
                try file.append(piece)
            } catch {
                throw DownloadFailure(.file(error), id: id, context: context)
            }
            count += Int64(piece.count)
            report(of: announcedLength)
        }
        report(of: count)
    }

    private func place(
        _ partial: PartialFile,
        at file: URL,
        _ placement: FilePlacement
    ) async throws(DownloadFailure) -> URL {
        do throws(FileFailure) {
            return try await BlockingWork.run { () throws(FileFailure) in
                try partial.synchronize()
                return try placement.place(partial.url, at: file)
            }
        } catch {
            throw DownloadFailure(.file(error), id: id, context: context)
        }
    }
}
