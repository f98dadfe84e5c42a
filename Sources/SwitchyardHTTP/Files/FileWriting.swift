import Foundation

/// Writes bodies to files.
enum FileWriting {
    /// Writes everything a reader gives to `partial` and then moves it over `file`; nothing is left behind on failure.
    static func write(_ reader: any HTTPBodyReader, to partial: URL, movingTo file: URL) async throws {
        do {
            try Data().write(to: partial)
            let handle = try FileHandle(forWritingTo: partial)
            defer { try? handle.close() }
            while let piece = try await reader.read(maximumLength: 1 << 18) {
                try handle.write(contentsOf: piece)
            }
            try handle.synchronize()
        } catch {
            try? FileManager.default.removeItem(at: partial)
            throw Self.failure(error, file)
        }
        guard rename(partial.path, file.path) == 0 else {
            try? FileManager.default.removeItem(at: partial)
            throw RequestError.file(path: file.path, reason: .unwritable(String(cString: strerror(errno))))
        }
    }

    private static func failure(_ error: any Error, _ file: URL) -> RequestError {
        (error as? RequestError) ?? .file(path: file.path, reason: .unwritable("\(error)"))
    }
}
