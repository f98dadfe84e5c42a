public import Foundation
public import SwitchyardClient
public import SwitchyardHTTP

/// Where a download goes.
public enum DownloadDestination: Sendable {
    /// A new file in the system's temporary directory, which the caller moves or removes.
    case temporary
    /// This very file.
    case file(URL)
    /// A file in this directory, with the name that the server suggests (`Content-Disposition`), else the last part of
    /// the URL's path.
    ///
    /// What the server says is made safe: no path, no hidden file, no control character, at most 200 bytes.
    case directory(URL)
    /// Wherever the closure says, which is told the place of the whole file and the answer; what it throws ends the call.
    case custom(@Sendable (URL, DownloadedFile.Answer) throws -> URL)

    /// A file in one of the user's standard directories, with the name that the server suggests.
    ///
    /// - Parameter directory: Which one; the documents unless given.
    /// - Returns: The destination; the current directory where the system has no such directory.
    public static func suggested(
        in directory: FileManager.SearchPathDirectory = .documentDirectory
    ) -> DownloadDestination {
        let urls = FileManager.default.urls(for: directory, in: .userDomainMask)
        return .directory(urls.first ?? URL(fileURLWithPath: FileManager.default.currentDirectoryPath))
    }
}

/// What becomes of a file that stands where a download goes.
public enum ExistingFileRule: Sendable, Hashable {
    /// It stays, and the download is refused with `FileFailure.Reason.exists`; before anything is sent, if its name is
    /// known by then.
    case refuse
    /// It is replaced, in one step, when the new file is whole; until then it stays.
    case replace
    /// It stays, and the new file gets a number: `film 2.mov`.
    case makeUnique
}

/// A file that was downloaded.
public struct DownloadedFile: Sendable {
    /// The answer that a file came with.
    public struct Answer: Sendable {
        /// The status code: 200 for a whole content, 206 for the rest of one, 416 when there was no rest to ask for.
        public var status: Int
        /// The header fields.
        public var headers: HTTPHeaders
        /// The URL that was asked.
        public var url: RequestURL?
        /// The name that the answer suggests, made safe.
        public var suggestedName: String

        /// Creates an answer, to try a ``DownloadDestination/custom(_:)`` with.
        public init(
            status: Int = 200,
            headers: HTTPHeaders = HTTPHeaders(),
            url: RequestURL? = nil,
            suggestedName: String
        ) {
            self.status = status
            self.headers = headers
            self.url = url
            self.suggestedName = suggestedName
        }
    }

    /// Where the file is.
    public var url: URL
    /// Its length in bytes.
    public var length: Int64
    /// How many of its bytes were there from an earlier download.
    public var resumedBytes: Int64
    /// How many bytes came over the network in this call.
    public var receivedBytes: Int64
    /// The answer that the last bytes came with.
    public var answer: Answer
    /// Who answered; attempts and time are those of the whole download.
    public var context: RequestContext
}
