public import Foundation
public import SwitchyardAPI
public import SwitchyardServices

extension ResponseCache {
    /// Creates an empty cache that also stores responses on disk.
    ///
    /// - Parameters:
    ///   - limits: The limits of the entries in memory. By default, they are 20 MiB and 10,000 entries.
    ///   - defaults: The caching of calls that do not configure caching themselves. By default, they are not cached.
    ///   - disk: The cache on disk. If `nil`, responses are stored in memory only.
    ///   - locks: The number of locks over which the entries in memory are distributed, 8 by default. It is rounded up
    ///     to a power of two, at most 256.
    ///   - time: The monotonic clock, by default the system's clock.
    ///   - wallClock: The clock that measures the age of responses on disk and to which HTTP's dates refer.
    public convenience init(
        limits: Limits = Limits(),
        defaults: CacheDefaults = CacheDefaults(),
        disk: DiskCache?,
        locks: Int = 8,
        time: any TimeSource = SystemTime.shared,
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) {
        let store: (any ResponseStore)? = disk
        self.init(limits: limits, defaults: defaults, disk: store, locks: locks, time: time, wallClock: wallClock)
    }
}
