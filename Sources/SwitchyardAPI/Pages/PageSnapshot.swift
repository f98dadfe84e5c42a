public import Foundation

/// The state of a paged list at one moment, with everything that a screen needs to draw it.
public struct PageSnapshot<Item: Sendable>: Sendable {
    /// The load in flight.
    public enum Activity: Sendable, Hashable {
        /// Nothing.
        case idle
        /// The list is being refreshed.
        case refreshing
        /// The next page is being loaded.
        case loadingMore
    }

    /// The items loaded so far.
    public var items: [Item]
    /// The load in flight.
    public var activity: Activity
    /// Whether there is, or may be, a further page.
    public var hasMore: Bool
    /// How many pages come before the next one; the number of the last page loaded when counted from 1.
    public var pagesLoaded: Int
    /// The number of items of the whole list; `nil` if the server does not report it.
    public var total: Int?
    /// The number of pages of the whole list; `nil` if the server does not report it.
    public var pageCount: Int?
    /// Why the last load failed; `nil` after a success.
    public var lastError: APIError?
    /// When the last page came, by the wall clock; `nil` before the first.
    public var lastLoaded: Date?

    /// Creates a snapshot, for a preview of a view; the defaults are those of a list that was never loaded.
    public init(
        items: [Item] = [],
        activity: Activity = .idle,
        hasMore: Bool = true,
        pagesLoaded: Int = 0,
        total: Int? = nil,
        pageCount: Int? = nil,
        lastError: APIError? = nil,
        lastLoaded: Date? = nil
    ) {
        self.items = items
        self.activity = activity
        self.hasMore = hasMore
        self.pagesLoaded = pagesLoaded
        self.total = total
        self.pageCount = pageCount
        self.lastError = lastError
        self.lastLoaded = lastLoaded
    }
}
