public import Foundation
public import SwitchyardHTTP
import SwitchyardServices

/// A transport that checks the public keys of hosts against pins, with a rule for each group of hosts.
///
/// A pinned transport forwards requests to several underlying transports, one for each set of pins, because an
/// underlying transport supports only one set. It works on every system whose transport supports pins. On other
/// systems, its initializer throws.
///
/// ### Use
///
///     let rules = [try PinRule(hosts: "**.example.com", pins: [current, next])]
///     let transport = try PinnedTransport(rules: rules) { pins throws(TransportError) in
///         try Transports.systemDefault(tls: TLSConfiguration(pins: pins))
///     }
///
/// The pins also apply to a request with a TLS configuration of its own, unless that configuration has pins.
///
/// A request to a pinned host must use https. If a host does not match its pins under `PinRule.Mode.reportOnly`, a
/// second connection is opened without the pins. Nothing of the request is sent before the second connection.
public final class PinnedTransport: Transport {
    /// A host that matched none of its pins but still received the request, because its rule only reports.
    public struct Mismatch: Sendable, Hashable {
        /// The host.
        public var host: String
        /// The rule that was violated.
        public var rule: PinRule
    }

    /// The treatment of hosts without a rule.
    public enum OtherHosts: Sendable, Hashable {
        /// Requests are sent with the usual certificate checks. This is the default.
        case allowed
        /// Requests to hosts without a rule fail.
        case refused
    }

    private struct Site: Sendable {
        let rule: PinRule
        let strict: any Transport
    }

    private let sites: [Site]
    private let plain: any Transport
    private let otherHosts: OtherHosts
    private let clock: @Sendable () -> Date
    private let report: @Sendable (Mismatch) -> Void

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - rules: The rules. If several rules match a host, the first of these rules applies.
    ///   - otherHosts: The treatment of hosts without a rule, by default ``OtherHosts/allowed``.
    ///   - clock: The clock that determines when rules expire, by default the system's clock.
    ///   - report: A closure that receives mismatches under ``/SwitchyardHTTP/PinRule/Mode/reportOnly``, on a thread of
    ///     the transport.
    ///   - make: A closure that creates a transport for a set of pins; called once for every rule, and once without
    ///     pins.
    /// - Throws: `PinRule.Problem.transport()` if a transport cannot be created, for example because it does not
    ///   support pins.
    public init(
        rules: [PinRule],
        otherHosts: OtherHosts = .allowed,
        clock: @escaping @Sendable () -> Date = { Date() },
        report: @escaping @Sendable (Mismatch) -> Void = { _ in },
        make: (Set<TLSPin>) throws(TransportError) -> any Transport
    ) throws(PinRule.Problem) {
        do throws(TransportError) {
            var sites: [Site] = []
            for rule in rules { sites.append(Site(rule: rule, strict: try make(rule.pins))) }
            self.sites = sites
            plain = try make([])
        } catch {
            throw .transport(error)
        }
        self.otherHosts = otherHosts
        self.clock = clock
        self.report = report
    }

    /// Starts an exchange with the pins of its host.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - progress: A closure that receives the number of bytes sent and received.
    ///   - completion: A closure that is called once.
    /// - Returns: A handle that cancels the exchange.
    public func start(
        _ request: HTTPRequest,
        progress: TransferProgressHandler?,
        completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
    ) -> any TransportTask {
        let origin = request.url.origin
        guard let site = sites.first(where: { $0.rule.hosts.matches(origin.host) }) else {
            guard otherHosts == .allowed else {
                return refuse(
                    "the host \(origin.host) matches no pin rule: must match one, because other hosts are refused",
                    completion
                )
            }
            return plain.start(request, progress: progress, completion: completion)
        }
        guard site.rule.isValid(at: clock()) else {
            return plain.start(request, progress: progress, completion: completion)
        }
        guard origin.scheme == "https" else {
            return refuse("the host \(origin.host) is pinned: must be requested over https", completion)
        }
        let pinned = request.pinned(to: site.rule)
        guard site.rule.mode == .reportOnly else {
            return site.strict.start(pinned, progress: progress, completion: completion)
        }
        let relay = PinnedTask()
        let first = site.strict.start(pinned, progress: progress) { [plain, report] result in
            guard case .failure(let error) = result, error.kind == .certificateRejected, !relay.isCancelled else {
                return completion(result)
            }
            // If the server fails the usual certificate checks too, this second exchange also fails. If it succeeds,
            // only the pins did not match.
            relay.hold(
                plain.start(request, progress: progress) { result in
                    if case .success = result { report(Mismatch(host: origin.host, rule: site.rule)) }
                    completion(result)
                }
            )
        }
        relay.hold(first, isFirst: true)
        return relay
    }

    private func refuse(
        _ message: String,
        _ completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
    ) -> any TransportTask {
        let error = TransportError(.certificateRejected, message: message, mayHaveBeenSent: false)
        return RefusedExchange(error, completion: completion)
    }

    /// Makes all underlying transports use new connections.
    public func retireConnections() {
        for site in sites { site.strict.retireConnections() }
        plain.retireConnections()
    }

    /// Shuts all underlying transports down.
    public func shutdown() {
        for site in sites { site.strict.shutdown() }
        plain.shutdown()
    }
}

extension HTTPRequest {
    /// Returns the request.
    ///
    /// If the request has a TLS configuration of its own without pins, the rule's pins are added.
    fileprivate func pinned(to rule: PinRule) -> HTTPRequest {
        guard var tls, tls.pins.isEmpty else { return self }
        tls.pins = rule.pins
        var request = self
        request.tls = tls
        return request
    }
}

/// The handle of a request under a rule that only reports.
///
/// The handle cancels the exchange that is active: the first, or the second without pins.
private final class PinnedTask: TransportTask {
    private struct State {
        var task: (any TransportTask)?
        var hasSecond = false
        var isCancelled = false
    }

    private let state = Locked(State())

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Stores the active exchange.
    ///
    /// If the second exchange has already started, the first exchange is ignored.
    func hold(_ task: any TransportTask, isFirst: Bool = false) {
        let cancelsNow = state.withLock { state in
            guard !(isFirst && state.hasSecond) else { return false }
            state.hasSecond = state.hasSecond || !isFirst
            state.task = task
            return state.isCancelled
        }
        if cancelsNow { task.cancel() }
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }
}

extension PinnedTransport {
    /// Throws if a pinned host of a service is not requested over https, before anything is sent.
    ///
    /// - Parameter urls: The base URLs.
    /// - Throws: ``/SwitchyardHTTP/PinRule/Problem/insecureBase(_:)``.
    package func check(_ urls: [RequestURL]) throws(PinRule.Problem) {
        for url in urls where !url.isSecure && sites.contains(where: { $0.rule.hosts.matches(url.origin.host) }) {
            throw .insecureBase(url.text)
        }
    }
}
