import SwitchyardServices

/// Ports that the system never assigns, neither for listening nor for connecting.
///
/// The system assigns the ports of stopped servers to new sockets, and the clients of those servers may still probe
/// them. A server that serves one connection, or whose port is free for a while, therefore needs a port that no other
/// server of the process has.
package enum UnchosenPort {
    /// Below the ports that Linux (from 32,768 on) and Apple's systems (from 49,152 on) assign.
    private static let ports: ClosedRange<UInt16> = 10_000...31_999
    private static let next = Locked(UInt16.random(in: ports))

    package struct NoneLeft: Error {}

    /// Calls an action with ports until one is not in use.
    ///
    /// - Parameter action: Returns `nil` if another process uses the port.
    /// - Returns: The result of the action.
    /// - Throws: The error of the action, or ``NoneLeft`` if all ports are in use.
    package static func first<Value>(_ action: (UInt16) throws -> Value?) throws -> Value {
        for _ in ports {
            let port = next.withLock { next in
                defer { next = next == ports.upperBound ? ports.lowerBound : next + 1 }
                return next
            }
            if let value = try action(port) { return value }
        }
        throw NoneLeft()
    }
}
