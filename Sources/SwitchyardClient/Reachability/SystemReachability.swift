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

/// The reachability of the network according to the operating system.
///
/// On Apple systems the status comes from `NWPathMonitor`. On Linux it comes from the routing tables: the network is
/// reachable if there is a default route over IPv4 or IPv6. The kernel reports changes of routes, addresses and links,
/// so nothing is polled. If neither source is available, the status is unknown, which counts as reachable.
///
/// On watchOS the status is unknown for most apps, and never unreachable. The system reveals the network only to some
/// apps, such as those that stream audio or have a call. It reports to all other apps that there is no network, even
/// while their requests succeed (Apple, TN3135). The simulator reveals the network to all apps.
///
/// A server on this machine or in an isolated network can be reached without a default route. To observe such a server,
/// use ``init(host:)``, which checks one host in place of the network as a whole.
public final class SystemReachability: ReachabilityProvider {
    /// A shared instance, which starts observing when it is first used.
    public static let shared = SystemReachability()

    private let board = ReachabilityBroadcaster()
    private let watch: any Sendable

    /// Starts observing the network, until the object is released.
    public init() {
        let board = board
        #if canImport(Network)
            watch = PathMonitor { [weak board] in board?.status = $0 }
        #else
            let watch = RouteMonitor { [weak board] in board?.status = RoutingTable.systemStatus }
            // The status is read after observing has begun, so that no change is missed. It is read on the observer's
            // queue, so that an older status does not overwrite a newer status.
            watch.queue.sync { board.status = RoutingTable.systemStatus }
            self.watch = watch
        #endif
    }

    /// Starts observing the route to one host, until the object is released.
    ///
    /// The host is reachable if the system has a route to one of its addresses. Nothing is sent to the host. The name
    /// is resolved off the caller's thread, at the start and whenever the network changes. Until it is resolved, the
    /// status is unknown. If the name cannot be resolved, the status is also unknown, unless there is no network at
    /// all, which makes the host unreachable. On watchOS, where routes cannot be looked up, the status of the network
    /// as a whole is used.
    ///
    /// - Parameter host: A name or an address without a port. An IPv6 address has no brackets.
    public init(host: String) {
        let board = board
        let learn: @Sendable (ReachabilityStatus) -> Void = { [weak board] network in
            #if os(watchOS)
                // On watchOS, sockets work "under no circumstances" (Apple, TN3135), so a socket would report that
                // there is no route.
                board?.status = network
            #else
                board?.status = HostRoute.status(HostRoute.findings(of: host), network: network)
            #endif
        }
        #if canImport(Network)
            watch = PathMonitor(learn)
        #else
            let watch = RouteMonitor { learn(RoutingTable.systemStatus) }
            watch.queue.async { learn(RoutingTable.systemStatus) }
            self.watch = watch
        #endif
    }

    /// The current status.
    public var status: ReachabilityStatus { board.status }

    /// Returns a stream of the current status and every later change.
    public func updates() -> AsyncStream<ReachabilityStatus> { board.updates() }
}

/// The properties of an `NWPath` that determine the status.
struct PathReport: Sendable {
    var isUnsatisfied = false
    var isCellular = false
    var isLocal = false

    /// Returns the status for the path.
    ///
    /// - Parameter isProof: Whether an unsatisfied path proves that there is no network, which is not the case on
    ///   watchOS.
    /// - Returns: The status.
    func status(isProof: Bool) -> ReachabilityStatus {
        guard !isUnsatisfied else { return isProof ? .notReachable : .unknown }
        if isCellular { return .reachable(.cellular) }
        return .reachable(isLocal ? .local : .other)
    }
}

#if canImport(Network)
    /// An observer of the network path.
    ///
    /// The observer calls back with the current path and with every change.
    private final class PathMonitor: Sendable {
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
    /// An observer of the kernel's routing socket (rtnetlink(7)), which calls back when routes, addresses or links have
    /// changed.
    private final class RouteMonitor: Sendable {
        /// The queue on which the observer calls back.
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

        /// Opens a socket that receives changes of links (group 1), of IPv4 addresses and routes (groups 5 and 7), and
        /// of IPv6 addresses and routes (groups 9 and 11).
        private static func openSocket() -> Int32? {
            let netlinkFamily: UInt16 = 16
            let rawKind = Int32(3) | 0o2000000 | 0o4000  // SOCK_RAW, SOCK_CLOEXEC, SOCK_NONBLOCK
            let descriptor = socket(Int32(netlinkFamily), rawKind, 0)
            guard descriptor >= 0 else { return nil }
            // `struct sockaddr_nl`: family, padding, port (chosen by the kernel), groups.
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
