import Dispatch
import Foundation
import SwitchyardServices

#if canImport(Network)
    import Network
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What the system knows of the way to the network.
///
/// On Apple systems that is `NWPathMonitor`. On Linux it is the routing state: a default route over IPv4 or IPv6; the
/// kernel tells when routes, addresses or links change, and nothing is polled. Where neither can be asked, the status is
/// unknown, which counts as reachable.
///
/// On watchOS it is unknown for most apps, and never that there is no way: the system shows the network only to apps
/// that stream audio, have a call and the like, and tells all others that there is none, also while their requests get
/// through (Apple, TN3135). The simulator shows it to all.
///
/// ``init(host:)`` asks about one host in place of the network as a whole: a server on this machine, or in a network that
/// leads nowhere else, can be reached without a default route.
public final class SystemReachability: ReachabilityProvider {
    /// The one for whoever needs none of its own; it watches from its first use on.
    public static let shared = SystemReachability()

    private let board = StatusBoard()
    private let watch: any Sendable

    /// Starts watching the network, until the object is released.
    public init() {
        let board = board
        #if canImport(Network)
            watch = PathWatch { [weak board] in board?.status = $0 }
        #else
            let watch = RouteWatch { [weak board] in board?.status = RoutingTable.systemStatus }
            // Once it watches, so that no change is missed, and on its queue, so that no older status comes last.
            watch.queue.sync { board.status = RoutingTable.systemStatus }
            self.watch = watch
        #endif
    }

    /// Starts watching the way to one host, until the object is released.
    ///
    /// There is a way when the system has a route to one of the host's addresses; nothing is sent to it. The name is
    /// looked up off the caller's thread, at first and whenever the network changes; until then the status is unknown.
    /// So it is while the name cannot be looked up, unless there is no network at all: then there is no way. On
    /// watchOS, where no host can be asked about, the status is that of the network as a whole.
    ///
    /// - Parameter host: A name or an address, without a port; that of IPv6 without brackets.
    public init(host: String) {
        let board = board
        let learn: @Sendable (ReachabilityStatus) -> Void = { [weak board] network in
            #if os(watchOS)
                // Sockets work there "under no circumstances" (Apple, TN3135), and would say that there is no route.
                board?.status = network
            #else
                board?.status = HostRoute.status(HostRoute.findings(of: host), network: network)
            #endif
        }
        #if canImport(Network)
            watch = PathWatch(learn)
        #else
            let watch = RouteWatch { learn(RoutingTable.systemStatus) }
            watch.queue.async { learn(RoutingTable.systemStatus) }
            self.watch = watch
        #endif
    }

    /// What is known now.
    public var status: ReachabilityStatus { board.status }

    /// The present status and every change from now on.
    public func updates() -> AsyncStream<ReachabilityStatus> { board.updates() }
}

/// What `NWPath` says of the way to the network.
struct PathReport: Sendable {
    var isUnsatisfied = false
    var isCellular = false
    var isLocal = false

    /// The status that follows.
    ///
    /// - Parameter isProof: Whether no path means that there is no way; on watchOS it means nothing.
    /// - Returns: The status.
    func status(isProof: Bool) -> ReachabilityStatus {
        guard !isUnsatisfied else { return isProof ? .notReachable : .unknown }
        if isCellular { return .reachable(.cellular) }
        return .reachable(isLocal ? .local : .other)
    }
}

#if canImport(Network)
    /// Calls back with the present path, and when it is another one.
    private final class PathWatch: Sendable {
        private let monitor = Locked(NWPathMonitor())

        init(_ onChange: @escaping @Sendable (ReachabilityStatus) -> Void) {
            monitor.withLock { monitor in
                monitor.pathUpdateHandler = { path in onChange(Self.status(of: path)) }
                monitor.start(queue: DispatchQueue(label: "switchyard.reachability"))
            }
        }

        deinit {
            monitor.withLock { $0.cancel() }
        }

        private static func status(of path: NWPath) -> ReachabilityStatus {
            let report = PathReport(
                isUnsatisfied: path.status == .unsatisfied,
                isCellular: path.usesInterfaceType(.cellular),
                isLocal: path.usesInterfaceType(.wifi) || path.usesInterfaceType(.wiredEthernet)
            )
            #if os(watchOS)
                return report.status(isProof: false)
            #else
                return report.status(isProof: true)
            #endif
        }
    }
#else
    /// Calls back when the kernel says that routes, addresses or links have changed, through a routing socket
    /// (`man 7 rtnetlink`).
    private final class RouteWatch: Sendable {
        /// Where it calls back.
        let queue = DispatchQueue(label: "switchyard.reachability")
        private let source = Locked<(any DispatchSourceRead)?>(nil)

        init(onChange: @escaping @Sendable () -> Void) {
            guard let socket = Self.openSocket() else { return }
            let source = DispatchSource.makeReadSource(fileDescriptor: socket, queue: queue)
            source.setEventHandler {
                var buffer = [UInt8](repeating: 0, count: 8_192)
                while read(socket, &buffer, buffer.count) > 0 {}
                onChange()
            }
            source.setCancelHandler { close(socket) }
            source.activate()
            self.source.withLock { $0 = source }
        }

        deinit {
            source.withLock { $0?.cancel() }
        }

        /// A socket that hears of links (group 1), IPv4 addresses and routes (5, 7) and those of IPv6 (9, 11).
        private static func openSocket() -> Int32? {
            let netlinkFamily: UInt16 = 16
            let rawKind = Int32(3) | 0o2000000 | 0o4000  // SOCK_RAW, SOCK_CLOEXEC, SOCK_NONBLOCK
            let descriptor = socket(Int32(netlinkFamily), rawKind, 0)
            guard descriptor >= 0 else { return nil }
            // struct sockaddr_nl: family, padding, port (chosen by the kernel), groups.
            var address = [UInt32](repeating: 0, count: 3)
            address[0] = UInt32(netlinkFamily).littleEndian
            address[2] = [1, 5, 7, 9, 11].reduce(0) { $0 | 1 << ($1 - 1) }
            let result = address.withUnsafeBytes { bytes in
                bytes.baseAddress.map {
                    bind(descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
                } ?? -1
            }
            guard result == 0 else {
                close(descriptor)
                return nil
            }
            return descriptor
        }
    }
#endif
