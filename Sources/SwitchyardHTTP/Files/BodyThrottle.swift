import Foundation

/// A throttle that sends a body in packets with a pause between them, for servers and links with little capacity.
///
/// ### Use
///
///     configuration.throttle = .slow
public struct BodyThrottle: Sendable {
    /// The maximum packet size in bytes; at least 1.
    package var packetSize: Int {
        didSet { packetSize = max(1, packetSize) }
    }
    /// The pause between packets; at most one year.
    package var delay: Duration
    /// A closure that suspends the task for a duration, without blocking a thread.
    package var pause: @Sendable (Duration) async throws -> Void

    /// 16 KiB every 0.2 seconds, the values AFNetworking suggests for 3G.
    public static let slow = BodyThrottle(packetSize: 16 * 1024, delay: .milliseconds(200))

    /// Creates a throttle.
    ///
    /// - Parameters:
    ///   - packetSize: The maximum packet size in bytes.
    ///   - delay: The pause between packets.
    ///   - pause: A closure that waits; by default `Task.sleep`, because a throttle pauses in real time. It must throw
    ///     if the task is cancelled.
    public init(
        packetSize: Int,
        delay: Duration,
        pause: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.packetSize = max(packetSize, 1)
        self.delay = delay
        self.pause = pause
    }
}

extension HTTPBody {
    /// Returns the body as a throttled stream that has the same length and can be resent.
    package func throttled(_ throttle: BodyThrottle) -> HTTPBody {
        if case .none = self { return self }
        if case .stream(let stream) = self { return .stream(stream.throttled(throttle)) }
        let stream = HTTPBody.Stream(length: length) {
            try makeReader() ?? SegmentedBodyReader([])
        }
        return .stream(stream.throttled(throttle))
    }
}

extension HTTPBody.Stream {
    /// Returns the stream with throttling.
    package func throttled(_ throttle: BodyThrottle) -> HTTPBody.Stream {
        HTTPBody.Stream(length: length) { ThrottledBodyReader(try makeReader(), throttle) }
    }
}

/// A reader that returns the bytes of another reader in packets, with a pause before each packet except the first.
private actor ThrottledBodyReader: HTTPBodyReader {
    private let base: any HTTPBodyReader
    private let throttle: BodyThrottle
    private var isFirst = true

    init(_ base: any HTTPBodyReader, _ throttle: BodyThrottle) {
        self.base = base
        self.throttle = throttle
    }

    func read(maximumLength: Int) async throws -> Data? {
        if !isFirst { try await throttle.pause(throttle.delay.sleepable) }
        isFirst = false
        return try await base.read(maximumLength: min(maximumLength, throttle.packetSize))
    }
}

extension Duration {
    /// The duration, limited to one year, so that `Task.sleep` accepts it.
    ///
    /// The system's clock terminates the process if a duration overflows the clock's range.
    package var sleepable: Duration { min(self, .seconds(31_536_000)) }
}
