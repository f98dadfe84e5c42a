public import Foundation
import SwitchyardHTTP

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The partial file of a download that was interrupted by the network, by cancellation or by the end of the process.
///
///     for rest in PartialDownload.all(in: folder) where rest.changedAt < lastMonth { rest.remove() }
///
/// The partial file is in ``DownloadConfiguration/partialDirectory`` or, if this property is not set, beside the
/// destination. The file stays there until the download is started again and completes, or until the app removes the
/// file.
public struct PartialDownload: Sendable, Hashable {
    /// The requested path, without query, or `nil` if the path is no longer known.
    ///
    /// Without a path, the download cannot be resumed.
    public let path: String?
    /// The number of received bytes that a resumed download can use; 0 if the download would start over.
    public let keptBytes: Int64
    /// The length of the whole content, or `nil` while unknown.
    public let total: Int64?
    /// The number of bytes that the partial file occupies on the disk.
    public let size: Int64
    /// The date at which the partial file was last written.
    public let changedAt: Date
    /// The data with which a later call resumes the download through ``DownloadConfiguration/resumeData``, or `nil` if
    /// no bytes can be used.
    public let resumeData: Data?
    private let place: PartialPlace.Files

    /// Returns the partial downloads in a directory, including active downloads, the oldest first.
    ///
    /// The directory is read on the calling thread.
    ///
    /// - Parameter directory: The directory. If it is missing or cannot be read, the result is empty.
    /// - Returns: The partial downloads, in ascending order of ``changedAt``.
    public static func all(in directory: URL) -> [PartialDownload] {
        PartialPlace.Files.all(in: directory).map(PartialDownload.init).sorted { $0.changedAt < $1.changedAt }
    }

    init(_ place: PartialPlace.Files) {
        self.place = place
        var status = stat()
        let isThere = lstat(place.file.path, &status) == 0
        size = isThere ? Int64(status.st_size) : 0
        changedAt = isThere ? status.changedAt : .distantPast
        let record = ResumeRecord.read(from: place.record)
        path = record?.path
        total = record?.total
        keptBytes = record?.usableBytes(of: size) ?? 0
        resumeData = keptBytes > 0 ? place.resumeData : nil
    }

    /// Removes the partial download, unless it belongs to an active download.
    ///
    /// - Returns: Whether the partial download is gone.
    @discardableResult
    public func remove() -> Bool {
        if FileFailure.exists(place.file.path) {
            // Opening the file acquires its lock, so opening fails if the download is active.
            guard let file = try? PartialFile(at: place.file) else { return false }
            file.remove()
        }
        unlink(place.record.path)
        return !FileFailure.exists(place.file.path) && !FileFailure.exists(place.record.path)
    }
}

extension stat {
    /// The date of the last modification of the content, to the second.
    fileprivate var changedAt: Date {
        #if canImport(Darwin)
            Date(timeIntervalSince1970: TimeInterval(st_mtimespec.tv_sec))
        #else
            Date(timeIntervalSince1970: TimeInterval(st_mtim.tv_sec))
        #endif
    }
}
