public import Foundation

/// The state of a paged list at one moment, with everything that a screen needs to display it.
public struct PageSnapshot<Item: Sendable>: Sendable {
    /// The kind of load in flight.
    public enum Activity: Sendable, Hashable {
        /// No load is in flight.
        case idle
        /// The list is being refreshed.
        case refreshing
        /// The next page is being loaded.
        case loadingMore
    }

    /// The items loaded so far.
    public var items: [Item]
    /// The kind of load in flight.
    public var activity: Activity
    /// Whether there is or may be a further page.
    public var hasMore: Bool
    /// The number of pages before the next page.
    ///
    /// If pages are counted from 1, it is the number of the last loaded page.
    public var pagesLoaded: Int
    /// The number of items of the whole list, or `nil` if the server does not report it.
    public var total: Int?
    /// The number of pages of the whole list, or `nil` if the server does not report it.
    public var pageCount: Int?
    /// The error of the last load, or `nil` if it succeeded.
    public var lastError: APIError?
    /// The wall clock time at which the last page arrived, or `nil` before the first page.
    public var lastLoaded: Date?

    /// Creates a snapshot for the preview of a view.
    ///
    /// The default values describe a list that was never loaded.
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
