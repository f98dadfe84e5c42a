public import Foundation
public import SwitchyardHTTP
import SwitchyardServices

/// A transport that checks the pins of certain hosts, with a rule for each.
///
/// It stands in front of transports of the same kind, one for each set of pins, since what carries bytes knows one set
/// at most. It works on every system whose transport can pin at all; where one cannot, it is not made.
///
/// ### Use
///
///     let rules = [try PinRule(hosts: "**.example.com", pins: [current, next])]
///     let transport = try PinnedTransport(rules: rules) { pins throws(TransportError) in
///         try Transports.systemDefault(tls: TLSConfiguration(pins: pins))
///     }
///
/// The pins also hold for a request with a TLS configuration of its own, unless that has pins.
///
/// A pinned host is asked over https only. After a mismatch under `PinRule.Mode.reportOnly` the connection is made
/// again without the pins; nothing of the request had been sent by then.
public final class PinnedTransport: Transport {
    /// A host that had none of its pins, and was asked all the same.
    public struct Mismatch: Sendable, Hashable {
        /// The host.
        public var host: String
        /// The rule that it broke.
        public var rule: PinRule
    }

    /// What happens to hosts that no rule names.
    public enum OtherHosts: Sendable, Hashable {
        /// They are asked, with the usual checks; the default.
        case allowed
        /// They are refused.
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
    ///   - rules: The rules; of several for one host the first counts.
    ///   - otherHosts: What happens to hosts that no rule names; they are asked unless told otherwise.
    ///   - clock: The time of day, by which rules end; the system's unless given.
    ///   - report: Told of mismatches under ``/SwitchyardHTTP/PinRule/Mode/reportOnly``, on a thread of the transport.
    ///   - make: Makes a transport for a set of pins; called once for every rule, and once without pins.
    /// - Throws: `PinRuleError.transport()` when a transport cannot be made, because it cannot pin for instance.
    public init(
        rules: [PinRule],
        otherHosts: OtherHosts = .allowed,
        clock: @escaping @Sendable () -> Date = { Date() },
        report: @escaping @Sendable (Mismatch) -> Void = { _ in },
        make: (Set<TLSPin>) throws(TransportError) -> any Transport
    ) throws(PinRuleError) {
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
    ///   - request: What to send.
    ///   - progress: Told about bytes.
    ///   - completion: Called once.
    /// - Returns: A handle that cancels the exchange.
    public func start(
        _ request: HTTPRequest,
        progress: TransferProgressHandler?,
        completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
    ) -> any TransportTask {
        let origin = request.url.origin
        guard let site = sites.first(where: { $0.rule.hosts.matches(origin.host) }) else {
            guard otherHosts == .allowed else { return refuse("no pin rule names \(origin.host)", completion) }
            return plain.start(request, progress: progress, completion: completion)
        }
        guard site.rule.isValid(at: clock()) else {
            return plain.start(request, progress: progress, completion: completion)
        }
        guard origin.scheme == "https" else {
            return refuse("\(origin.host) is pinned and asked over https only", completion)
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
            // What the usual checks refuse is refused again; what passes them now had only the wrong pin.
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

    /// Has all the transports behind it go on with new connections.
    public func retireConnections() {
        for site in sites { site.strict.retireConnections() }
        plain.retireConnections()
    }

    /// Ends all the transports behind it.
    public func shutdown() {
        for site in sites { site.strict.shutdown() }
        plain.shutdown()
    }
}

extension HTTPRequest {
    /// The request with a rule's pins in its own TLS configuration, where it has one without pins.
    fileprivate func pinned(to rule: PinRule) -> HTTPRequest {
        guard var tls, tls.pins.isEmpty else { return self }
        tls.pins = rule.pins
        var request = self
        request.tls = tls
        return request
    }
}

/// Cancels whichever of the two exchanges is under way.
private final class PinnedTask: TransportTask {
    private struct State {
        var task: (any TransportTask)?
        var hasSecond = false
        var isCancelled = false
    }

    private let state = Locked(State())

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Keeps an exchange; the first comes late when the second has begun already.
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
    /// Refuses a service whose pinned hosts are not asked over https, before anything is sent.
    ///
    /// - Parameter urls: The base URLs.
    /// - Throws: ``/SwitchyardHTTP/PinRuleError/insecureBase(_:)``.
    public func check(_ urls: [RequestURL]) throws(PinRuleError) {
        for url in urls where !url.isSecure && sites.contains(where: { $0.rule.hosts.matches(url.origin.host) }) {
            throw .insecureBase(url.text)
        }
    }
}
