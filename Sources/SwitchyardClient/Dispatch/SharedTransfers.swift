import SwitchyardServices
import SwitchyardTransport

/// The transfers that coalesced requests share, by their names.
///
/// A request looks for a transfer and starts one under a single lock. A name therefore never has two transfers, and no
/// request joins a transfer that has ended.
final class SharedTransfers: Sendable {
    private struct Name: Hashable {
        let name: String
        let usesCredentials: Bool
        /// Whether the requests belong to a credential refresh.
        ///
        /// Such requests share no transfer with requests that wait for the refresh.
        let isOfRefresh: Bool
        /// The user and environment of the requests.
        ///
        /// Requests of different users or environments do not share a transfer.
        let callOwner: CallOwner.Key?
        let credentialVersion: UInt64
        /// The number of write requests to the path so far.
        ///
        /// Requests before and after a write request do not share a transfer.
        let writes: UInt32?
        let cookieChanges: UInt64
        /// The servers of the requests.
        ///
        /// Requests of different environments do not share a transfer, and neither do requests from before and after a
        /// switch of the environment.
        let pool: ObjectIdentifier
    }

    /// The requests that share a transfer, and the request that sends it.
    private struct Group {
        let number: UInt64
        var requests: [RequestID: SharedRequest]
        var carrier: (any DispatchedRequest)?
    }

    private struct State {
        var transfers: [Name: Group] = [:]
        var last: UInt64 = 0
    }

    private let state = Locked(State())

    /// The number of active transfers.
    var count: Int { state.withLock { $0.transfers.count } }

    /// The number of requests that share the transfers.
    var requestCount: Int { state.withLock { $0.transfers.values.reduce(0) { $0 + $1.requests.count } } }

    /// Adds a request to the active transfer that has the same name as the request, or starts such a transfer.
    func join(_ request: SharedRequest) {
        let name = Self.name(of: request)
        let begun = state.withLock { state -> UInt64? in
            if state.transfers[name] != nil {
                state.transfers[name]?.requests[request.id] = request
                return nil
            }
            state.last += 1
            state.transfers[name] = Group(number: state.last, requests: [request.id: request])
            return state.last
        }
        if let begun { begin(begun, name, request) }
    }

    /// Removes a request from its transfer.
    ///
    /// If it was the last request, the transfer is cancelled for the given reason.
    func leave(_ request: SharedRequest, _ reason: RequestFailure.Reason) {
        let name = Self.name(of: request)
        let carrier = state.withLock { state -> (any DispatchedRequest)? in
            guard state.transfers[name]?.requests.removeValue(forKey: request.id) != nil,
                state.transfers[name]?.requests.isEmpty == true
            else { return nil }
            return state.transfers.removeValue(forKey: name)?.carrier
        }
        carrier?.cancel(reason)
    }

    private static func name(of request: SharedRequest) -> Name {
        Name(
            name: request.name,
            usesCredentials: request.sender.usesCredentials,
            isOfRefresh: request.isOfRefresh,
            callOwner: request.ownerKey,
            credentialVersion: request.credentialVersion,
            writes: request.writes,
            cookieChanges: request.cookieChanges,
            pool: ObjectIdentifier(request.pool)
        )
    }

    private func begin(_ number: UInt64, _ name: Name, _ first: SharedRequest) {
        var configuration = first.configuration
        configuration.sharing = .off
        // The timeout is a year, because each request has its own deadline and the transfer ends with its last request.
        configuration.timeout = .seconds(31_536_000)
        let carrier = first.core.makeRequest(
            configuration,
            id: RequestID(),
            sender: ClientCore.Sender(
                owner: ClientCore.ownerOfShared,
                usesCredentials: first.sender.usesCredentials,
                pool: first.pool,
                callersDeadline: { [weak self] in self?.lastDeadline(name, number) ?? .zero }
            ),
            progress: { [weak self] progress in self?.report(progress, name, number) },
            completion: { [weak self] result in self?.landed(result, name, number) }
        )
        let isWanted = state.withLock { state in
            guard state.transfers[name]?.number == number else { return false }
            state.transfers[name]?.carrier = carrier
            return true
        }
        if isWanted { first.core.dispatch(carrier, continues: true) }
    }

    /// Returns the latest deadline of the requests that share a transfer.
    private func lastDeadline(_ name: Name, _ number: UInt64) -> MonotonicTime {
        state.withLock { state in
            guard let transfer = state.transfers[name], transfer.number == number else { return .zero }
            return transfer.requests.values.lazy.map(\.deadline).max() ?? .zero
        }
    }

    private func report(_ progress: TransferProgress, _ name: Name, _ number: UInt64) {
        let requests = state.withLock { state in
            state.transfers[name].flatMap { $0.number == number ? Array($0.requests.values) : nil } ?? []
        }
        for request in requests { request.progress?(progress) }
    }

    private func landed(_ result: Result<ServiceResponse, RequestFailure>, _ name: Name, _ number: UInt64) {
        let group = state.withLock { state -> Group? in
            guard state.transfers[name]?.number == number else { return nil }
            return state.transfers.removeValue(forKey: name)
        }
        guard let group else { return }
        let owner = group.carrier?.configuration.callOwner
        for request in group.requests.values {
            if let owner { request.callOwner?.adopt(owner) }
            request.landed(result)
        }
    }
}

extension ClientCore {
    /// The transfers that coalesced requests share, created on first use.
    var sharedTransfers: SharedTransfers {
        objects.object { SharedTransfers() }
    }
}
