import Foundation

/// Waits for the disk.
package enum DiskFlush {
    /// Waits until what was written to a descriptor is on the disk.
    ///
    /// - Returns: 0, or -1 with the reason in `errno`.
    package static func wait(for descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
            // There `fsync` hands the bytes to the drive, which may keep them in memory of its own and write them in
            // another order; this waits until the drive has written all it has (Apple, fsync(2)). Not every file system
            // can do more than `fsync`.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return 0 }
        #endif
        return fsync(descriptor)
    }
}
