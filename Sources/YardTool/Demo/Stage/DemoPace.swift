/// The timing and data sizes of the demo.
struct DemoPace: Sendable {
    /// The time for which the demo waits after each change, so that a person can look at it.
    var watch: Duration
    /// The number of requests that a server must receive before the demo continues with the next event.
    var calls: Int
    /// The number of callers (tasks that make one call after another) in the ``SteadyTraffic``.
    var callers: Int
    /// The pause of each caller between two calls.
    var think: Duration
    /// The size of the uploaded file in bytes.
    var uploadBytes: Int
    /// The maximum number of upload bytes per second, or `nil` for no limit.
    var uploadRate: Int?
    /// The size of the downloaded film in bytes.
    var downloadBytes: Int
    /// The maximum number of download bytes per second, or `nil` for no limit.
    var downloadRate: Int?
    /// The timeout for each expected event.
    var eventTimeout: Duration

    /// The pace for a person who watches the demo.
    static let show = DemoPace(
        watch: .milliseconds(1_300),
        calls: 60,
        callers: 6,
        think: .milliseconds(20),
        uploadBytes: 16 * 1_048_576,
        uploadRate: 10 * 1_048_576,
        downloadBytes: 12 * 1_048_576,
        downloadRate: 10 * 1_048_576,
        eventTimeout: .seconds(8)
    )

    /// The pace for tests: as fast as possible.
    static let brisk = DemoPace(
        watch: .zero,
        calls: 20,
        callers: 6,
        think: .milliseconds(2),
        uploadBytes: 1_048_576,
        uploadRate: nil,
        downloadBytes: 3 * 1_048_576,
        downloadRate: nil,
        eventTimeout: .seconds(20)
    )
}
