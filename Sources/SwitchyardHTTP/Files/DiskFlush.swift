import Foundation

/// Flushing of files to the disk.
package enum DiskFlush {
    /// Waits until the data written to a descriptor is on the disk.
    ///
    /// - Returns: 0, or -1 with the error number in `errno`.
    package static func wait(for descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
            // On Apple systems, `fsync` only passes the bytes to the drive, which may keep them in its cache and write
            // them in another order. `F_FULLFSYNC` waits until the drive has written all of its data (Apple, fsync(2)).
            // Some file systems support only `fsync`.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return 0 }
        #endif
        return fsync(descriptor)
    }
}
