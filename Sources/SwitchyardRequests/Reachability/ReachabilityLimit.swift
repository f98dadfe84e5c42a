public import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// A limit that checks the network before a request is sent.
///
/// Without a network, the request fails immediately or waits.
///
///     options.limits = [ReachabilityLimit(SystemReachability(), whenOffline: .wait(atMost: .seconds(10)))]
///
/// No request is checked unless the limit is among the limits of its client or its call. An unknown status counts as
/// reachable. Note that the system may by mistake report a device as offline.
public final class ReachabilityLimit: RequestLimit {
    /// The handling of a request while there is no network.
    public enum Offline: Sendable, Hashable {
        /// The request is not sent and fails with ``/SwitchyardServices/WireFailure/offline``.
        case fail
        /// The request waits for the network, and fails if this time passes or its deadline is reached.
        case wait(atMost: Duration)
    }

    private let provider: any ReachabilityProvider
    private let whenOffline: Offline

    /// Creates a limit that checks the network.
    ///
    /// - Parameters:
    ///   - provider: The source of the network's reachability.
    ///   - whenOffline: The handling of a request while there is no network. By default, the request fails.
    public init(_ provider: any ReachabilityProvider, whenOffline: Offline = .fail) {
        self.provider = provider
        self.whenOffline = whenOffline
    }

    /// Lets the request continue when there is a network.
    ///
    /// - Throws: `TransportError` of the kind `offline`.
    public func enter(_ configuration: APIConfiguration, _ context: DispatchContext) async throws -> LimitPass {
        if provider.isReachable { return .free }
        let offline = TransportError(.offline, message: "there is no network route", mayHaveBeenSent: false)
        guard case .wait(let limit) = whenOffline else { throw offline }
        let isBack = await withTaskGroup(of: Bool.self) { group in
            group.addTask { [provider] in await provider.waitUntilReachable() }
            group.addTask { [time = context.time] in
                do throws(CancellationError) { try await time.sleep(for: limit) } catch { return false }
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        try Task.checkCancellation()
        guard isBack else { throw offline }
        return .free
    }
}
