public import SwitchyardClient

/// The result of loading one page: the items, and the response's facts about the rest of the list.
///
/// A plain array is a page without such facts.
public struct Page<Item> {
    /// The items, in the order of the list.
    public var items: [Item]
    /// How many more came that could not be read; 0 unless set.
    ///
    /// They are in no list, but they are part of the page: they count for where the next one starts and whether there
    /// is one.
    public var brokenItems = 0
    /// The number of items of the whole list; `nil` if the response does not report it.
    public var total: Int?
    /// Whether there is a page after this one; `nil` if the response does not report it.
    public var hasMore: Bool?
    /// The cursor of the next page; `nil` or empty at the end of a list of cursors.
    public var nextCursor: String?
    /// The URL of the next page, absolute or relative to that of this one; `nil` at the end of a list of links.
    public var nextLink: String?
    /// The URL of the page, with which ``nextLink`` is resolved and compared; if `nil`, the link that led to the page.
    public var url: String?
    /// The result of ``relative(to:)`` for the next link; it does not apply if ``nextLink`` has changed since.
    private var sharedPath: String?

    /// Creates a page.
    public init(
        _ items: [Item],
        total: Int? = nil,
        hasMore: Bool? = nil,
        nextCursor: String? = nil,
        nextLink: String? = nil
    ) {
        self.items = items
        self.total = total.map { max(0, $0) }
        self.hasMore = hasMore
        self.nextCursor = nextCursor
        self.nextLink = nextLink
    }

    /// Creates a page whose next page is named by the header field `Link` (RFC 8288).
    ///
    /// - Parameters:
    ///   - items: The items.
    ///   - linkHeader: The lines of the field; links whose anchor is another resource are ignored.
    ///   - url: The URL of this page, against which the target is resolved.
    public init(_ items: [Item], linkHeader: [String], url: String) {
        let next = WebLink.parse(linkHeader).first { $0.relations.contains("next") && $0.starts(at: url) }
        self.init(items, nextLink: next?.resolved(against: url))
        self.url = url
    }

    /// Returns the page with its next link as a path below the base URLs of a client's servers, so that the load of the
    /// next page fails over like every call.
    ///
    /// A link that leads elsewhere is unchanged. So is a link of a client that changes paths in other ways than
    /// appending them to the base URL.
    public func relative(to client: NetworkClient) -> Page {
        guard let next = nextLink, let path = client.path(of: url.flatMap { WebLink.absolute(next, at: $0) } ?? next)
        else { return self }
        var page = self
        (page.nextLink, page.sharedPath, page.url) = (path, path, nil)
        return page
    }

    /// Whether the next link is a path below the base URLs and is used unchanged.
    var namesPath: Bool { nextLink != nil && nextLink == sharedPath }

    /// The number of items that arrived, including unreadable ones.
    var arrivedItems: Int { items.count + min(max(0, brokenItems), .max - items.count) }
}

/// The result type of a load: a ``Page``, an array of items, or a custom type that contains its page.
public protocol PageContent<Item> {
    /// The type of the items.
    associatedtype Item

    /// The page.
    var page: Page<Item> { get }
}

extension Page: Sendable where Item: Sendable {}

extension Page: PageContent {
    /// The page itself.
    public var page: Page<Item> { self }
}

extension Array: PageContent {
    /// The items, of which nothing else is known.
    public var page: Page<Element> { Page(self) }
}
