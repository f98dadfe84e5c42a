/// How often something happened of late: the mean of the first samples, then one in which the older ones fade.
struct FadingShare: Sendable {
    /// About so many samples count.
    private static let memory: UInt8 = 16

    private(set) var samples: UInt8 = 0
    /// The share, 0...1; 0 without samples.
    private(set) var value: Float = 0

    mutating func count(_ happened: Bool) {
        if samples < Self.memory { samples += 1 }
        value += ((happened ? 1 : 0) - value) / Float(samples)
    }
}
