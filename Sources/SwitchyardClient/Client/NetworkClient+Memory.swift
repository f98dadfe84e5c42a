public import Foundation
public import SwitchyardServices

extension NetworkClient {
    /// What is worth remembering of the servers of the environment in use, as when the app goes to the background.
    ///
    /// - Parameter date: The time of day by which the memory will be as old as it is; now unless given.
    /// - Returns: The memory, to be stored and given to ``recall(_:at:)`` in the next run.
    public func serverMemory(at date: Date = Date()) -> ServerMemory {
        let target = core.target
        return ServerMemory(
            service: target.service,
            environment: target.pool.environment.rawValue,
            servers: target.pool.memory(wallClock: date.timeIntervalSince1970)
        )
    }

    /// Takes up what was remembered in an earlier run, best before the first request.
    ///
    /// Servers that were out of service at most ten minutes ago (``/SwitchyardServices/SwitchMemory/longestAge``) are out
    /// again, and probed with the next request. Of an older memory, or one from the future, only the preferred server
    /// counts, and that only for a policy that does not fail back by itself. Servers that the service has no more are
    /// passed over.
    ///
    /// - Parameters:
    ///   - memory: What ``serverMemory(at:)`` gave.
    ///   - date: The time of day; now unless given.
    /// - Returns: Whether it is of this service and of the environment in use; otherwise nothing has changed.
    @discardableResult
    public func recall(_ memory: ServerMemory, at date: Date = Date()) -> Bool {
        let target = core.target
        guard memory.service == target.service, memory.environment == target.pool.environment.rawValue else {
            return false
        }
        let now = core.now
        let events = target.pool.change { core in
            core.restore(memory.servers, wallClock: date.timeIntervalSince1970, at: now)
        }
        core.publish(events, from: target.pool)
        return true
    }
}
