public import SwitchyardClient

/// The result of loading one page: the items, and what the response reports about the rest of the list.
///
/// A plain array can be used as a page about which nothing else is known.
public struct Page<Item> {
    /// The items, in the order of the list.
    public var items: [Item]
    /// The number of further items in the response that could not be decoded, 0 by default.
    ///
    /// These items are not in the list, but they count when the position of the next page and the end of the list are
    /// determined.
    public var brokenItems = 0
    /// The number of items of the whole list, or `nil` if the response does not report it.
    public var total: Int?
    /// Whether there is a page after this page, or `nil` if the response does not report it.
    public var hasMore: Bool?
    /// The cursor of the next page.
    ///
    /// With ``PageStrategy/cursor``, the list ends if the cursor is `nil` or empty.
    public var nextCursor: String?
    /// The URL of the next page, absolute or relative to the URL of this page.
    ///
    /// With ``PageStrategy/link``, the list ends if the link is `nil`.
    public var nextLink: String?
    /// The URL of this page, against which ``nextLink`` is resolved and compared.
    ///
    /// If the value is `nil`, the link that led to this page is used.
    public var url: String?
    /// The path to which ``relative(to:)`` converted the next link.
    ///
    /// The path is ignored if ``nextLink`` has changed in the meantime.
    private var sharedPath: String?

    /// Creates a page.
    ///
    /// By default, only its items are known.
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

    /// Creates a page whose next page is in the `Link` header field (RFC 8288).
    ///
    /// - Parameters:
    ///   - items: The items.
    ///   - linkHeader: The lines of the field. Links whose anchor is another resource are ignored.
    ///   - url: The URL of this page, against which the target of the link is resolved.
    public init(_ items: [Item], linkHeader: [String], url: String) {
        let next = WebLink.parse(linkHeader).first { $0.relations.contains("next") && $0.starts(at: url) }
        self.init(items, nextLink: next?.resolved(against: url))
        self.url = url
    }

    /// Returns the page with its next link converted to a path below the base URLs of a client's servers.
    ///
    /// The load of the next page can then fail over to another server like every other call. A link to another service
    /// is left unchanged. A link is also left unchanged if the client changes paths in other ways than appending them
    /// to the base URL.
    public func relative(to client: NetworkClient) -> Page {
        guard let next = nextLink, let path = client.path(of: url.flatMap { WebLink.absolute(next, at: $0) } ?? next)
        else { return self }
        var page = self
        (page.nextLink, page.sharedPath, page.url) = (path, path, nil)
        return page
    }

    /// Whether ``relative(to:)`` has converted the next link to a path below the base URLs.
    var namesPath: Bool { nextLink != nil && nextLink == sharedPath }

    /// The number of items that arrived, including those that could not be decoded.
    var arrivedItems: Int { items.count + min(max(0, brokenItems), .max - items.count) }
}

/// The result type of a load: a ``Page``, an array of items, or a custom type that contains its page.
public protocol PageContent<Item> {
    /// The type of the items.
    associatedtype Item

    /// The page in this value.
    var page: Page<Item> { get }
}

extension Page: Sendable where Item: Sendable {}

extension Page: PageContent {
    /// The page itself.
    public var page: Page<Item> { self }
}

extension Array: PageContent {
    /// A page with the elements as its items, about which nothing else is known.
    public var page: Page<Element> { Page(self) }
}
