import Foundation

/// Sends a body in packets with a pause between them, for servers and links that cannot take more.
///
/// ### Use
///
///     configuration.throttle = .slow
public struct BodyThrottle: Sendable {
    /// The largest packet in bytes; at least 1.
    public var packetSize: Int {
        didSet { packetSize = max(1, packetSize) }
    }
    /// The pause between packets; a year at most.
    public var delay: Duration
    /// Waits; no thread does meanwhile.
    public var pause: @Sendable (Duration) async throws -> Void

    /// 16 KiB every 0.2 seconds, which AFNetworking suggests for 3G.
    public static let slow = BodyThrottle(packetSize: 16 * 1024, delay: .milliseconds(200))

    /// Creates a throttle.
    ///
    /// - Parameters:
    ///   - packetSize: The largest packet in bytes.
    ///   - delay: The pause between packets.
    ///   - pause: Waits; the task's own sleep unless given, since a pause in real time is what a throttle is for. It ends
    ///     by throwing when the task is cancelled.
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
    /// Returns the body as a stream that is slowed down; its length stays known, and it can be sent again.
    public func throttled(_ throttle: BodyThrottle) -> HTTPBody {
        if case .none = self { return self }
        if case .stream(let stream) = self { return .stream(stream.throttled(throttle)) }
        let stream = HTTPBody.Stream(length: length) {
            try makeReader() ?? SegmentedBodyReader([])
        }
        return .stream(stream.throttled(throttle))
    }
}

extension HTTPBody.Stream {
    /// Returns the stream slowed down.
    public func throttled(_ throttle: BodyThrottle) -> HTTPBody.Stream {
        HTTPBody.Stream(length: length) { ThrottledBodyReader(try makeReader(), throttle) }
    }
}

/// Reads another reader in packets, with a pause before each but the first.
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
    /// The duration as a task can sleep for it, a year at most: the system's clock ends the process over one that it
    /// cannot reckon with.
    package var sleepable: Duration { min(self, .seconds(31_536_000)) }
}
