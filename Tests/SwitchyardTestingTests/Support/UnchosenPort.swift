import SwitchyardTesting

/// A port that the system never assigns, neither for listening nor for connecting.
///
/// A test whose port is free for a while needs one, because the system assigns ports to hundreds of concurrent tests
/// and would sooner or later assign the freed one.
enum UnchosenPort {
    /// Below the ports that Linux (from 32,768 on) and Apple's systems (from 49,152 on) assign.
    private static let range: Range<UInt16> = 10_000..<32_000

    /// The result of an action with such a port.
    ///
    /// Tries several ports until one is not in use.
    static func first<Value>(_ action: (UInt16) throws -> Value) throws -> Value {
        for _ in 0..<100 {
            let port = UInt16.random(in: range)
            do { return try action(port) } catch LoopbackError.portInUse(port) { continue }
        }
        return try action(.random(in: range))
    }
}
