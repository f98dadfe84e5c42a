public import SwitchyardClient
import SwitchyardServices

/// A module of the app's API: describes calls, and hands the screen values or errors that can be shown.
///
///     final class TopicAPI: APIManager {
///         let client: NetworkClient
///         private let pages = PageRecorder<Topic>(pageSize: 20)
///
///         init(client: NetworkClient) {
///             self.client = client.scoped()
///         }
///
///         func refreshTopics() async throws(APIError) -> [Topic] {
///             try await pages.refresh { page in
///                 try await self.value(for: .topics(page: page.number, size: page.size))
///             }
///         }
///     }
///
/// A manager takes a scope of the client (`client.scoped()`): then its ``cancelAll()`` ends its own requests only, and
/// they end when the manager goes. Managers of one client share its cache.
public protocol APIManager: AnyObject, Sendable {
    /// The client through which the module sends, best a scope of its own.
    var client: NetworkClient { get }

    /// What the module's answers have in common; ``APIModule/standard`` unless declared. Keep it, do not make it anew.
    var module: APIModule { get }

    /// The user whose answers are stored, so that no other is shown them; the client's (``NetworkClient/Options/user``) unless
    /// declared, nobody in particular where that names none.
    var cacheUser: String? { get }
}

extension APIManager {
    /// A module without frame and without codes of its own.
    public var module: APIModule { .standard }

    /// The user whom the client's options name.
    public var cacheUser: String? { client.user(in: client.environment) }

    /// The stored answers of the client's service.
    public var cache: ResponseCache { client.responseCache }

    /// Tells the user of each moment, without keeping the manager; once that is gone the one that is given.
    func presentUser(orLast user: String?) -> @Sendable () -> String? {
        { [weak self] in
            guard let self else { return user }
            return cacheUser
        }
    }
}

// MARK: - Cancelling

extension APIManager {
    /// Cancels a call that was made with a completion handler; one that has ended is left alone.
    public func cancel(_ id: RequestID) {
        cancel(CollectionOfOne(id))
    }

    /// Cancels several calls that were made with completion handlers.
    public func cancel(_ ids: some Sequence<RequestID>) {
        client.companions.existing(CallTable.self)?.cancel(ids)
    }

    /// Cancels all calls of the manager: those of its client, as far as it has taken a scope of its own.
    public func cancelAll() {
        if let calls = client.companions.existing(CallTable.self) { calls.cancel(calls.active) }
        client.cancelAll()
    }

    /// The calls under way, oldest first; of those that are awaited, the ones that wait for a server.
    public var activeRequests: [RequestID] {
        let calls = client.companions.existing(CallTable.self)?.active ?? []
        return Set(calls).union(client.activeRequests).sorted()
    }

    /// Whether a call is under way.
    public var isLoading: Bool { !activeRequests.isEmpty }
}

// MARK: - Cache

extension NetworkClient {
    /// The cache that all managers of the client share, with its scopes.
    ///
    /// It is made when it is first needed, with the standard limits; put another in its place before the first call.
    public var responseCache: ResponseCache {
        get {
            sharedCompanions.companion {
                removesAnswersOfUsersGone()
                return ResponseCache(time: time)
            }
        }
        set {
            removesAnswersOfUsersGone()
            sharedCompanions.replace(newValue)
        }
    }

    /// From now on what is stored under no user's name goes when another user comes.
    private func removesAnswersOfUsersGone() {
        _ = sharedCompanions.companion {
            StorageWatch(
                whenUserChanges { [service = place.service, weak companions = sharedCompanions] environment in
                    let partition = CachePartition(service: service, environment: environment.rawValue)
                    companions?.existing(ResponseCache.self)?.removeUnnamed(in: partition)
                }
            )
        }
    }

    /// The cache, if there is one already.
    var existingResponseCache: ResponseCache? {
        sharedCompanions.existing(ResponseCache.self)
    }

    /// The fetches that several calls wait for.
    var flights: SingleFlightTable {
        sharedCompanions.companion { SingleFlightTable() }
    }
}

/// Keeps the watch over the users of a client's stored answers for as long as the client lives.
private final class StorageWatch: Sendable {
    private let watch: UserWatch?

    init(_ watch: UserWatch?) {
        self.watch = watch
    }
}
