/// How much time the demo gives its watcher, and how much it moves.
struct DemoPace: Sendable {
    /// How long a new situation is left as it is.
    var watch: Duration
    /// The calls that a server has to answer before the next thing happens to it.
    var calls: Int
    /// The callers of the steady traffic.
    var callers: Int
    /// How long each of them pauses between two calls.
    var think: Duration
    /// The size of the file that is sent, in bytes.
    var uploadBytes: Int
    /// How many bytes of it the server takes in a second; as many as come when `nil`.
    var uploadRate: Int?
    /// The size of the film that is fetched, in bytes.
    var downloadBytes: Int
    /// How many bytes of it a server gives away in a second; as many as are taken when `nil`.
    var downloadRate: Int?
    /// How long anything may take to come true.
    var patience: Duration

    /// For somebody who watches.
    static let show = DemoPace(
        watch: .milliseconds(1_300),
        calls: 60,
        callers: 6,
        think: .milliseconds(20),
        uploadBytes: 16 * 1_048_576,
        uploadRate: 10 * 1_048_576,
        downloadBytes: 12 * 1_048_576,
        downloadRate: 10 * 1_048_576,
        patience: .seconds(8)
    )

    /// For nobody: as fast as it goes.
    static let brisk = DemoPace(
        watch: .zero,
        calls: 20,
        callers: 6,
        think: .milliseconds(2),
        uploadBytes: 1_048_576,
        uploadRate: nil,
        downloadBytes: 3 * 1_048_576,
        downloadRate: nil,
        patience: .seconds(20)
    )
}
