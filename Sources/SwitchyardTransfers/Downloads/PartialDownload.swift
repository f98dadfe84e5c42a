public import Foundation
import SwitchyardHTTP

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// What is left of a download that was cut, by the network, a cancel or the end of the process.
///
///     for rest in PartialDownload.all(in: folder) where rest.changedAt < lastMonth { rest.remove() }
///
/// It lies in ``DownloadConfiguration/partialDirectory``, or beside the destination where none is set, until the same
/// download is started again and ends, or it is removed.
public struct PartialDownload: Sendable, Hashable {
    /// The path that was asked for, without query; `nil` when it is not known any more, and nothing can be gone on from.
    public let path: String?
    /// The bytes from which a download goes on; 0 when it would start over.
    public let keptBytes: Int64
    /// The length of the whole content; `nil` while unknown.
    public let total: Int64?
    /// The bytes that it takes on the disk.
    public let size: Int64
    /// When bytes were last written.
    public let changedAt: Date
    /// Takes the download up again, through ``DownloadConfiguration/resumeData``; `nil` when there is nothing to go on
    /// from.
    public let resumeData: Data?
    private let place: PartialPlace.Files

    /// Lists what is left of downloads in a directory, those that are under way included, the oldest first.
    ///
    /// It reads the directory on the calling thread.
    ///
    /// - Parameter directory: The directory; one that is missing or cannot be read has none.
    /// - Returns: What is there.
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

    /// Removes it, unless it is of a download that is under way.
    ///
    /// - Returns: Whether it is gone.
    @discardableResult
    public func remove() -> Bool {
        if FileFailure.exists(place.file.path) {
            // Opening it takes the lock that a download under way has.
            guard let file = try? PartialFile(at: place.file) else { return false }
            file.remove()
        }
        unlink(place.record.path)
        return !FileFailure.exists(place.file.path) && !FileFailure.exists(place.record.path)
    }
}

extension stat {
    /// When the content was changed last, to the second.
    fileprivate var changedAt: Date {
        #if canImport(Darwin)
            Date(timeIntervalSince1970: TimeInterval(st_mtimespec.tv_sec))
        #else
            Date(timeIntervalSince1970: TimeInterval(st_mtim.tv_sec))
        #endif
    }
}
