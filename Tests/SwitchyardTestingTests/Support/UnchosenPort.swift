import SwitchyardTesting

/// A port that the system chooses for no one, neither to listen on nor to connect from.
///
/// A test whose port is free for a while needs one: hundreds of tests at the same time are given ports by the system,
/// sooner or later the one that became free.
enum UnchosenPort {
    /// Below the ports that Linux (from 32,768 on) and Apple's systems (from 49,152 on) choose from.
    private static let range: Range<UInt16> = 10_000..<32_000

    /// What an action makes of such a port, the first of some that is not in use.
    static func first<Value>(_ action: (UInt16) throws -> Value) throws -> Value {
        for _ in 0..<100 {
            let port = UInt16.random(in: range)
            do { return try action(port) } catch LoopbackError.portInUse(port) { continue }
        }
        return try action(.random(in: range))
    }
}
