public import Foundation
public import SwitchyardClient
public import SwitchyardHTTP

/// The destination of a download.
public enum DownloadDestination: Sendable {
    /// A new file in the system's temporary directory. The app must move or remove the file.
    case temporary
    /// The file at this URL.
    case file(URL)
    /// A file in this directory, with the name that the server suggests (`Content-Disposition`).
    ///
    /// If the server suggests no name, the last component of the URL's path is the name.
    ///
    /// The name is sanitized: no path, no hidden file, no control character, at most 200 bytes.
    case directory(URL)
    /// The URL that a closure returns.
    ///
    /// The closure receives the URL of the complete file and the response. If the closure throws an error, the download
    /// fails.
    case custom(@Sendable (URL, DownloadedFile.Answer) throws -> URL)

    /// Returns a destination in one of the user's standard directories, with the name that the server suggests.
    ///
    /// - Parameter directory: The standard directory; the documents directory unless given.
    /// - Returns: The destination. If the system has no such standard directory, it is in the current directory.
    public static func suggested(
        in directory: FileManager.SearchPathDirectory = .documentDirectory
    ) -> DownloadDestination {
        let urls = FileManager.default.urls(for: directory, in: .userDomainMask)
        return .directory(urls.first ?? URL(fileURLWithPath: FileManager.default.currentDirectoryPath))
    }
}

/// The treatment of an existing file at the destination of a download.
public enum ExistingFileRule: Sendable, Hashable {
    /// The existing file stays, and the download fails with `FileFailure.Reason.exists`.
    ///
    /// If the file name is known before the request, nothing is sent.
    case refuse
    /// The existing file is replaced in one step when the new file is complete.
    case replace
    /// The existing file stays, and the new file's name gets a number: `film 2.mov`.
    case makeUnique
}

/// A downloaded file.
public struct DownloadedFile: Sendable {
    /// The response in which the file was received.
    public struct Answer: Sendable {
        /// The status code of the last response: 200 for the whole content, 206 for the rest of a resumed download, and
        /// 416 if the earlier download already had all bytes.
        public var status: Int
        /// The header fields.
        public var headers: HTTPHeaders
        /// The requested URL.
        public var url: RequestURL?
        /// The sanitized file name that the response suggests.
        public var suggestedName: String

        /// Creates a response, for tests of a ``DownloadDestination/custom(_:)`` closure.
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

    /// The location of the file.
    public var url: URL
    /// The length of the file in bytes.
    public var length: Int64
    /// The number of bytes of the file that came from an earlier download.
    public var resumedBytes: Int64
    /// The number of bytes that were received over the network in this call.
    public var receivedBytes: Int64
    /// The last response of the download.
    public var answer: Answer
    /// The context of the last response, with the attempts and the duration of the whole download.
    public var context: RequestContext
}
