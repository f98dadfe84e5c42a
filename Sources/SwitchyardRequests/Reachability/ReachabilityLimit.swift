public import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// A limit that checks the network before a request is sent: without a network the request fails immediately or waits.
///
///     options.limits = [ReachabilityLimit(SystemReachability(), whenOffline: .wait(atMost: .seconds(10)))]
///
/// The check happens only if the limit is among the limits of a client or a call. An unknown status counts as
/// reachable. A system that reports being offline may be wrong.
public final class ReachabilityLimit: RequestLimit {
    /// The handling of a request while there is no network.
    public enum Offline: Sendable, Hashable {
        /// The request fails unsent with ``/SwitchyardHTTP/TransportError/Kind/offline``.
        case fail
        /// The request waits for the network until this time has passed or its deadline is reached, and then fails.
        case wait(atMost: Duration)
    }

    private let provider: any ReachabilityProvider
    private let whenOffline: Offline

    /// Creates the limit.
    ///
    /// - Parameters:
    ///   - provider: The source of the network's reachability.
    ///   - whenOffline: The handling of a request while there is no network, which fails by default.
    public init(_ provider: any ReachabilityProvider, whenOffline: Offline = .fail) {
        self.provider = provider
        self.whenOffline = whenOffline
    }

    /// Lets the request pass, immediately or when the network is back.
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
